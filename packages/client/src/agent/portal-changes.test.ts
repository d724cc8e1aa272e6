import { eventually } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { passing, payloadsOf, receivedTexts, rejection, sendInDoubt, setUp } from '../../test/agent-harness.ts'
import type { AiAgentConfig } from '../config.ts'

function setUpDesk(config: Partial<AiAgentConfig> = {}) {
  const parts = setUp()
  const accessToken = parts.emulator.control.issueToken({ subject: 'desk-agent' })
  const auth = { type: 'pre-auth', accessToken } as const
  const context = { vendor_portal_id: '1002' }
  const cache = { enabled: false }
  return { ...parts, ...parts.make({ id: 'desk', auth, context, cache, ...config }) }
}

describe('changes of portal that come at the same time', () => {
  it('[FLOW-21] let the newer of two restarts win', async () => {
    const { clock, agent, told } = setUpDesk()
    await agent.initialize()
    await agent.connect()
    const older = rejection(agent.restartPortalInitializer())
    await passing(clock, agent.restartPortalInitializer())
    expect(await older).toMatchObject({ code: 'ABORTED' })
    expect(payloadsOf(told, 'initialized')).toHaveLength(2)
    expect(agent.getIsInitialized()).toBe(true)
  })

  it('[FLOW-21] [FLOW-26] let a restart replace a start in progress, which is reported once', async () => {
    const { clock, emulator, agent, told } = setUpDesk()
    emulator.faults.add({ kind: 'hang-request', route: 'GET */myportals', times: 1 })
    const starting = rejection(agent.initialize())
    while (!emulator.control.requests().some(({ path }) => path.endsWith('/portals/user'))) await clock.advance(0)
    await passing(clock, agent.restartPortalInitializer())
    expect(await starting).toMatchObject({ code: 'ABORTED' })
    emulator.faults.lift({})
    await agent.initialize()
    expect(payloadsOf(told, 'initialized')).toHaveLength(1)
    expect(agent.getIsInitialized()).toBe(true)
  })

  it('[FLOW-21] leave a destroyed agent destroyed', async () => {
    const { agent, told } = setUpDesk()
    await agent.initialize()
    const restarting = rejection(agent.restartPortalInitializer())
    await agent.destroy()
    expect(await restarting).toMatchObject({ code: 'ABORTED' })
    expect(await rejection(agent.initialize())).toMatchObject({ code: 'ABORTED' })
    expect(payloadsOf(told, 'initialized')).toHaveLength(1)
  })

  it('[REL-84] [FLOW-25] a switch leaves a message in doubt behind, also with at-least-once', async () => {
    const { clock, emulator, agent } = setUpDesk({
      delivery: 'at-least-once',
      initParams: { portalIds: '1002,1001' },
    })
    await agent.initialize()
    await agent.connect()
    const id = await sendInDoubt(agent, emulator, 'Cancel the order')
    await passing(clock, agent.selectPortal({ id: 1001 }))
    await passing(clock, agent.connect())
    await agent.send('Hello')
    await clock.advance(60_000)
    expect(receivedTexts(emulator)).toEqual([[], ['Hello']])
    expect(agent.delivery(id)).toMatchObject({ state: 'unknown', reason: 'session_ended' })
    await agent.destroy()
  })

  it('[FLOW-25] do not connect when the user signs out before the switch is complete', async () => {
    const { clock, agent } = setUpDesk({ initParams: { portalIds: '1002,1101' } })
    await agent.initialize()
    await agent.connect()
    await passing(clock, agent.selectPortal({ id: 1101 }))
    expect(agent.getIsInitialized()).toBe(false)
    await passing(clock, agent.logout())
    await agent.initialize({ context: { vendor_portal_id: '1002' } })
    expect([agent.getIsInitialized(), agent.getState()]).toEqual([true, 'CLOSED'])
  })

  it('[FLOW-25] do not connect when the host disconnects before the switch is complete', async () => {
    const { clock, agent, told } = setUpDesk({ initParams: { portalIds: '1002,1101' } })
    agent.on('profilesAvailable', event => void told.push({ name: 'profilesAvailable', event }))
    await agent.initialize()
    await agent.connect()
    await passing(clock, agent.selectPortal({ id: 1101 }))
    await agent.disconnect()
    await agent.selectUserProfile(payloadsOf(told, 'profilesAvailable')[0]?.profiles[0] ?? { id: 0 })
    expect([agent.getIsInitialized(), agent.getState()]).toEqual([true, 'CLOSED'])
  })

  it('[FLOW-25] connect again where the first switch fails and the next one succeeds', async () => {
    const { clock, emulator, agent } = setUpDesk({ initParams: { portalIds: '1002,1001' } })
    await agent.initialize()
    await agent.connect()
    emulator.faults.add({ kind: 'answer', status: 500, route: 'GET */internal/portals/1001', times: 1 })
    await passing(clock, rejection(agent.selectPortal({ id: 1001 })))
    expect(agent.getState()).toBe('CLOSED')
    await passing(clock, agent.selectPortal({ id: 1001 }))
    await eventually(() => agent.isConnected(), 'the chat is open again')
  })

  it('[FLOW-21] leave the chat closed when a restart follows a switch that failed', async () => {
    const { clock, emulator, agent } = setUpDesk({ initParams: { portalIds: '1002,1001' } })
    await agent.initialize()
    await agent.connect()
    emulator.faults.add({ kind: 'answer', status: 500, route: 'GET */internal/portals/1001', times: 1 })
    await passing(clock, rejection(agent.selectPortal({ id: 1001 })))
    await passing(clock, agent.restartPortalInitializer())
    expect([agent.getIsInitialized(), agent.getState()]).toEqual([true, 'CLOSED'])
  })
})

describe('[REL-116] the load of a restart', () => {
  it('ends with destroy(), also while a rate limit is waited out', async () => {
    const { clock, emulator, make } = setUp()
    const auth = { type: 'pre-auth', accessToken: emulator.control.issueToken({ subject: 'desk-agent' }) } as const
    const { agent } = make({ id: 'desk', auth })
    await agent.initialize()
    emulator.faults.add({ kind: 'rate-limit', only: 'requests', times: 4 })
    const restarting = rejection(agent.restartPortalInitializer())
    await clock.advance(100)
    await passing(clock, agent.destroy())
    expect(await restarting).toMatchObject({ code: expect.any(String) })
    expect(clock.pendingTimers).toBe(0)
  })
})
