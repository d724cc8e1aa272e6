import { eventually, turnEventLoop } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { passing, rejection, setUp } from '../../test/agent-harness.ts'
import { pageWithWindow } from '../../test/fake-login-page.ts'
import { FakePage } from '../../test/fake-page.ts'
import { fakeToken } from '../../test/fake-service.ts'
import type { AiAgent } from '../ai-agent.ts'
import type { AiAgentConfig } from '../config.ts'
import type { Environment } from '../platform/environment.ts'
import { MemoryCacheAdapter } from '../storage/memory-cache-adapter.ts'

/** The requests of a start of the direct flow that it cannot do without, each with the error where it has no answer. */
const DIRECT = [
  [/^GET .*deploymentInfo$/, 'ApiError', 'timeout', /^getDeploymentInfo failed/],
  [/^GET .*metadata/, 'AuthError', 'metadata_failed', /^The OAuth metadata of the deployment could not be loaded/],
  [/^POST .*token$/, 'AuthError', 'token_request_failed', /^Could not obtain the access token/],
  [/^GET .*details\/agent/, 'ApiError', 'timeout', /^getAgentDetails failed/],
  [/^POST .*session$/, 'ApiError', 'timeout', /^getAiAgentSession failed/],
] as const

/** Those that the contact-center flow adds. */
const CONTACT_CENTER = [
  [/^GET .*\/myportals$/, 'PORTAL_FETCH_FAILED', /^Could not load the portals\. getMyPortals failed/],
  [
    /^GET .*\/internal\/portals\//,
    'PORTAL_DETAILS_FAILED',
    /^Could not load the portal details\. getPortalDetails failed/,
  ],
  [
    /^GET .*\/department\//,
    'NO_AGENTS_FOR_PORTAL',
    /^Could not load the agents of the portal\. getAgentsByPortal failed/,
  ],
  [/^GET .*\/userprofiles$/, 'PROFILE_FETCH_FAILED', /^Could not load the profiles\. getUserProfiles failed/],
] as const

type Intercept = (request: string, answer: () => Promise<Response>) => Promise<Response> | undefined

/** Agents that share stores, and a service whose answers can be held back. */
function setUpHanging(agents: number, config: Partial<AiAgentConfig> = {}, more: Partial<Environment> = {}) {
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
  const all = Array.from({ length: agents }, () => make(config, { fetch, memory, ...more }).agent)
  const setIntercept = (next?: Intercept) => {
    intercept = next
  }
  const issueToken = () => emulator.control.issueToken()
  return { clock, hanging, agents: all, sent, setIntercept, issueToken }
}

/** A page on which no window can be opened. */
const page = () => {
  const origin = 'http://emulator.test'
  return pageWithWindow({ location: { href: `${origin}/chat`, origin }, open: () => null })
}

/** A token of the staff of the contact center: the emulated services accept each other's. */
const staffToken = () => setUp().emulator.control.issueToken({ subject: 'desk-agent' })

/** An agent of the contact center for whose start nothing remains to be chosen. */
const desk = (): Partial<AiAgentConfig> => ({
  id: 'desk',
  auth: { type: 'pre-auth', accessToken: staffToken() },
  context: { vendor_portal_id: '1002' },
  initParams: { isDefaultAgent: 'true' },
})

/** The ways in which an answer can be missing. */
const WAYS = [
  ['no headers', () => new Promise<Response>(() => {})],
  ['no end of its body', async () => new Response(new ReadableStream({ start() {} }))],
] as const

/** Lets a request of a start hang, and then starts again. */
async function hangOnce(count: number, config: Partial<AiAgentConfig>, route: RegExp, answer: () => Promise<Response>) {
  const { clock, hanging, agents, sent, setIntercept } = setUpHanging(count, config)
  setIntercept(request => (route.test(request) ? answer() : undefined))
  let settled = 0
  const failures = agents.map(agent => rejection(agent.initialize().finally(() => settled++)))
  // What one agent opens or selects is its own; the other requests are shared.
  const expected = route.test('POST /session') || route.test('PUT /select') ? count : 1
  await eventually(() => hanging.length === expected, 'the requests')
  await clock.advance(29_999)
  expect(settled).toBe(0)
  await clock.advance(1)
  const errors = await Promise.all(failures)
  for (const error of errors) expect(error.message).toContain('no complete response within 30 seconds')
  expect(hanging.map(({ aborted }) => aborted)).toEqual(Array(expected).fill(true))
  const before = sent.length
  setIntercept()
  await Promise.all(agents.map(agent => agent.initialize()))
  expect(sent.slice(before).filter(request => route.test(request)).length).toBeGreaterThan(0)
  for (const agent of agents) await agent.destroy()
  return errors
}

