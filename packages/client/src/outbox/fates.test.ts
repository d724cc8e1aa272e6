import type { Capability } from '@aiagent/protocol'
import { turnEventLoop } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { receivedTexts, sendInDoubt, setUp } from '../../test/agent-harness.ts'
import type { AiAgentConfig } from '../config.ts'
import type { DeliveryState } from '../log/delivery.ts'

const MESSAGES = 6_000
const CUTS = 14
const LINK_MS = 25

/**
 * Sends one message per millisecond over a link of 25 ms that is cut 14 times, and compares what the service received with
 * what the host was told.
 */
async function measure(config: Partial<AiAgentConfig>, settings: object = {}) {
  const { clock, emulator, make } = setUp({ settings: { historyLimit: 50_000, recordingLimit: 50_000, ...settings } })
  const { agent } = make({ maxQueueSize: 10_000, transcriptConfig: { enabled: false }, ...config })
  const told = new Map<string, DeliveryState>()
  agent.on('deliveryUpdate', ({ payload }) => void told.set(payload.id, payload.state))
  await agent.initialize()
  emulator.faults.add({ kind: 'delay-frames', ms: LINK_MS })
  await agent.connect()
  const cutEvery = Math.floor(MESSAGES / (CUTS + 1))
  for (let n = 0; n < MESSAGES; n++) {
    const id = `message ${n}`
    void agent.send(id, { id })
    await clock.advance(1)
    if (n % cutEvery === cutEvery - 1 && n < CUTS * cutEvery) {
      emulator.control.dropSockets()
      await turnEventLoop(1)
    }
  }
  await clock.advance(60_000)
  const connected = new Map(told)
  const received = [...emulator.world.sessions.keys()].flatMap(id =>
    emulator.control.frames(id).flatMap(({ message }) => (message?.role === 'human' ? [String(message.content)] : [])),
  )
  const arrived = new Set(received)
  const ids = Array.from({ length: MESSAGES }, (_, n) => `message ${n}`)
  const stateOf = (id: string) => connected.get(id) ?? 'queued'
  const disconnecting = agent.disconnect()
  await clock.advance(1_000)
  await disconnecting
  const unsettled = ids.filter(id => told.get(id) === 'sent' || told.get(id) === 'sending')
  // The history of one more reopening shows everything that has arrived.
  await agent.connect()
  await clock.advance(1_000)
  const result = {
    received,
    /** Lost, and the host was not told. */
    lostSilently: ids.filter(id => !arrived.has(id) && (stateOf(id) === 'sent' || stateOf(id) === 'acknowledged')),
    falselyAcknowledged: ids.filter(id => !arrived.has(id) && told.get(id) === 'acknowledged'),
    unknown: ids.filter(id => stateOf(id) === 'unknown').length,
    unproven: ids.filter(id => arrived.has(id) && told.get(id) !== 'acknowledged').length,
    lost: ids.filter(id => !arrived.has(id)).length,
    repeated: received.length - arrived.size,
    unsettled,
    inOrder: [...arrived].every((id, index, all) => index === 0 || numberOf(id) > numberOf(all[index - 1] as string)),
  }
  await agent.destroy()
  return result
}

const numberOf = (id: string) => Number(id.split(' ')[1])

describe('6,000 messages at one per millisecond over a link of 25 ms with 14 cuts', () => {
  it('[REL-93] leave none of which the host is not told', async () => {
    const result = await measure({})
    expect(result.lost).toBeGreaterThan(0)
    expect(result.lostSilently).toEqual([])
    expect(result.falselyAcknowledged).toEqual([])
    expect(result.unsettled).toEqual([])
    expect([result.repeated, result.inOrder]).toEqual([0, true])
    expect(result.unknown).toBeGreaterThanOrEqual(result.lost)
    expect(result.unproven).toBe(0)
  }, 60_000)

  it('[REL-93] all arrive with at-least-once, and with receipts in order', async () => {
    const repeating = await measure({ delivery: 'at-least-once' })
    expect([repeating.lost, repeating.lostSilently, repeating.unsettled]).toEqual([0, [], []])
    const confirmed = await measure({}, { capabilities: ['receipts'] })
    expect([confirmed.lost, confirmed.unknown, confirmed.inOrder, confirmed.unsettled]).toEqual([0, 0, true, []])
  }, 120_000)
})

