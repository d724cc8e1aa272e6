import { encodeMessage, ROLE, type ServerMessage } from '@aiagent/protocol'
import { eventually, propertyRuns } from '@aiagent/test-support'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { lastSession, payloadsOf, setUp } from '../../test/agent-harness.ts'
import { FakeStorage } from '../../test/fake-service.ts'
import { linesOf } from '../../test/resume-harness.ts'
import type { AiAgentConfig } from '../config.ts'
import type { Environment } from '../platform/environment.ts'
import { MemoryCacheAdapter } from '../storage/memory-cache-adapter.ts'

const RECORDS = [null, {}, { id: null }, { id: {} }, 7, 'text', true, []]
const AGENTS = [null, {}, { agentId: null }, 7, 'text', true, []]
const MESSAGES = [null, {}, { persona: null }, { persona: 'customer', role: 7 }, 7, 'text', true, []]

/** Entries that do not fit, by the name of their list. The list of a portal's agents has no name. */
const ODD: Readonly<Record<string, readonly unknown[]>> = {
  '': AGENTS,
  // A number or a text is a valid reference to a portal.
  portals: RECORDS.filter(each => typeof each !== 'number' && typeof each !== 'string'),
  portal: RECORDS,
  profile: RECORDS,
  user: RECORDS,
  customer: RECORDS,
  patterns: [null, 7, 'text', true, []],
  messages: MESSAGES,
  chat_history: MESSAGES,
  oAuthAnonymousCustomer: [null, {}, { accessTokenURL: null }, 7, 'text', true, []],
  options: [null, {}, 7, true, []],
  sources: [null, 7, 'text', true, []],
  contextValidationErrors: [null, {}, { name: null }, { name: 'plan' }, 7, 'text'],
}

/** Copies a body, with odd entries among those of every list. `next` draws a number. */
function withOddEntries(value: unknown, next: () => number, name = ''): unknown {
  if (Array.isArray(value)) {
    const odd = ODD[name] ?? []
    const some = () => (odd.length === 0 ? [] : Array.from({ length: next() % 3 }, () => odd[next() % odd.length]))
    return [...value.flatMap(each => [...some(), withOddEntries(each, next)]), ...some()]
  }
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withOddEntries(each, next, key)]))
}

/** Draws numbers from a seed; without one, always the number that adds nothing. */
function drawFrom(seed: number | undefined): () => number {
  let state = seed ?? 0
  return () => {
    if (seed === undefined) return 0
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state >>> 16
  }
}

