import { eventually } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { framesArrived, passing, rejection, sentTo, setUp } from '../../test/agent-harness.ts'
import { FakePage } from '../../test/fake-page.ts'
import { setUpTab } from '../../test/resume-harness.ts'
import { setUpTabs } from '../../test/set-up-tabs.ts'
import type { AiAgent } from '../ai-agent.ts'
import type { AgentPhase, AgentStatus } from './agent-status.ts'

/** The phases that an agent reports, each compared with its status. */
function phasesOf(agent: AiAgent): AgentPhase['at'][] {
  const phases: AgentPhase['at'][] = []
  agent.on('phaseChanged', ({ payload }) => {
    expect(agent.status.phase).toEqual(payload)
    phases.push(payload.at)
  })
  return phases
}

describe('the phase of an agent', () => {
  it('[REL-126] is reported from the start to the end', async () => {
    const { make } = setUp()
    const { agent } = make()
    const phases = phasesOf(agent)
    expect(agent.status.phase).toEqual({ at: 'idle' })
    const initializing = agent.initialize()
    expect(agent.status.phase).toEqual({ at: 'preparing' })
    await initializing
    expect(agent.status.phase).toEqual({ at: 'ready' })
    await agent.logout()
    await agent.initialize()
    await agent.destroy()
    expect(phases).toEqual(['preparing', 'ready', 'leaving', 'idle', 'preparing', 'ready', 'destroyed'])
  })

  it('[REL-126] is idle with the error after a failed initialize(), until the next one', async () => {
    const { make, emulator } = setUp()
    const { agent } = make({ id: 'nobody' })
    const phases = phasesOf(agent)
    const error = await rejection(agent.initialize())
    expect(agent.status.phase).toEqual({ at: 'idle', error })
    expect(emulator.control.requests().length).toBeGreaterThan(0)
    await rejection(agent.initialize())
    expect(phases).toEqual(['preparing', 'idle', 'preparing', 'idle'])
  })

  it('[REL-126] holds the choice that waits for the user', async () => {
    const { make, emulator } = setUp()
    const accessToken = emulator.control.issueToken({ subject: 'desk-agent' })
    const { agent } = make({ id: 'desk', auth: { type: 'pre-auth', accessToken }, cache: { enabled: false } })
    const phases = phasesOf(agent)
    const choice = await agent.initialize()
    expect(choice).toMatchObject({ status: 'choose', gate: 'portal' })
    expect(agent.status.phase).toEqual({ at: 'choosing', choice })
    const next = await agent.selectPortal({ id: 1101 })
    expect(next).toMatchObject({ gate: 'profile' })
    expect(agent.status.phase).toEqual({ at: 'choosing', choice: next })
    expect(phases).toEqual(['preparing', 'choosing'])
    await agent.destroy()
    expect(agent.status.phase).toEqual({ at: 'destroyed' })
  })

  it('[REL-126] sends what waited before what a listener of `ready` sends', async () => {
    const { make, emulator } = setUp()
    const { agent } = make()
    agent.on('phaseChanged', ({ payload }) => {
      if (payload.at === 'ready') void agent.send('second')
    })
    await agent.send('first')
    await agent.initialize()
    await agent.connect()
    await framesArrived(emulator, 2)
    expect(sentTo(emulator)).toEqual(['first', 'second'])
  })
})

/** The statuses that an agent has had, as its events report them: each another object than the one before. */
function statusesOf(agent: AiAgent): AgentStatus[] {
  const statuses = [agent.status]
  for (const name of ['phaseChanged', 'stateChanged', 'workingChanged'] as const)
    agent.on(name, () => {
      expect(agent.status).not.toBe(statuses.at(-1))
      statuses.push(agent.status)
    })
  return statuses
}

const READY: AgentStatus = { phase: { at: 'ready' }, connection: 'IDLE', working: false, retryAt: undefined }

