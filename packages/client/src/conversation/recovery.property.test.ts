import { turnEventLoop } from '@aiagent/test-support'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { lastSession, passing, setUp } from '../../test/agent-harness.ts'

// Loaded before, since the manual clock does not wait for a file.

/** Few texts, so that equal ones are frequent. The number is that of the answers. */
const text = fc.constantFrom('yes 0', 'yes 1', 'no 1', 'no 2', 'tell me 3')

const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('send' as const), text }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('ask' as const), text }) },
  { weight: 4, arbitrary: fc.constant({ kind: 'cut' as const }) },
  /** The connection is half-open: nothing passes, in either direction. */
  { weight: 2, arbitrary: fc.constant({ kind: 'freeze' as const }) },
  /** Single frames of the service vanish. */
  { weight: 2, arbitrary: fc.constant({ kind: 'lose' as const }) },
  { weight: 2, arbitrary: fc.constant({ kind: 'lift' as const }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('slow' as const), ms: fc.constantFrom(300, 3_000, 9_000) }) },
  /** Frames of the service arrive later, also than the answer of a transcript call. */
  { weight: 2, arbitrary: fc.constant({ kind: 'lag' as const }) },
  { weight: 2, arbitrary: fc.constant({ kind: 'connect' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'disconnect' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'clear' as const }) },
  {
    weight: 8,
    arbitrary: fc.record({ kind: fc.constant('advance' as const), ms: fc.constantFrom(1, 90, 700, 1_600, 6_000) }),
  },
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never
type Source = 'history' | 'rest' | 'resume'

/** Plays the steps over outages, lets everything be recovered, and compares the transcript with the service's record. */
async function play(steps: readonly Step[], source: Source) {
  const { clock, emulator, make } = setUp({
    settings: {
      capabilities: source === 'resume' ? ['receipts', 'resume'] : [],
      sendHistory: source === 'history',
      replyDelayMs: 400,
    },
    reply: ({ text: said }) =>
      Array.from({ length: Number(said.split(' ').at(-1)) }, (_, n) => ({ content: `${n}: ${said}` })),
  })
  const { agent } = make()
  const told: string[] = []
  agent.on('agentMessage', ({ payload }) => void told.push(payload.messageId ?? ''))
  const asked: Promise<unknown>[] = []
  let settled = 0
  await agent.initialize()
  await agent.connect()
  const session = lastSession(emulator)
  let cleared: readonly string[] = []
  const agentIds = () =>
    agent.getTranscript().flatMap(({ message }) => (message.persona === 'agent' ? (message.messageId ?? '') : []))
  for (const each of steps) {
    switch (each.kind) {
      case 'send':
        await agent.send(each.text)
        break
      case 'ask':
        asked.push(
          agent.ask(each.text).then(
            () => settled++,
            () => settled++,
          ),
        )
        break
      case 'cut':
        emulator.control.dropSockets()
        break
      case 'freeze':
        emulator.faults.add({ kind: 'silence', lost: true })
        break
      case 'lose':
        // On TCP a frame cannot be lost before a later one that arrives; numbers rely on that.
        if (source !== 'resume') emulator.faults.add({ kind: 'lose-frames', direction: 'to-client', chance: 0.4 })
        break
      case 'lift':
        // As a frame on TCP, one of a half-open connection is not lost before a later one that arrives.
        if (source === 'resume') emulator.control.dropSockets()
        emulator.faults.lift()
        break
      case 'slow':
        emulator.faults.add({ kind: 'delay-requests', route: '*/conversations/*', ms: each.ms })
        break
      case 'lag':
        emulator.faults.add({ kind: 'delay-frames', direction: 'to-client', ms: 900 })
        break
      case 'connect':
        agent.connect().catch(() => {})
        break
      case 'disconnect':
        agent.disconnect().catch(() => {})
        break
      case 'clear':
        cleared = [...cleared, ...agentIds()]
        agent.clearTranscript()
        break
      case 'advance':
        await clock.advance(each.ms)
        break
      default:
        each satisfies never
    }
    await turnEventLoop(1)
  }
  await clock.advance(1_000)
  emulator.faults.lift()
  emulator.control.dropSockets()
  await clock.advance(0)
  agent.connect().catch(() => {})
  await clock.advance(200_000)
  const record = emulator.world.sessions.get(session)?.history.entries() ?? []
  const transcript = agent.getTranscript()
  const lines = transcript.flatMap(({ message }) => (message.persona === 'customer' ? (message.content ?? '') : []))
  const result = {
    sessions: emulator.world.sessions.size,
    /** Ids of the agent's messages: those that were cleared before, then those in the transcript. */
    shown: [...cleared, ...agentIds()],
    told,
    expected: record.flatMap(({ persona, messageId }) => (persona === 'agent' ? (messageId ?? '') : [])),
    lines,
    said: record.flatMap(({ persona, content }) => (persona === 'customer' ? (content ?? '') : [])),
    hasCleared: steps.some(({ kind }) => kind === 'clear'),
    pending: asked.length - settled,
    entryIds: transcript.map(({ id }) => id),
  }
  await passing(clock, agent.destroy())
  // What is left belongs to the service.
  await clock.advance(2_000_000)
  expect(clock.pendingTimers).toBe(0)
  return result
}

const isSubsequence = (part: readonly string[], whole: readonly string[]) => {
  let index = 0
  for (const each of whole) if (each === part[index]) index++
  return index === part.length
}

describe('the recovery of missed messages, whatever happens', () => {
  for (const source of ['history', 'rest', 'resume'] as const)
    it(`[REL-96] [REL-98] [REL-99] shows every message of the agent once and in order (source: ${source})`, async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 30, size: 'max' }), async steps => {
          const { sessions, shown, told, expected, lines, said, hasCleared, pending, entryIds } = await play(
            steps,
            source,
          )
          expect(sessions).toBe(1)
          expect(told.toSorted()).toEqual(expected.toSorted())
          // A message that was missed before the transcript was cleared belongs before what was cleared.
          if (hasCleared) expect(shown.toSorted()).toEqual(expected.toSorted())
          else {
            expect(shown).toEqual(expected)
            expect(isSubsequence(said, lines)).toBe(true)
          }
          expect(new Set(entryIds).size).toBe(entryIds.length)
          expect(pending).toBe(0)
        }),
        { numRuns: 40 },
      )
    }, 120_000)
})
