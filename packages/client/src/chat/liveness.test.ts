import { paths } from '@aiagent/protocol'
import { describe, expect, it } from 'vitest'
import { lastSession, passing, payloadsOf, sentTo, setUp } from '../../test/agent-harness.ts'
import { FakePage } from '../../test/fake-page.ts'
import type { AiAgentConfig } from '../config.ts'

// Loaded before, since the manual clock does not wait for a file.

interface Given extends Partial<AiAgentConfig> {
  capabilities?: string[]
  hasPage?: boolean
  hasTranscript?: boolean
}

/** A connected agent on a page, and the steps of its tests. */
async function setUpPage({ capabilities = [], hasPage = true, hasTranscript = true, ...config }: Given = {}) {
  const page = hasPage ? new FakePage() : undefined
  const parts = setUp(
    { settings: { capabilities, heartbeatBeforeReply: false } as never, reply: () => [] },
    page && { page },
  )
  const { clock, emulator } = parts
  const { agent, told } = parts.make(config)
  await agent.initialize()
  await agent.connect()
  await clock.advance(0)
  const first = lastSession(emulator)
  if (!hasTranscript)
    emulator.faults.add({ kind: 'answer', route: paths.previousTranscript('help', first), status: 501 })
  return {
    ...parts,
    agent,
    page,
    /** Makes the present connection half-open. */
    freeze: () => emulator.faults.add({ kind: 'silence', lost: true }),
    closes: () => payloadsOf(told, 'closed').map(({ cause, retryInMs }) => `${cause} ${retryInMs}`),
    openings: () => emulator.control.requests().filter(({ status }) => status === 101).length,
    warnings: () => parts.printed.map(each => each.join(' ')).filter(text => text.includes('may be dead')),
  }
}

const REPLACED = ['dead_connection 0']

describe('a page that wakes', () => {
  it.each([
    ['the network is back', Number.POSITIVE_INFINITY],
    ['it was hidden for a minute', 60_000],
  ])('[REL-101] replaces its connection once: %s', async (_case, awayMs) => {
    const { agent, page, clock, closes, openings } = await setUpPage()
    page?.comeBack(awayMs)
    await clock.advance(2_000)
    expect([closes(), openings(), agent.getState()]).toEqual([REPLACED, 2, 'CONNECTED'])
    await clock.advance(600_000)
    expect(openings()).toBe(2)
    await agent.destroy()
    expect([page?.listeners, clock.pendingTimers]).toEqual([0, 0])
  })

  it.each([
    ['before a further try', { kind: 'answer', status: 501 }],
    ['while the transcript call hangs', { kind: 'hang-request' }],
  ] as const)('[REL-101] leaves no timer when the agent is destroyed during a check: %s', async (_case, fault) => {
    const { agent, page, clock, emulator } = await setUpPage()
    emulator.faults.add({ ...fault, route: paths.previousTranscript('help', lastSession(emulator)) })
    page?.comeBack(Number.POSITIVE_INFINITY)
    await clock.advance(1_000)
    expect(clock.pendingTimers).toBeGreaterThan(0)
    await agent.destroy()
    await clock.advance(0)
    expect(clock.pendingTimers).toBe(0)
  })

  it('[REL-101] does so when the wall clock has jumped, as after a sleep', async () => {
    const { agent, clock, closes } = await setUpPage()
    clock.shiftWallClock(120_000)
    await clock.advance(6_000)
    expect(closes()).toEqual(REPLACED)
    clock.shiftWallClock(-120_000)
    await clock.advance(60_000)
    expect(closes()).toEqual(REPLACED)
    await agent.destroy()
  })

  it('[REL-101] keeps the connection when it was hidden only for a moment', async () => {
    const { agent, page, clock, closes } = await setUpPage()
    page?.comeBack(14_000)
    await clock.advance(10_000)
    expect(closes()).toEqual([])
    await agent.destroy()
  })

  it('[REL-101] keeps it, with one warning, where a new connection could lose an answer', async () => {
    const { agent, page, clock, closes, warnings } = await setUpPage({ hasTranscript: false })
    page?.comeBack()
    await clock.advance(1_000)
    page?.comeBack()
    await clock.advance(10_000)
    expect([closes(), warnings().length]).toEqual([[], 1])
    await agent.destroy()
  })

  it('[REL-101] keeps it where only the previous session has shown what a new connection misses', async () => {
    const { agent, page, clock, emulator, closes, warnings } = await setUpPage()
    page?.comeBack()
    await clock.advance(2_000)
    expect(closes()).toEqual(REPLACED)
    emulator.faults.add({ kind: 'answer', route: 'GET */conversations/sessions/*', status: 501 })
    await passing(clock, agent.restartConnection())
    page?.comeBack()
    await clock.advance(10_000)
    expect([
      closes()
        .slice(1)
        .filter(close => close.startsWith('dead')),
      warnings().length,
    ]).toEqual([[], 1])
    await agent.destroy()
  })

  it('[REL-101] keeps it when a frame arrives meanwhile', async () => {
    const { agent, page, clock, emulator, closes } = await setUpPage()
    emulator.faults.add({
      kind: 'delay-requests',
      route: paths.previousTranscript('help', lastSession(emulator)),
      ms: 1_000,
    })
    page?.comeBack()
    await clock.advance(500)
    emulator.control.pushFrame(lastSession(emulator), { persona: 'system', role: 'heartbeat' })
    await clock.advance(10_000)
    expect(closes()).toEqual([])
    await agent.destroy()
  })

  it('[REL-101] gets back what the service sent into the dead connection', async () => {
    const { agent, page, clock, emulator, freeze } = await setUpPage()
    await agent.send('one')
    await clock.advance(0)
    freeze()
    emulator.world.sessions.get(lastSession(emulator))?.history.add({
      messageId: 'm-lost',
      persona: 'agent',
      role: 'customer support agent',
      content: 'said into the void',
      timestamp: clock.now(),
    })
    page?.comeBack()
    await clock.advance(5_000)
    expect(agent.getTranscript().map(({ message }) => message.content)).toContain('said into the void')
    await agent.destroy()
  })

  it('[REL-101] does nothing with doubtAfterMs: 0, and nothing outside a page', async () => {
    const off = await setUpPage({ doubtAfterMs: 0 })
    off.page?.comeBack()
    await off.agent.send('one')
    await off.clock.advance(300_000)
    expect(off.closes()).toEqual([])
    await off.agent.destroy()
    const node = await setUpPage({ hasPage: false })
    await node.agent.send('one')
    await node.clock.advance(300_000)
    expect(node.closes()).toEqual([])
    await node.agent.destroy()
  })
})

