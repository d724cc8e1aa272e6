import { eventually } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { rejection, setUp } from '../../test/agent-harness.ts'
import type { AiAgentConfig } from '../config.ts'
import { MemoryCacheAdapter } from '../storage/memory-cache-adapter.ts'

/** The requests of a start, each with the error where it has no answer. */
const REQUESTS = [
  [/^GET .*deploymentInfo$/, 'ApiError', 'timeout', /^getDeploymentInfo failed/],
  [/^GET .*metadata/, 'AuthError', 'metadata_failed', /^The OAuth metadata of the deployment could not be loaded/],
  [/^POST .*token$/, 'AuthError', 'token_request_failed', /^Could not obtain the access token/],
  [/^GET .*details\/agent/, 'ApiError', 'timeout', /^getAgentDetails failed/],
  [/^POST .*session$/, 'ApiError', 'timeout', /^getAiAgentSession failed/],
] as const

type Intercept = (request: string, answer: () => Promise<Response>) => Promise<Response> | undefined

/** Agents that share stores, and a service whose answers can be held back. */
function setUpHanging(agents: number, config: Partial<AiAgentConfig> = {}) {
  const { clock, emulator, make } = setUp()
  const memory = new MemoryCacheAdapter()
  /** The signals of the intercepted requests. */
  const hanging: AbortSignal[] = []
  let intercept: Intercept | undefined
  const sent: string[] = []
  const fetch: typeof emulator.fetch = async (input, init) => {
    const request = `${init?.method ?? 'GET'} ${new URL(String(input)).pathname}`
    sent.push(request)
    const answer = () => emulator.fetch(input, init)
    const intercepted = intercept?.(request, answer)
    if (!intercepted) return answer()
    if (init?.signal) hanging.push(init.signal)
    return intercepted
  }
  const all = Array.from({ length: agents }, () => make(config, { fetch, memory }).agent)
  const setIntercept = (next?: Intercept) => {
    intercept = next
  }
  const issueToken = () => emulator.control.issueToken()
  return { clock, hanging, agents: all, sent, setIntercept, issueToken }
}

const never = () => new Promise<Response>(() => {})
const endless = async () => new Response(new ReadableStream({ start() {} }))

describe.each([1, 2])('with %i agents', count => {
  describe.each(REQUESTS)('a request %s without an answer', (route, name, reason, message) => {
    it.each([
      ['no headers', never],
      ['no end of its body', endless],
    ])('[REST-09] fails initialize() after 30 seconds (%s), and is sent again by the next', async (_part, answer) => {
      const { clock, hanging, agents, sent, setIntercept } = setUpHanging(count)
      setIntercept(request => (route.test(request) ? answer() : undefined))
      let settled = 0
      const failures = agents.map(agent => rejection(agent.initialize().finally(() => settled++)))
      // Sessions belong to one agent each; the other requests are shared.
      const expected = route.test('POST /session') ? count : 1
      await eventually(() => hanging.length === expected, 'the requests')
      await clock.advance(29_999)
      expect(settled).toBe(0)
      await clock.advance(1)
      for (const error of await Promise.all(failures)) {
        expect(error).toMatchObject({ name, reason, message: expect.stringMatching(message) })
        expect(error.message).toContain('no complete response within 30 seconds')
      }
      expect(hanging.map(({ aborted }) => aborted)).toEqual(Array(expected).fill(true))
      const before = sent.length
      setIntercept()
      await Promise.all(agents.map(agent => agent.initialize()))
      expect(sent.slice(before).filter(request => route.test(request)).length).toBeGreaterThan(0)
      for (const agent of agents) await agent.destroy()
    })
  })
})

it.each([
  ['no headers', never],
  ['no end of its body', endless],
])(
  '[REST-09] client credentials fail initialize() after 30 seconds (%s), and are sent again by the next',
  async (_part, answer) => {
    const config = { tokenUrl: 'https://login.test/token', clientId: 'me', clientSecret: 'secret' }
    const { clock, hanging, agents, setIntercept, issueToken } = setUpHanging(1, {
      auth: { type: 'client-credentials', config },
    })
    setIntercept(request => (request === 'POST /token' ? answer() : undefined))
    const failures = agents.map(agent => rejection(agent.initialize()))
    await eventually(() => hanging.length === 1, 'the request for a token')
    await clock.advance(30_000)
    const [error] = await Promise.all(failures)
    expect(error).toMatchObject({
      reason: 'token_request_failed',
      message: expect.stringMatching(/^Could not obtain the access token: .* within 30 seconds/),
    })
    setIntercept(request =>
      request === 'POST /token' ? Promise.resolve(Response.json({ access_token: issueToken() })) : undefined,
    )
    await Promise.all(agents.map(agent => agent.initialize()))
    expect(hanging.map(({ aborted }) => aborted)).toEqual([true, false])
    for (const agent of agents) await agent.destroy()
  },
)

it('[REST-09] the time limit of a token holds for its two requests together', async () => {
  const { clock, hanging, agents, setIntercept } = setUpHanging(1)
  setIntercept((request, answer) => {
    if (/^POST/.test(request)) return never()
    if (!/metadata/.test(request)) return undefined
    return new Promise(resolve => clock.setTimeout(() => resolve(answer()), 20_000))
  })
  const failures = agents.map(agent => rejection(agent.initialize()))
  await eventually(() => hanging.length === 1, 'the request for the metadata')
  await clock.advance(20_000)
  await eventually(() => hanging.length === 2, 'the request for a token')
  await clock.advance(10_000)
  const [error] = await Promise.all(failures)
  expect(error).toMatchObject({
    reason: 'token_request_failed',
    message: expect.stringMatching(/^Could not obtain the access token: .* within 10 seconds/),
  })
})
