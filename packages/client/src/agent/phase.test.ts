import { describe, expect, it } from 'vitest'
import { framesArrived, passing, rejection, sentTo, setUp } from '../../test/agent-harness.ts'
import { setUpTab } from '../../test/resume-harness.ts'
import type { AiAgent } from '../ai-agent.ts'
import type { AgentPhase } from './agent-phase.ts'

/** The phases that an agent reports, each compared with `getPhase()`. */
function phasesOf(agent: AiAgent): AgentPhase['at'][] {
  const phases: AgentPhase['at'][] = []
  agent.on('phaseChanged', ({ payload }) => {
    expect(agent.getPhase()).toEqual(payload)
    phases.push(payload.at)
  })
  return phases
}

describe('the phase of an agent', () => {
  it('[REL-126] is reported from the start to the end', async () => {
    const { make } = setUp()
    const { agent } = make()
    const phases = phasesOf(agent)
    expect(agent.getPhase()).toEqual({ at: 'idle' })
    const initializing = agent.initialize()
    expect(agent.getPhase()).toEqual({ at: 'preparing' })
    await initializing
    expect(agent.getPhase()).toEqual({ at: 'ready' })
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
    expect(agent.getPhase()).toEqual({ at: 'idle', error })
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
    expect(agent.getPhase()).toEqual({ at: 'choosing', choice })
    const next = await agent.selectPortal({ id: 1101 })
    expect(next).toMatchObject({ gate: 'profile' })
    expect(agent.getPhase()).toEqual({ at: 'choosing', choice: next })
    expect(phases).toEqual(['preparing', 'choosing'])
    await agent.destroy()
    expect(agent.getPhase()).toEqual({ at: 'destroyed' })
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