describe('a restart with a message in doubt', () => {
  it.each<[Capability[]]>([[[]], [['receipts', 'resume']]])(
    '[REL-84] begins a conversation without it, also with at-least-once (capabilities %j)',
    async capabilities => {
      const { clock, emulator, make } = setUp({ settings: { capabilities } })
      const { agent } = make({ delivery: 'at-least-once' })
      await agent.initialize()
      await agent.connect()
      const id = await sendInDoubt(agent, emulator, 'Cancel the order')
      const restarting = agent.restartConnection()
      await clock.advance(1_000)
      await restarting
      await agent.send('Hello')
      await clock.advance(60_000)
      expect(receivedTexts(emulator).flat()).toEqual(['Hello'])
      expect(agent.delivery(id)).toMatchObject({ state: 'unknown', reason: 'session_ended' })
      await agent.destroy()
    },
  )
})

describe('a message that is unknown, in a session that is opened again', () => {
  it('[REL-85] is sent again with receipts, and reported once more only when its receipt arrives', async () => {
    const { clock, emulator, make } = setUp({ settings: { capabilities: ['receipts'] } })
    const { agent } = make({})
    await agent.initialize()
    await agent.connect()
    emulator.faults.add({ kind: 'lose-frames', direction: 'to-service' })
    const id = await agent.send('Cancel the order')
    const states: DeliveryState[] = []
    agent.on('deliveryUpdate', ({ payload }) => void states.push(payload.state))
    // The service ends the chat for good, twice, so that no history is compared in between.
    for (const _round of [1, 2]) {
      emulator.control.dropSockets(1000)
      await clock.advance(1_000)
      expect([agent.getState(), agent.delivery(id)?.state]).toEqual(['CLOSED', 'unknown'])
      await agent.connect()
      await clock.advance(1_000)
    }
    emulator.faults.lift()
    emulator.control.dropSockets()
    await clock.advance(10_000)
    expect(states).toEqual(['unknown', 'acknowledged'])
    expect(receivedTexts(emulator).flat()).toEqual(['Cancel the order'])
    await agent.destroy()
  })
})

describe('120 messages into a half-open connection', () => {
  it('[REL-93] are reported as unknown once the connection is replaced, or sent again', async () => {
    for (const delivery of ['at-most-once', 'at-least-once'] as const) {
      const { clock, emulator, make } = setUp()
      const { agent } = make({ delivery, transcriptConfig: { enabled: false } })
      const told = new Map<string, DeliveryState>()
      agent.on('deliveryUpdate', ({ payload }) => void told.set(payload.id, payload.state))
      await agent.initialize()
      await agent.connect()
      emulator.faults.add({ kind: 'silence', lost: true })
      const ids = await Promise.all(Array.from({ length: 120 }, (_, n) => agent.send(`message ${n}`)))
      await clock.advance(30_000)
      expect(new Set(told.values())).toEqual(new Set(['sent']))
      // As when the network stack gives the connection up.
      emulator.control.dropSockets()
      emulator.faults.lift()
      await clock.advance(60_000)
      const received = [...emulator.world.sessions.keys()].flatMap(id =>
        emulator.control.frames(id).filter(({ message }) => message?.role === 'human'),
      )
      if (delivery === 'at-most-once') expect(ids.map(id => told.get(id))).toEqual(ids.map(() => 'unknown'))
      else expect(received.map(({ message }) => message?.content)).toEqual(ids.map((_, n) => `message ${n}`))
      await agent.destroy()
    }
  })
})