describe('the status of an agent', () => {
  it('[REL-129] follows it from the start to the end, and is the same object until it changes', async () => {
    const { make, clock } = setUp()
    const { agent } = make()
    const statuses = statusesOf(agent)
    await agent.initialize()
    await agent.connect()
    const { status } = agent
    expect(status).toEqual({ ...READY, connection: 'CONNECTED' })
    expect([Object.isFrozen(status), Object.isFrozen(status.phase)]).toEqual([true, true])
    await clock.advance(60_000)
    await agent.setContext({ plan: 'gold' })
    expect(agent.status).toBe(status)
    await passing(clock, agent.disconnect())
    expect(agent.status).toEqual({ ...READY, connection: 'CLOSED' })
    await agent.connect()
    await passing(clock, agent.logout())
    await agent.destroy()
    expect(statuses.map(({ phase, connection }) => `${phase.at} ${connection}`)).toEqual([
      'idle IDLE',
      'preparing IDLE',
      'ready IDLE',
      'ready CONNECTING',
      'ready CONNECTED',
      'ready CLOSED',
      'ready CONNECTING',
      'ready CONNECTED',
      'leaving CONNECTED',
      'leaving CLOSED',
      'idle CLOSED',
      'destroyed CLOSED',
    ])
    expect(statuses.filter(({ working, retryAt }) => working || retryAt !== undefined)).toEqual([])
    const { status: last } = agent
    await clock.advance(60_000)
    expect(agent.status).toBe(last)
  })

  it('[REL-129] has the time of the next attempt of a reconnect, and none when it is connected again', async () => {
    const { make, clock, emulator } = setUp()
    const { agent } = make()
    await agent.initialize()
    await agent.connect()
    emulator.faults.add({ kind: 'refuse-upgrade', status: 503 })
    emulator.control.dropSockets()
    await clock.advance(0)
    const lostAt = clock.now()
    const { status } = agent
    expect(status).toEqual({ ...READY, connection: 'RECONNECTING', retryAt: lostAt + 1_500 })
    await clock.advance(1_499)
    expect(agent.status).toBe(status)
    await clock.advance(1)
    expect(agent.status).toEqual({ ...READY, connection: 'RECONNECTING', retryAt: lostAt + 1_500 + 3_000 })
    emulator.faults.lift()
    await clock.advance(3_000)
    expect(agent.status).toEqual({ ...READY, connection: 'CONNECTED' })
    await agent.destroy()
  })

  it('[REL-129] keeps the time of the next attempt when the wall clock is set meanwhile', async () => {
    const { make, clock, emulator } = setUp()
    const { agent } = make()
    await agent.initialize()
    await agent.connect()
    emulator.control.dropSockets()
    await clock.advance(0)
    const { status } = agent
    clock.shiftWallClock(-3_600_000)
    expect(agent.status).toBe(status)
    await agent.destroy()
    expect(agent.status).toEqual({ ...READY, phase: { at: 'destroyed' }, connection: 'CLOSED' })
  })

  it('[REL-129] has no next attempt once the page is back, and after disconnect() and logout()', async () => {
    const page = new FakePage()
    const { make, clock, emulator } = setUp({}, { page })
    const { agent } = make()
    await agent.initialize()
    await agent.connect()
    const lose = async () => {
      emulator.control.dropSockets()
      await clock.advance(0)
      expect(agent.status.retryAt).toBe(clock.now() + 1_500)
    }
    await lose()
    page.comeBack()
    expect(agent.status).toEqual({ ...READY, connection: 'CONNECTING' })
    await clock.advance(10_000)
    await lose()
    await agent.disconnect()
    expect(agent.status).toEqual({ ...READY, connection: 'CLOSED' })
    await agent.connect()
    await clock.advance(10_000)
    await lose()
    await passing(clock, agent.logout())
    expect(agent.status).toEqual({ ...READY, phase: { at: 'idle' }, connection: 'CLOSED' })
    await agent.destroy()
  })

  it.each<[string, (agent: AiAgent) => Promise<unknown>, AgentPhase]>([
    ['disconnect()', agent => agent.disconnect(), { at: 'idle', error: expect.anything() }],
    ['logout()', agent => agent.logout(), { at: 'idle' }],
    ['destroy()', agent => agent.destroy(), { at: 'destroyed' }],
  ])('[REL-129] has the time of the next attempt of initialize(), which %s ends', async (_name, end, phase) => {
    const { make, clock } = setUp()
    const fetch = () => Promise.reject(new TypeError('fetch failed'))
    const { agent } = make({ retryInitialize: true }, { fetch })
    const failed = rejection(agent.initialize())
    await eventually(() => agent.status.retryAt !== undefined, 'a wait')
    expect(agent.status).toEqual({
      ...READY,
      phase: { at: 'preparing' },
      connection: 'RECONNECTING',
      retryAt: clock.now() + 1_500,
    })
    await passing(clock, end(agent))
    await failed
    expect(agent.status).toEqual({ ...READY, phase })
  })

  it('[REL-129] is working while an answer is awaited, until it arrives', async () => {
    const { make, clock } = setUp({ settings: { replyDelayMs: 5_000 } })
    const { agent } = make()
    const statuses = statusesOf(agent)
    await agent.initialize()
    await agent.connect()
    const answered = agent.ask('Are you there?')
    await clock.advance(4_000)
    const working = agent.status
    expect(working).toEqual({ ...READY, connection: 'CONNECTED', working: true })
    await clock.advance(999)
    expect(agent.status).toBe(working)
    await clock.advance(1)
    await answered
    expect(agent.status).toEqual({ ...READY, connection: 'CONNECTED' })
    expect(statuses.map(each => each.working)).toEqual([false, false, false, false, false, true, false])
    await agent.destroy()
  })

  it('[REL-129] is the same while a choice waits, and another one for the next choice', async () => {
    const { make, emulator } = setUp()
    const accessToken = emulator.control.issueToken({ subject: 'desk-agent' })
    const { agent } = make({ id: 'desk', auth: { type: 'pre-auth', accessToken }, cache: { enabled: false } })
    await agent.initialize()
    const { status } = agent
    expect(agent.status).toBe(status)
    await agent.selectPortal({ id: 1101 })
    expect(agent.status).not.toBe(status)
    expect(agent.status.phase).toMatchObject({ at: 'choosing', choice: { gate: 'profile' } })
    await agent.destroy()
  })
})

