import { describe, expect, it } from 'vitest'
import { namesOf, payloadsOf, rejection, requestsTo, sessionBodies, setUp } from '../../test/agent-harness.ts'
import { FakeStorage } from '../../test/fake-service.ts'
import type { AiAgentConfig } from '../config.ts'

/** A contact-center agent with the token of an employee. */
function setUpDesk(config: Partial<AiAgentConfig> = {}, subject = 'desk-agent') {
  const sessionStorage = new FakeStorage()
  const parts = setUp({}, { sessionStorage })
  const make = (more: Partial<AiAgentConfig> = {}) => {
    const accessToken = parts.emulator.control.issueToken({ subject })
    const { agent, told } = parts.make({ id: 'desk', auth: { type: 'pre-auth', accessToken }, ...config, ...more })
    for (const name of ['portalsAvailable', 'agentsAvailable', 'profilesAvailable'] as const)
      agent.on(name, event => void told.push({ name, event }))
    return { agent, told }
  }
  return { ...parts, sessionStorage, make, ...make() }
}

describe('an agent with portals', () => {
  it('[FLOW-01] [FLOW-26] stops at the first gate, and opens no session before completion and connect()', async () => {
    const { emulator, agent, told } = setUpDesk()
    await agent.initialize()
    expect(agent.getIsInitialized()).toBe(false)
    const [offer] = payloadsOf(told, 'portalsAvailable')
    expect(offer?.portals.map(({ id }) => id)).toEqual([1001, 1002, 1101])
    const before = requestsTo(emulator).length
    await agent.initialize()
    expect(requestsTo(emulator)).toHaveLength(before)
    await agent.selectPortal({ id: 1002 })
    expect(agent.getIsInitialized()).toBe(true)
    expect(requestsTo(emulator).filter(line => line.endsWith('session'))).toEqual([])
    await agent.connect()
    expect(sessionBodies(emulator)).toMatchObject([
      { context: { vendor_portal_id: { value: '1002', notInLLM: true } } },
    ])
    expect(payloadsOf(told, 'initialized')).toMatchObject([
      {
        agent: { agentId: 'desk' },
        portal: { id: 1002 },
        availablePortals: [{ id: 1001 }, { id: 1002 }, { id: 1101 }],
      },
    ])
  })

  it('[FLOW-12] [CFG-12] selects the portal of the context; that of initialize() precedes the configured one', async () => {
    const { agent, told } = setUpDesk({ context: { vendor_portal_id: '1001' } })
    await agent.initialize({ context: { vendor_portal_id: { value: '1002' } } })
    expect(payloadsOf(told, 'initialized').map(({ portal }) => portal?.id)).toEqual([1002])
  })

  it('[INIT-08] lets the user select an agent; the chat and the context use its id', async () => {
    const { clock, emulator, sessionStorage, agent, told } = setUpDesk({
      initParams: { isDefaultAgent: 'true', departmentId: '999' },
      context: { plan: 'gold' },
    })
    await agent.initialize()
    if (namesOf(told).includes('portalsAvailable')) await agent.selectPortal({ id: 1001 })
    const [offer] = payloadsOf(told, 'agentsAvailable')
    const picked = offer?.agents[1]
    if (!picked) throw new Error('Expected two agents.')
    await agent.selectAgent(picked)
    if (!agent.getIsInitialized())
      await agent.selectUserProfile(payloadsOf(told, 'profilesAvailable')[0]?.profiles[0] ?? { id: 0 })
    await agent.connect()
    expect(
      emulator.control
        .requests()
        .filter(({ path }) => path.endsWith('/session'))
        .map(({ path }) => path),
    ).toEqual([expect.stringContaining(`/agent/${picked.agentId}/session`)])
    await agent.send('hello')
    for (let steps = 0; steps < 100 && payloadsOf(told, 'agentMessage').length === 0; steps++) await clock.advance(10)
    expect(payloadsOf(told, 'agentMessage')[0]?.from.name).toBe(picked.name)
    expect(sessionStorage.getItem(`aiagent_context_${picked.agentId}`)).toContain('gold')
    expect(sessionStorage.getItem('aiagent_context_desk')).toBeNull()
  })

  it('[FLOW-13] stores the profile in session storage, under the deployment’s prefix', async () => {
    const { sessionStorage, agent } = setUpDesk({ context: { vendor_portal_id: '1002' } })
    await agent.initialize()
    expect(JSON.parse(sessionStorage.getItem('v2_acmeselectedProfile-1002') ?? '{}')).toMatchObject({ portalId: 1002 })
  })

  it('[FLOW-06] fetches the signed-in user only for an agent that requires one', async () => {
    const { emulator, agent } = setUpDesk({ context: { vendor_portal_id: '1002' } })
    await agent.initialize()
    expect(agent.getUserDetails()).toMatchObject({ id: expect.anything() })
    const { emulator: open, make } = setUp()
    const { agent: anonymous } = make()
    await anonymous.initialize()
    expect(anonymous.getUserDetails()).toBeNull()
    expect(requestsTo(open).filter(line => /user$|customer$/.test(line))).toEqual([])
    expect(requestsTo(emulator).filter(line => /user$/.test(line))).toHaveLength(1)
  })

  it('rejects a selection without portals, or before initialize()', async () => {
    const { make } = setUp()
    const { agent } = make()
    expect(await rejection(agent.selectPortal({ id: 1 }))).toMatchObject({ code: 'NOT_INITIALIZED' })
    await agent.initialize()
    expect(await rejection(agent.selectUserProfile({ id: 1 }))).toMatchObject({ code: 'NOT_INITIALIZED' })
  })
})
