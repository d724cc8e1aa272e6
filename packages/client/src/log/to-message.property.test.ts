import { ApiHelper, toMessage } from '@aiagent/client'
import { propertyRuns } from '@aiagent/test-support'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { lastSession, setUp } from '../../test/agent-harness.ts'

const runs = { numRuns: propertyRuns(300) }

const text = fc.string({ unit: 'binary' })
const frame = fc.record(
  {
    persona: fc.oneof(fc.constantFrom('customer', 'agent', 'system', 'metadata'), fc.string({ minLength: 1 })),
    role: fc.oneof(fc.constantFrom('human', 'customer support agent', 'context'), fc.string({ minLength: 1 })),
    content: text,
    messageId: text,
    timestamp: fc.integer(),
    messageData: fc.record({ reasoning: text, sources: fc.array(fc.record({ title: text })) }),
    further: fc.jsonValue(),
  },
  { requiredKeys: ['persona', 'role'] },
)
/** A frame in which some members are of other types, or throw when they are read. */
const odd = fc
  .tuple(frame, fc.dictionary(fc.constantFrom('persona', 'role', 'content', 'messageData', 'timestamp'), fc.anything()))
  .map(([given, wrong]) => ({ ...given, ...wrong }))
const unreadable = frame.map(given => ({
  ...given,
  get content(): string {
    throw new Error('unreadable')
  },
}))

const isName = (value: unknown) => typeof value === 'string' && value !== ''

/** Whether a value is the object of a frame after it was written as JSON. */
function isFrame(element: unknown): boolean {
  try {
    const written: unknown = JSON.parse(JSON.stringify(element))
    const { persona, role } = Object(written) as Record<string, unknown>
    return isName(persona) && isName(role)
  } catch {
    return false
  }
}

describe('toMessage', () => {
  it('[REST-12] reads every frame, and does not change it', () => {
    fc.assert(
      fc.property(frame, element => {
        const before = structuredClone(element)
        const { persona, role, content = '', messageId, timestamp, messageData } = element
        const of = { agentId: undefined, sessionId: undefined }
        expect(toMessage(element)).toMatchObject({ persona, role, content, messageId, timestamp, messageData, ...of })
        expect(element).toEqual(before)
      }),
      runs,
    )
  })

  it('[REST-12] is undefined for anything else, and never throws', () => {
    fc.assert(
      fc.property(fc.oneof(fc.anything({ withBigInt: true, withNullPrototype: true }), odd, unreadable), element => {
        expect(toMessage(element) !== undefined).toBe(isFrame(element))
      }),
      runs,
    )
  })

  it('[REST-12] reads what `getPreviousTranscript()` returns of a conversation', async () => {
    const { clock, emulator, environment, make } = setUp({ settings: { heartbeatBeforeReply: false } })
    const { agent } = make()
    await agent.initialize()
    await agent.connect()
    for (const content of ['Hello', 'Where is my order?']) {
      await agent.send(content)
      await clock.advance(1_000)
    }
    const api = new ApiHelper({ apiDomain: emulator.origin, getToken: () => agent.getAccessToken() }, environment)
    const list = await api.getPreviousTranscript({ agentId: 'help', sessionId: lastSession(emulator) })
    const shown = agent.getTranscript().map(({ message: { content, persona } }) => ({ content, persona }))
    expect(shown).toHaveLength(4)
    expect(list.map(toMessage)).toMatchObject(shown)
    await agent.destroy()
  })
})
