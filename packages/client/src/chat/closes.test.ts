import { describe, expect, it } from 'vitest'
import { framesArrived, lastSession, passing, payloadsOf, rejection, sentTo, setUp } from '../../test/agent-harness.ts'
import type { AiAgentConfig } from '../config.ts'

async function setUpConnected(config: Partial<AiAgentConfig> = {}) {
  const parts = setUp({ settings: { heartbeatBeforeReply: false } })
  const made = parts.make(config)
  await made.agent.initialize()
  await made.agent.connect()
  return { ...parts, ...made, closes: () => payloadsOf(made.told, 'closed') }
}

describe('the event `closed`', () => {
  it.each([
    [undefined, 'network'],
    [1001, 'service_restart'],
    [1012, 'service_restart'],
    [1013, 'service_restart'],
    [1008, 'service_error'],
    [1011, 'service_error'],
    [4321, 'service_error'],
  ])('[REL-102] names the cause and the wait of a reconnect (close code %s)', async (code, cause) => {
    const { agent, clock, emulator, closes } = await setUpConnected()
    emulator.control.dropSockets(code)
    await clock.advance(0)
    expect(closes()).toEqual([
      { code: code ?? 1006, reason: expect.any(String), cause, willReconnect: true, retryInMs: 1_500 },
    ])
    await clock.advance(1_500)
    expect(agent.getState()).toBe('CONNECTED')
    await agent.destroy()
  })

  it.each([1000, 1005])('[REL-102] says what the host can do when the chat has ended (close code %s)', async code => {
    const { agent, clock, emulator, closes } = await setUpConnected()
    emulator.control.dropSockets(code)
    await clock.advance(0)
    expect(closes()).toEqual([
      {
        code,
        reason: expect.any(String),
        cause: 'ended_by_service',
        willReconnect: false,
        remedy: expect.stringContaining('connect()'),
      },
    ])
    await agent.connect()
    expect(agent.getState()).toBe('CONNECTED')
    await agent.destroy()
  })

  it('[REL-102] says so when no attempt is left', async () => {
    const { agent, clock, emulator, closes } = await setUpConnected({ maxReconnectAttempts: 0 })
    emulator.control.dropSockets()
    await clock.advance(0)
    expect(closes()).toMatchObject([{ cause: 'network', willReconnect: false, remedy: expect.any(String) }])
    await agent.destroy()
  })

  it('[REL-102] names a session that the service has forgotten, which is replaced', async () => {
    const { agent, clock, emulator, closes } = await setUpConnected()
    const session = lastSession(emulator)
    emulator.control.forgetSession(session)
    await clock.advance(2_000)
    expect(closes()).toMatchObject([{ code: 4404, cause: 'session_unknown', willReconnect: true }])
    expect(lastSession(emulator)).not.toBe(session)
    await agent.destroy()
  })

  it.each([true, false])('[REL-102] has no remedy when the host has left (goodbye: %s)', async says => {
    const { agent, clock, closes } = await setUpConnected()
    await passing(clock, agent.disconnect({ skipGracefulDisconnect: !says }))
    expect(closes()).toEqual([{ code: 1000, reason: expect.any(String), cause: 'left', willReconnect: false }])
    await agent.destroy()
  })
})

describe('connectOnSend', () => {
  it('[REL-103] opens the chat for the first message, sent before or after initialize()', async () => {
    for (const isBefore of [true, false]) {
      const { clock, emulator, make } = setUp()
      const { agent } = make({ connectOnSend: true })
      if (isBefore) await agent.send('hello')
      await agent.initialize()
      if (!isBefore) {
        await clock.advance(1_000)
        expect(agent.getState()).toBe('IDLE')
        await agent.send('hello')
      }
      await framesArrived(emulator, 1)
      expect(sentTo(emulator)).toEqual(['hello'])
      await agent.destroy()
    }
  })

  it.each([
    ['send()', false],
    ['ask()', true],
  ])('[REL-103] %s reopens a chat that the service has closed', async (_name, isQuestion) => {
    const { agent, clock, emulator } = await setUpConnected({ connectOnSend: true })
    emulator.control.dropSockets(1000)
    await clock.advance(60_000)
    expect(agent.getState()).toBe('CLOSED')
    if (isQuestion) expect((await passing(clock, agent.ask('again'))).content).toBe('You said: again')
    else await agent.send('again')
    await framesArrived(emulator, 1)
    expect([sentTo(emulator), emulator.world.sessions.size]).toEqual([['again'], 1])
    await agent.destroy()
  })

  it('[REL-103] creates a new session where the service has ended the old one', async () => {
    const { agent, clock, emulator } = await setUpConnected({ connectOnSend: true })
    const session = lastSession(emulator)
    emulator.control.endSession(session)
    await clock.advance(0)
    await agent.send('a new start')
    await clock.advance(3_000)
    expect(lastSession(emulator)).not.toBe(session)
    expect(sentTo(emulator)).toEqual(['a new start'])
    await agent.destroy()
  })

  it('[REL-103] reopens a chat that is being left', async () => {
    const { agent, clock, emulator } = await setUpConnected({ connectOnSend: true })
    const left = agent.disconnect()
    await agent.send('wait, one more')
    await passing(clock, left)
    await framesArrived(emulator, 2)
    expect(sentTo(emulator)).toEqual(['graceful disconnect', 'wait, one more'])
    await agent.destroy()
  })

  it('[REL-103] opens nothing for a message that is refused, and nothing where it is off', async () => {
    const { clock, make } = setUp()
    const { agent } = make({ connectOnSend: true })
    await agent.initialize()
    expect(await rejection(agent.send({ content: 'x', persona: '' }))).toMatchObject({ reason: 'invalid' })
    const { agent: other } = make()
    await other.initialize()
    await other.send('hello')
    await clock.advance(1_000)
    expect([agent.getState(), other.getState()]).toEqual(['IDLE', 'IDLE'])
    await Promise.all([agent.destroy(), other.destroy()])
  })
})