/** Uses every list that the client reads, and returns what a host sees of it. */
async function useAllLists(seed: number | undefined) {
  const next = drawFrom(seed)
  const sessionStorage = new FakeStorage()
  const service = setUp({ settings: { heartbeatBeforeReply: false } }, { sessionStorage })
  const { emulator, clock } = service
  const fetch: Environment['fetch'] = async (input, init) => {
    const answer = await emulator.fetch(input, init)
    const text = await answer.text()
    const isJson = answer.headers.get('content-type')?.includes('json')
    const body = isJson ? JSON.stringify(withOddEntries(JSON.parse(text), next)) : text
    return new Response(answer.status === 204 ? null : body, { status: answer.status, headers: answer.headers })
  }
  const accessToken = emulator.control.issueToken({ subject: 'desk-agent' })

  const offers: unknown[] = []
  const make = (config: Partial<AiAgentConfig>) => {
    const made = service.make(config, { fetch, memory: new MemoryCacheAdapter() })
    made.agent.on('portalsAvailable', ({ payload }) => offers.push(payload.portals.map(({ id }) => id)))
    made.agent.on('agentsAvailable', ({ payload }) => offers.push(payload.agents.map(({ agentId }) => agentId)))
    made.agent.on('profilesAvailable', ({ payload }) => offers.push(payload.profiles.map(({ id }) => id)))
    return made
  }

  // Portals and the user, then agents, then profiles.
  const desk = make({ id: 'desk', auth: { type: 'pre-auth', accessToken }, initParams: { isDefaultAgent: 'true' } })
  await desk.agent.initialize()
  await desk.agent.selectPortal({ id: 1001 })
  const user = desk.agent.getUserDetails()
  await desk.agent.destroy()
  const context = { vendor_portal_id: '1101' }
  const entered = make({ id: 'desk', auth: { type: 'pre-auth', accessToken }, context })
  await entered.agent.initialize()
  await entered.agent.destroy()

  // References to portals, the customer, the anonymous token.
  const self = make({ id: 'selfservice' })
  await self.agent.initialize()
  await self.agent.destroy()
  const customerToken = emulator.control.issueToken({ subject: 'customer' })
  const account = make({ id: 'account', auth: { type: 'pre-auth', accessToken: customerToken } })
  await account.agent.initialize()
  const customer = account.agent.getUserDetails()
  await account.agent.destroy()

  // Masking rules.
  const billing = make({ id: 'billing' })
  let refused = 0
  billing.agent.on('maskingPatternsRefused', ({ payload }) => void (refused += payload.patterns.length))
  await billing.agent.initialize()
  const masked = billing.agent.previewMasking('card 4111 1111 1111 1111').content
  await billing.agent.destroy()

  // Messages in the chat, and those of a previous page.
  const page = () => make({ id: 'help', resume: true })
  const chat = page()
  await chat.agent.initialize()
  await chat.agent.connect()
  await chat.agent.send('hello')
  await eventually(() => payloadsOf(chat.told, 'agentMessage').length > 0, 'an answer')
  const push = (frame: ServerMessage) =>
    emulator.control.pushFrame(
      lastSession(emulator),
      JSON.stringify(withOddEntries(JSON.parse(encodeMessage(frame)), next)),
    )
  push({
    persona: 'agent',
    role: 'text',
    content: 'Choose.',
    messageData: { options: ['yes', 'no'], sources: [{ title: 'A' }, { title: 'B' }] },
  })
  push({
    persona: 'system',
    role: ROLE.CONTEXT_VALIDATION,
    messageData: { contextValidationErrors: [{ name: 'plan', reason: 'unknown' }] },
  })
  await clock.advance(20)
  const choice = chat.agent.getTranscript().find(({ message }) => message.content === 'Choose.')
  const messageData = choice?.message.messageData
  const issues = payloadsOf(chat.told, 'contextValidation').map(payload => payload.issues)
  await chat.agent.destroy()
  const reloaded = page()
  await reloaded.agent.initialize()
  const lines = linesOf(reloaded.agent)
  const errors = [desk, entered, self, account, billing, chat, reloaded].flatMap(({ told }) =>
    payloadsOf(told, 'error'),
  )
  await reloaded.agent.destroy()
  return {
    seen: {
      offers,
      user,
      customer,
      masked,
      options: messageData?.['options'],
      sources: messageData?.['sources'],
      issues,
      lines,
      errors,
    },
    refused,
  }
}

describe('odd entries in the lists of the service', () => {
  it('[REL-29] cost only themselves, in every list that the client reads', async () => {
    const plain = await useAllLists(undefined)
    // What is compared below is there.
    expect([plain.refused, plain.seen.offers.length]).toEqual([0, 4])
    expect(plain.seen.lines).toHaveLength(2)
    expect(plain.seen.masked).toContain('***')
    expect(plain.seen).toMatchObject({
      user: { id: 'desk-agent' },
      customer: { id: 'customer' },
      options: ['yes', 'no'],
    })
    expect(plain.seen.issues).toHaveLength(1)
    await fc.assert(
      fc.asyncProperty(fc.nat(), async seed => {
        const { seen } = await useAllLists(seed)
        expect(seen).toEqual(plain.seen)
      }),
      { numRuns: propertyRuns(8) },
    )
  })
})