describe('an emptied transcript', () => {
  it('[REL-127] is reported for clearTranscript(), a restart and a logout', async () => {
    const { make, clock } = setUp()
    const { agent } = make()
    let cleared = 0
    agent.on('transcriptCleared', () => cleared++)
    await agent.initialize()
    agent.clearTranscript()
    expect(cleared).toBe(1)
    await passing(clock, agent.restartConnection())
    expect(cleared).toBe(2)
    await passing(clock, agent.logout())
    expect(cleared).toBe(3)
  })
})

describe('data of the session', () => {
  it('[REL-128] comes back after a reload as it was stored', async () => {
    const { open, talk } = setUpTab()
    const first = await open()
    await talk(first, 'one')
    const data = { ratings: { 'm-1': 'up' } }
    const stored = first.agent.setSessionData(data)
    data.ratings['m-1'] = 'down'
    await stored
    await first.agent.destroy()
    const second = await open()
    expect(await second.agent.getSessionData()).toEqual({ ratings: { 'm-1': 'down' } })
    await second.agent.setSessionData(undefined)
    await second.agent.destroy()
    expect(await (await open()).agent.getSessionData()).toBeUndefined()
  })

  it('[REL-128] brings the data back after a reload, while another tab holds the session', async () => {
    const { connected, browser } = setUpTabs()
    const config = { resume: true } as const
    const other = await connected(config)
    const first = await connected(config)
    await first.agent.setSessionData({ draft: 'half a sentence' })
    first.tab.close()
    const next = await connected(config, browser.open(first.tab.sessionStorage))
    expect(next.agent.getSessionId()).toBe(other.agent.getSessionId())
    expect(await next.agent.getSessionData()).toEqual({ draft: 'half a sentence' })
    // A copy of the tab, whose page lives, has not written it.
    const copy = await connected(config, browser.open(next.tab.sessionStorage))
    expect(await copy.agent.getSessionData()).toBeUndefined()
  })

  it('[REL-128] ends with the session: by a restart, a logout and clearStoredData()', async () => {
    const { open, load, sessionStorage, clock } = setUpTab()
    const { agent } = await open()
    await agent.setSessionData('draft one')
    await passing(clock, agent.restartConnection())
    expect(await agent.getSessionData()).toBeUndefined()
    await agent.setSessionData('draft two')
    expect(JSON.stringify([...sessionStorage.items])).toContain('draft two')
    await passing(clock, agent.logout())
    expect(JSON.stringify([...sessionStorage.items])).not.toContain('draft')
    await agent.initialize()
    expect(await agent.getSessionData()).toBeUndefined()
    await agent.destroy()
    const next = load()
    await next.agent.initialize()
    expect(await next.agent.getSessionData()).toBeUndefined()
  })

  it('[REL-128] is nothing without `resume`, and before there is a session', async () => {
    const { make } = setUp()
    const { agent } = make()
    await agent.initialize()
    await agent.setSessionData('draft')
    expect(await agent.getSessionData()).toBeUndefined()
    const { load } = setUpTab()
    const made = load()
    await made.agent.setSessionData('draft')
    expect(await made.agent.getSessionData()).toBeUndefined()
  })
})