describe('silence after a message of the user', () => {
  it('[REL-101] is doubted after half a minute, once, and after twice the time the next time', async () => {
    const { agent, clock, closes } = await setUpPage()
    await clock.advance(3_300)
    await agent.send('one')
    await clock.advance(29_900)
    expect(closes()).toEqual([])
    await clock.advance(200)
    expect(closes()).toEqual(REPLACED)
    await clock.advance(600_000)
    expect(closes()).toEqual(REPLACED)
    await agent.send('two')
    await clock.advance(59_900)
    expect(closes()).toEqual(REPLACED)
    await clock.advance(200)
    expect(closes()).toHaveLength(2)
    await agent.destroy()
  })

  it('[REL-101] is noticed on a line that died under one message a second, once', async () => {
    const { agent, clock, emulator, freeze, closes } = await setUpPage()
    freeze()
    for (let second = 0; second < 31; second++) {
      await agent.send(`message ${second}`)
      await clock.advance(1_000)
      if (second === 28) expect(closes()).toEqual([])
      if (second === 28) emulator.faults.lift()
    }
    expect(closes()).toEqual(REPLACED)
    await clock.advance(25_000)
    expect([closes(), agent.getState()]).toEqual([REPLACED, 'CONNECTED'])
    await agent.destroy()
  })

  it('[REL-101] keeps the connection, with one warning, where neither a history nor a transcript can be read', async () => {
    const { agent, clock, closes, warnings } = await setUpPage({ hasTranscript: false })
    for (let minute = 0; minute < 10; minute++) {
      await agent.send('one')
      await clock.advance(60_000)
    }
    expect([closes(), warnings().length]).toEqual([[], 1])
    await agent.destroy()
  })

  it('[REL-101] is none while frames arrive, and none without a message', async () => {
    const { agent, clock, emulator, closes } = await setUpPage()
    await clock.advance(300_000)
    expect(closes()).toEqual([])
    await agent.send('one')
    for (let beats = 0; beats < 5; beats++) {
      await clock.advance(25_000)
      emulator.control.pushFrame(lastSession(emulator), { persona: 'system', role: 'heartbeat' })
    }
    expect(closes()).toEqual([])
    await agent.destroy()
  })
})

describe('pings of the extension', () => {
  it.each([true, false])('[REL-101] find a dead connection in at most 20 s (on a page: %s)', async hasPage => {
    const { agent, clock, emulator, freeze, closes } = await setUpPage({
      capabilities: ['receipts', 'resume'],
      hasPage,
    })
    await clock.advance(60_000)
    expect(closes()).toEqual([])
    freeze()
    await clock.advance(20_000)
    expect(closes()).toEqual(REPLACED)
    emulator.faults.lift()
    await clock.advance(60_000)
    expect([closes(), agent.getState()]).toEqual([REPLACED, 'CONNECTED'])
    expect(sentTo(emulator)).toContain('ping')
    expect(agent.getTranscript()).toEqual([])
    await agent.destroy()
    expect(clock.pendingTimers).toBe(0)
  })

  it('[REL-101] find it in at most 6 s when the page wakes, and keep a good connection', async () => {
    const { agent, page, clock, freeze, closes } = await setUpPage({ capabilities: ['resume'] })
    page?.comeBack()
    await clock.advance(60_000)
    expect(closes()).toEqual([])
    freeze()
    page?.comeBack()
    await clock.advance(6_100)
    expect(closes()).toEqual(REPLACED)
    await agent.destroy()
  })
})