describe.each([1, 2])('with %i agents', count => {
  describe.each(WAYS)('and %s', (_way, answer) => {
    it.each(DIRECT)(
      '[REST-09] a request %s fails initialize() after 30 seconds, and is sent again by the next',
      async (route, name, reason, message) => {
        for (const error of await hangOnce(count, {}, route, answer))
          expect(error).toMatchObject({ name, reason, message: expect.stringMatching(message) })
      },
    )

    it.each(DIRECT.filter(([, name]) => name === 'ApiError'))(
      '[REST-09] a request %s with a token of the host fails initialize() after 30 seconds, and is sent again by the next',
      async (route, name, reason, message) => {
        const config: Partial<AiAgentConfig> = {
          id: 'desk-orders',
          auth: { type: 'pre-auth', accessToken: staffToken() },
        }
        for (const error of await hangOnce(count, config, route, answer))
          expect(error).toMatchObject({ name, reason, message: expect.stringMatching(message) })
      },
    )

    it('[REST-09] a request for the portals of customers fails initialize() after 30 seconds, and is sent again by the next', async () => {
      for (const error of await hangOnce(count, { id: 'selfservice' }, /^GET .*\/portals$/, answer))
        expect(error).toMatchObject({
          code: 'PORTAL_FETCH_FAILED',
          message: expect.stringMatching(/^Could not load the portals\. getPortals failed/),
        })
    })

    it('[REST-09] a request for the addresses of the login fails initialize() after 30 seconds, and is sent again by the next', async () => {
      const { clock, hanging, agents, sent, setIntercept } = setUpHanging(count, { id: 'account' }, { page: page() })
      const isForLogin = (request: string) => /^GET .*metadata/.test(request) && sent.some(each => /^POST/.test(each))
      setIntercept(request => (isForLogin(request) ? answer() : undefined))
      const failures = agents.map(agent => rejection(agent.initialize()))
      await eventually(() => hanging.length > 0, 'the request')
      await clock.advance(30_000)
      for (const error of await Promise.all(failures))
        expect(error).toMatchObject({
          reason: 'metadata_failed',
          message: expect.stringMatching(
            /^The OAuth metadata of the deployment could not be loaded: .* within 30 seconds/,
          ),
        })
      const isAborted = hanging.map(({ aborted }) => aborted)
      expect(isAborted).toEqual(isAborted.map(() => true))
      setIntercept()
      const before = sent.length
      // The window of the login cannot be opened.
      for (const error of await Promise.all(agents.map(agent => rejection(agent.initialize()))))
        expect(error).toMatchObject({ name: 'AuthError' })
      expect(sent.slice(before).filter(request => /metadata/.test(request)).length).toBeGreaterThan(0)
      for (const agent of agents) await agent.destroy()
    })

    it('[REST-09] the details of the user delay initialize() by 30 seconds at most', async () => {
      const { clock, hanging, agents, setIntercept } = setUpHanging(count, {
        id: 'desk-orders',
        auth: { type: 'pre-auth', accessToken: staffToken() },
      })
      setIntercept(request => (/^GET .*\/portals\/user$/.test(request) ? answer() : undefined))
      let settled = 0
      const started = agents.map(agent => agent.initialize().finally(() => settled++))
      await eventually(() => hanging.length === count, 'the requests')
      await clock.advance(29_999)
      expect(settled).toBe(0)
      await clock.advance(1)
      await Promise.all(started)
      expect(hanging.map(({ aborted }) => aborted)).toEqual(Array(count).fill(true))
      for (const agent of agents) await agent.destroy()
    })

    it.each(CONTACT_CENTER)(
      '[REST-09] a request %s of the contact center fails initialize() after 30 seconds, and is sent again by the next',
      async (route, code, message) => {
        for (const error of await hangOnce(count, desk(), route, answer))
          expect(error).toMatchObject({ code, message: expect.stringMatching(message) })
      },
    )
    it('[REST-09] client credentials fail initialize() after 30 seconds, and are sent again by the next', async () => {
      const config = { tokenUrl: 'https://login.test/token', clientId: 'me', clientSecret: 'secret' }
      const { clock, hanging, agents, setIntercept, issueToken } = setUpHanging(count, {
        auth: { type: 'client-credentials', config },
      })
      setIntercept(request => (request === 'POST /token' ? answer() : undefined))
      const failures = agents.map(agent => rejection(agent.initialize()))
      await eventually(() => hanging.length === count, 'the requests for a token')
      await clock.advance(30_000)
      for (const error of await Promise.all(failures))
        expect(error).toMatchObject({
          reason: 'token_request_failed',
          message: expect.stringMatching(/^Could not obtain the access token: .* within 30 seconds/),
        })
      setIntercept(request =>
        request === 'POST /token' ? Promise.resolve(Response.json({ access_token: issueToken() })) : undefined,
      )
      await Promise.all(agents.map(agent => agent.initialize()))
      const isAborted = hanging.map(({ aborted }) => aborted)
      expect(isAborted).toEqual([...Array(count).fill(true), ...Array(count).fill(false)])
      for (const agent of agents) await agent.destroy()
    })
  })

  it('[REST-09] a function of the host for a token fails initialize() after 30 seconds, and is called again by the next', async () => {
    const calls: ((token: string) => void)[] = []
    const refreshTokenFn = () => new Promise<string>(resolve => calls.push(resolve))
    const { clock, agents, issueToken } = setUpHanging(count, {
      // Expired at the start.
      auth: { type: 'pre-auth', accessToken: fakeToken({ iat: 1, exp: 2 }), refreshTokenFn },
    })
    const failures = agents.map(agent => rejection(agent.initialize()))
    await eventually(() => calls.length === count, 'the calls')
    await clock.advance(30_000)
    for (const error of await Promise.all(failures))
      expect(error).toMatchObject({
        reason: 'token_request_failed',
        message: expect.stringMatching(/^getToken\(\) of the authentication strategy did not settle within 30 seconds/),
      })
    const started = agents.map(agent => agent.initialize())
    await eventually(() => calls.length === 2 * count, 'further calls')
    for (const answer of calls) answer(issueToken())
    await Promise.all(started)
    for (const agent of agents) await agent.destroy()
  })

  // The body of its response is not read.
  it('[REST-09] a selected profile without headers fails initialize() after 30 seconds, and is sent again by the next', async () => {
    const message = /^Could not store the profile at the service\. selectUserProfile failed/
    for (const error of await hangOnce(count, desk(), /^PUT .*\/select$/, WAYS[0][1]))
      expect(error).toMatchObject({ code: 'PROFILE_PERSIST_FAILED', message: expect.stringMatching(message) })
  })
})

