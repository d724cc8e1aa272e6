import { describe, expect, it } from 'vitest'
import { passing, sentTo, setUp } from '../../test/agent-harness.ts'
import type { AiAgent } from '../ai-agent.ts'
import type { DeliveryState } from '../log/delivery.ts'

// Loaded before, since the manual clock does not wait for a file.

const ACTIONS = {
  'logout()': agent => agent.logout(),
  'destroy()': agent => agent.destroy(),
  'disconnect()': agent => agent.disconnect(),
  'restartConnection()': agent => agent.restartConnection(),
  'clearQueue()': async agent => agent.clearQueue(),
  'cancel()': async (agent, id) => void agent.delivery(id)?.cancel(),
  'retry()': async (agent, id) => void agent.delivery(id)?.retry(),
  'another send()': async agent => void (await agent.send('more')),
} satisfies Record<string, (agent: AiAgent, id: string) => Promise<void>>

const STATES: DeliveryState[] = ['queued', 'sending', 'sent', 'acknowledged', 'unknown', 'failed']

/** Events, each with the occurrences on which a listener makes its call. */
const EVENTS = {
  initialized: [1, 2],
  stateChanged: [1, 3],
  connected: [1, 2],
  closed: [1, 2],
  transcriptUpdate: [1, 3],
  agentMessage: [1, 3],
  queueFlushed: [1],
} as const

const CASES = Object.keys(ACTIONS).flatMap(action =>
  STATES.map(state => [action as keyof typeof ACTIONS, state] as const),
)

const EVENT_CASES = (['logout()', 'destroy()', 'restartConnection()'] as const).flatMap(action =>
  Object.entries(EVENTS).flatMap(([event, times]) =>
    times.map(nth => [action, event as keyof typeof EVENTS, nth] as const),
  ),
)

describe('[REL-80] [REL-83] a listener', () => {
  it.each(CASES)('may call %s when a message becomes %s', (action, state) =>
    play(action, (agent, act) => {
      agent.on('deliveryUpdate', ({ payload }) => {
        if (payload.state === state) act(payload.id)
      })
    }),
  )

  it.each(EVENT_CASES)('may call %s on `%s`, number %i', (action, event, nth) =>
    play(action, (agent, act) => {
      let count = 0
      agent.on(event, () => {
        if (++count === nth) act('')
      })
    }),
  )
})

/**
 * Sends messages that are dropped, arrive, get lost, and are sent again, while a listener makes a call. Afterwards every
 * delivery is settled, no session has a message of another user, and nothing is left.
 */
async function play(
  action: keyof typeof ACTIONS,
  listen: (agent: AiAgent, act: (id: string) => void) => void,
): Promise<void> {
  const { clock, emulator, make, printed } = setUp({ settings: { capabilities: ['receipts'] } })
  let user = 1
  const getToken = () => emulator.control.issueToken({ subject: `user-${user}` })
  const { agent } = make({ id: 'account', auth: { getToken } })
  const ownerOf = new Map<string, number>()
  const noteSessions = () => {
    for (const id of emulator.world.sessions.keys()) if (!ownerOf.has(id)) ownerOf.set(id, user)
  }
  let acted: Promise<unknown> | undefined
  listen(agent, id => {
    if (acted) return
    noteSessions()
    acted = ACTIONS[action](agent, id).catch(() => {})
    if (action === 'logout()') user++
  })
  const ids: string[] = []
  let pending = 0
  const send = async (text: string) => {
    const id = await agent.send(`user ${user}: ${text}`).catch(() => undefined)
    const delivery = id === undefined ? undefined : agent.delivery(id)
    if (!delivery) return undefined
    ids.push(delivery.id)
    pending++
    void delivery.outcome.then(() => pending--)
    return delivery
  }
  const call = (promise: Promise<unknown>) =>
    passing(
      clock,
      promise.catch(() => {}),
    )
  const connect = () => call(agent.initialize().then(() => agent.connect()))
  await call(agent.initialize())
  const first = await send('dropped')
  agent.clearQueue()
  first?.retry()
  await call(Promise.resolve(acted))
  await connect()
  await clock.advance(100)
  await send('arrives')
  emulator.faults.add({ kind: 'lose-frames', direction: 'to-service' })
  const lost = await send('gets lost')
  await call(agent.disconnect({ skipGracefulDisconnect: true }))
  emulator.faults.lift()
  lost?.retry()
  await call(Promise.resolve(acted))
  await connect()
  await clock.advance(20_000)
  await call(Promise.resolve(acted))
  noteSessions()
  user++
  await call(agent.logout())
  await connect()
  await clock.advance(20_000)
  noteSessions()
  for (const [id, owner] of ownerOf)
    for (const text of sentTo(emulator, id))
      if (text.startsWith('user ')) expect(text).toMatch(new RegExp(`^user ${owner}:`))
  expect([pending, ids.filter(id => agent.delivery(id))]).toEqual([0, []])
  expect(acted).toBeDefined()
  await call(agent.destroy())
  await clock.advance(20_000)
  expect(clock.pendingTimers).toBe(0)
  expect(printed.flat().filter(text => String(text).includes('listener'))).toEqual([])
}
