import { turnEventLoop } from '@aiagent/test-support'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { passing, setUp } from '../../test/agent-harness.ts'
import type { DeliveryMode, DeliveryOutcome, DeliveryUpdate } from '../log/delivery.ts'

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('send' as const), count: fc.integer({ min: 1, max: 20 }) }) },
  /** Frames to the service vanish from now on. */
  { weight: 3, arbitrary: fc.constant({ kind: 'deafen' as const }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('drop' as const), code: fc.constantFrom(1006, 1011, 1000) }) },
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant('advance' as const), ms: fc.constantFrom(1, 5, 2_000, 20_000) }),
  },
  { weight: 3, arbitrary: fc.constant({ kind: 'connect' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'disconnect' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'clear' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'restart' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'forget' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'logout' as const }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('retry' as const), which: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('cancel' as const), which: fc.nat(20) }) },
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

interface Given {
  delivery: DeliveryMode
  hasReceipts: boolean
  /** How many messages a history holds; a short one does not show everything. */
  historyLimit: number
}

/** Plays the steps, ends the agent, and returns what the agent reported and what the service received. */
async function play(steps: readonly Step[], { delivery, hasReceipts, historyLimit }: Given) {
  const settings = { historyLimit, capabilities: hasReceipts ? ['receipts' as const] : [] }
  const { clock, emulator, make } = setUp({ settings })
  const { agent } = make({ delivery, maxQueueSize: 200 })
  const outcomes = new Map<string, Promise<DeliveryOutcome>>()
  const retried = new Set<string>()
  const updates: DeliveryUpdate[] = []
  agent.on('deliveryUpdate', ({ payload }) => void updates.push(payload))
  const pending: Promise<unknown>[] = []
  const call = (work: Promise<unknown>) => void pending.push(work.catch(() => {}))
  const handleOf = (which: number) => agent.delivery([...outcomes.keys()].at(-1 - which) ?? '')
  call(agent.initialize().then(() => agent.connect()))
  await clock.advance(50)
  const sessions = new Set<string>()
  let made = 0
  for (const each of steps) {
    switch (each.kind) {
      case 'send':
        for (let n = 0; n < each.count; n++) {
          const id = `message ${made++}`
          const sending = agent.send(id, { id })
          call(sending)
          const handle = agent.delivery(id)
          if (handle) outcomes.set(id, handle.outcome)
        }
        break
      case 'deafen':
        emulator.faults.add({ kind: 'lose-frames', direction: 'to-service' })
        break
      case 'drop':
        emulator.control.dropSockets(each.code === 1006 ? undefined : each.code)
        emulator.faults.lift()
        break
      case 'advance':
        await clock.advance(each.ms)
        break
      case 'connect':
        call(agent.connect())
        break
      case 'disconnect':
        call(agent.disconnect())
        break
      case 'clear':
        agent.clearQueue()
        break
      case 'restart':
        call(agent.restartConnection())
        break
      case 'forget':
        for (const id of emulator.world.sessions.keys()) {
          sessions.add(id)
          emulator.control.forgetSession(id)
        }
        break
      case 'logout':
        call(agent.logout().then(() => agent.initialize()))
        break
      case 'retry': {
        const handle = handleOf(each.which)
        if (handle?.retry()) {
          retried.add(handle.id)
          outcomes.set(handle.id, handle.outcome)
        }
        break
      }
      case 'cancel':
        handleOf(each.which)?.cancel()
        break
      default:
        each satisfies never
    }
    await turnEventLoop(2)
  }
  emulator.faults.lift()
  await clock.advance(60_000)
  for (const id of emulator.world.sessions.keys()) sessions.add(id)
  const received = [...sessions].map(id =>
    emulator.control.frames(id).flatMap(({ message }) => (message?.role === 'human' ? [String(message.content)] : [])),
  )
  const last = new Map(updates.map(({ id, state }) => [id, state]))
  await passing(clock, agent.destroy())
  await Promise.all(pending)
  const ended = new Map<string, DeliveryOutcome>()
  for (const [id, outcome] of outcomes) ended.set(id, await outcome)
  return { received, updates, last, ended, retried, clock }
}

/** Each change starts where the one before it ended. */
function requireChains(updates: readonly DeliveryUpdate[]): void {
  const states = new Map<string, string>()
  for (const { id, state, previousState } of updates) {
    expect(`${id}: ${previousState}`).toBe(`${id}: ${states.get(id) ?? 'queued'}`)
    states.set(id, state)
  }
}

describe('the delivery of messages, whatever happens', () => {
  it('[REL-80] [REL-81] [REL-83] is reported truthfully, and every outcome settles', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 25, size: 'max' }),
        fc.constantFrom<DeliveryMode>('at-most-once', 'at-least-once'),
        fc.constantFrom(500, 3),
        async (steps, delivery, historyLimit) => {
          const { received, updates, last, ended, retried } = await play(steps, {
            delivery,
            historyLimit,
            hasReceipts: false,
          })
          requireChains(updates)
          const all = received.flat()
          const arrived = new Set(all)
          for (const [id, state] of [...last, ...ended]) {
            if (state === 'acknowledged') expect([...arrived]).toContain(id)
            if (state === 'failed' || state === 'cancelled') expect([...arrived]).not.toContain(id)
          }
          if (delivery === 'at-most-once')
            for (const id of arrived) if (!retried.has(id)) expect(all.filter(each => each === id)).toEqual([id])
        },
      ),
      { numRuns: 120 },
    )
  })

  it('[REL-85] is exactly once and in order with receipts', async () => {
    const orderly = step.filter(
      ({ kind }) =>
        kind !== 'retry' && kind !== 'cancel' && kind !== 'restart' && kind !== 'logout' && kind !== 'clear',
    )
    await fc.assert(
      fc.asyncProperty(fc.array(orderly, { maxLength: 25, size: 'max' }), async steps => {
        const { updates, received, last } = await play(steps, {
          delivery: 'at-most-once',
          historyLimit: 500,
          hasReceipts: true,
        })
        requireChains(updates)
        const arrived = new Set(received.flat())
        for (const [id, state] of last) if (state === 'acknowledged') expect([...arrived]).toContain(id)
        for (const session of received) {
          // Repetitions are dropped by the service; the first arrivals are in order.
          const first = [...new Set(session)].map(content => Number(content.split(' ')[1]))
          expect(first).toEqual(first.toSorted((one, other) => one - other))
        }
      }),
      { numRuns: 80 },
    )
  })
})