it('[REST-09] the time limit of a token holds for its two requests together', async () => {
  const { clock, hanging, agents, setIntercept } = setUpHanging(1)
  setIntercept((request, answer) => {
    if (/^POST/.test(request)) return WAYS[0][1]()
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

describe('a connector script that never loads', () => {
  /** Agents of one page whose connector script the test runs. */
  function setUpConnector(count: number) {
    const fakePage = new FakePage()
    const globals: Record<string, unknown> = {}
    const connector = { baseUrls: { dev: 'https://desk.test' } }
    const config = { ...desk(), connector, initParams: { platform: 'acme', env: 'dev', isDefaultAgent: 'true' } }
    const parts = setUpHanging(count, config, { page: fakePage, globals })
    const scripts = async (added: number) => {
      await eventually(() => fakePage.scripts.length === added, `${added} scripts`)
      return fakePage.scripts
    }
    const runNewest = () => {
      globals['PlatformComponentService'] = { initPlatform() {} }
      fakePage.scripts.at(-1)?.run()
    }
    return { ...parts, scripts, runNewest }
  }

  it.each([1, 2])(
    '[REL-111] fails initialize() of %i agents after 15 seconds, and is loaded again by the next',
    async count => {
      const { clock, agents, scripts, runNewest } = setUpConnector(count)
      let settled = 0
      const failures = agents.map(agent => rejection(agent.initialize().finally(() => settled++)))
      const [script] = await scripts(1)
      await clock.advance(14_999)
      expect([settled, script?.removed]).toEqual([0, false])
      await clock.advance(1)
      for (const error of await Promise.all(failures))
        expect(error).toMatchObject({
          code: 'CONNECTOR_FAILED',
          message: expect.stringMatching(/^The connector script https:\/\/desk\.test\/.* takes more than 15 seconds/),
        })
      expect([script?.removed, ...agents.map(agent => agent.status.phase.at)]).toEqual([
        true,
        ...agents.map(() => 'idle'),
      ])
      const started = agents.map(agent => agent.initialize())
      await scripts(2)
      runNewest()
      await Promise.all(started)
      for (const agent of agents) await agent.destroy()
    },
  )

  it.each([
    ['logout()', ([agent]) => agent?.logout()],
    ['its signal', (_agents, cancel) => cancel()],
  ] as const satisfies [string, (agents: AiAgent[], cancel: () => void) => unknown][])(
    '[REL-111] ends with %s, and the next initialize() has its whole time',
    async (_name, end) => {
      const { clock, agents, scripts, runNewest } = setUpConnector(1)
      const controller = new AbortController()
      const failures = agents.map(agent => rejection(agent.initialize({ signal: controller.signal })))
      const [script] = await scripts(1)
      await clock.advance(14_000)
      await end(agents, () => controller.abort())
      for (const error of await Promise.all(failures)) expect(error).toMatchObject({ code: 'ABORTED' })
      expect(script?.removed).toBe(true)
      const started = agents.map(agent => agent.initialize())
      await scripts(2)
      await clock.advance(14_000)
      runNewest()
      await Promise.all(started)
      for (const agent of agents) await agent.destroy()
    },
  )

  it('[REL-111] ends with the last destroy() of the agents that wait for it', async () => {
    const { clock, agents, scripts, runNewest } = setUpConnector(3)
    const [first, second, third] = agents
    const failures = [first, second].map(agent => rejection(agent?.initialize() ?? Promise.resolve()))
    const [script] = await scripts(1)
    await first?.destroy()
    expect(script?.removed).toBe(false)
    await second?.destroy()
    for (const error of await Promise.all(failures)) expect(error).toMatchObject({ code: 'ABORTED' })
    expect([script?.removed, clock.pendingTimers]).toEqual([true, 0])
    const started = third?.initialize()
    await scripts(2)
    runNewest()
    await started
    await third?.destroy()
  })
})

describe('masking rules that never arrive', () => {
  const RULES = /^GET .*\/maskingpatterns\//
  const SECRET = '4111 1111 1111 1111'

  it.each(WAYS)(
    '[REST-09] delay initialize() by 30 seconds with %s, and are loaded by restartConnection()',
    async (_way, answer) => {
      const masking = { required: true }
      const { clock, hanging, agents, setIntercept } = setUpHanging(1, { id: 'billing', masking })
      const [agent] = agents as [AiAgent]
      const reasons: string[] = []
      agent.on('maskingUnavailable', ({ payload }) => void reasons.push(payload.reason))
      setIntercept(request => (RULES.test(request) ? answer() : undefined))
      let isSettled = false
      const started = agent.initialize().finally(() => {
        isSettled = true
      })
      await eventually(() => hanging.length === 1, 'the request')
      await clock.advance(29_999)
      expect([isSettled, reasons]).toEqual([false, []])
      await clock.advance(1)
      await started
      expect([reasons, hanging.map(({ aborted }) => aborted)]).toEqual([['request_failed'], [true]])
      await agent.connect()
      expect(await rejection(agent.send(SECRET))).toMatchObject({ reason: 'masking_unavailable' })
      setIntercept()
      await passing(clock, agent.restartConnection())
      expect(agent.previewMasking(SECRET).isActive).toBe(true)
      await agent.destroy()
    },
  )

  it('[REL-254] are loaded with the next connection, and otherwise after a message was refused', async () => {
    const { clock, agents, sent, setIntercept } = setUpHanging(1, { id: 'billing', masking: { required: true } })
    const [agent] = agents as [AiAgent]
    const loads = () => sent.filter(request => RULES.test(request)).length
    setIntercept(request => (RULES.test(request) ? Promise.resolve(new Response('{}', { status: 400 })) : undefined))
    await agent.initialize()
    const before = loads()
    await agent.connect()
    await eventually(() => loads() === before + 1, 'another try with the connection')
    await turnEventLoop()
    expect(await rejection(agent.send(SECRET))).toMatchObject({ reason: 'masking_unavailable' })
    await eventually(() => loads() === before + 2, 'another try after the refusal')
    await turnEventLoop()
    setIntercept()
    expect(await rejection(agent.send(SECRET))).toMatchObject({ reason: 'masking_unavailable' })
    await eventually(() => agent.previewMasking(SECRET).isActive, 'the rules')
    await agent.send(SECRET)
    expect(agent.getTranscript().at(-1)?.message.content).not.toContain(SECRET)
    expect(loads()).toBe(before + 3)
    await passing(clock, agent.disconnect())
    await agent.connect()
    await turnEventLoop()
    expect(loads()).toBe(before + 3)
    await agent.destroy()
  })

  it.each(['logout', 'destroy'] as const)('[REST-09] end with %s()', async end => {
    const { clock, hanging, agents, sent, setIntercept } = setUpHanging(1, { id: 'billing' })
    const [agent] = agents as [AiAgent]
    const reasons: string[] = []
    agent.on('maskingUnavailable', ({ payload }) => void reasons.push(payload.reason))
    setIntercept(request => (RULES.test(request) ? new Promise(() => {}) : undefined))
    const failure = rejection(agent.initialize())
    await eventually(() => hanging.length === 1, 'the request')
    await agent[end]()
    expect(await failure).toMatchObject({ code: 'ABORTED' })
    expect([hanging[0]?.aborted, reasons, clock.pendingTimers]).toEqual([true, [], 0])
    if (end === 'destroy') return
    setIntercept()
    await agent.initialize()
    expect(sent.filter(request => RULES.test(request))).toHaveLength(2)
    expect(agent.previewMasking(SECRET).isActive).toBe(true)
    await agent.destroy()
  })
})
