import { paths } from '@aiagent/protocol'
import { eventually } from '@aiagent/test-support'
import { expect } from 'vitest'
import { chosen, openDesk, persisted, sessionAgents } from '../desk.ts'
import { Journal } from '../journal.ts'
import { openPlatform, watchedComponent } from '../platform.ts'
import { verifies } from '../verifies.ts'

verifies('OPS-01', 'getAgentDetails() and getDeploymentInfo() also work before initialize()', async service => {
  const agent = service.newAgent({ initParams: { userid: 'u-7' } })
  expect(await agent.getAgentDetails()).toMatchObject({ agentId: 'help', name: 'Help Desk' })
  expect(await agent.getDeploymentInfo()).toMatchObject({ apiDomain: expect.any(String), tenantId: 'TEN0001' })
  expect(agent.getInitParams()).toEqual({ userid: 'u-7' })
  expect(agent.getIsInitialized()).toBe(false)
})

verifies('OPS-01', 'initialize(), connect() and send() lead to an answer', async service => {
  const agent = service.newAgent()
  const journal = new Journal(agent)
  await agent.initialize({ context: { plan: 'gold' } })
  expect([agent.getIsInitialized(), agent.isConnected(), journal.of('initialized').length]).toEqual([true, false, 1])
  await agent.connect()
  expect([agent.isConnected(), service.openings.length]).toEqual([true, 1])
  const id = await agent.send('Hello')
  expect(id).not.toBe('')
  await eventually(() => journal.answers.length)
  expect([service.said(), journal.answers]).toEqual([['Hello'], ['You said: Hello']])
})

verifies(
  'OPS-01',
  'maskContent() masks with the service’s rules, and leaves text unchanged before they are loaded',
  async service => {
    const agent = service.newAgent({ id: 'billing' })
    const text = 'My card is 4111 1111 1111 1111.'
    expect(agent.maskContent(text)).toBe(text)
    await agent.initialize()
    expect(agent.maskContent(text)).toBe('My card is ***************1111.')
    expect(agent.maskContent('nothing to hide')).toBe('nothing to hide')
  },
)

verifies('OPS-01', 'setContext(), getContext() and removeContext() manage the context', async service => {
  const agent = await service.connectedAgent()
  const journal = new Journal(agent)
  await agent.setContext({ plan: 'gold' }, { sendImmediately: true })
  await agent.send('What do you know of me?')
  await eventually(() => journal.answers.length)
  expect([agent.getContext(), journal.answers]).toEqual([{ plan: 'gold' }, ['{"plan":"gold"}']])
  await agent.removeContext()
  expect(agent.getContext()).toBeNull()
  await service.through(agent.restartConnection())
  expect(service.requestsTo(paths.session('help'), 'POST').at(-1)?.body ?? '').not.toContain('gold')
})

verifies('OPS-01', 'restartConnection() starts a new conversation', async service => {
  const agent = await service.connectedAgent({ context: { plan: 'gold' } })
  const first = service.session
  await agent.send('Hello')
  await eventually(() => service.said(first).length)
  await service.through(agent.restartConnection())
  expect([service.openings.length, agent.isConnected(), agent.getTranscriptSize()]).toEqual([2, true, 0])
  expect(service.session).not.toBe(first)
  expect(JSON.parse(service.requestsTo(paths.session('help'), 'POST').at(-1)?.body ?? '')).toEqual({
    context: { plan: 'gold' },
  })
})

verifies('OPS-01', 'updateAccessToken() sends the new token on an open chat', async service => {
  const auth = { type: 'pre-auth', accessToken: service.control.issueToken() } as const
  const agent = await service.connectedAgent({ id: 'account', auth })
  const next = service.control.issueToken({ lifeSeconds: 7200 })
  await agent.updateAccessToken(next)
  expect(await agent.getAccessToken()).toBe(next)
  const tokens = () => service.frames().filter(({ role }) => role === 'token')
  await eventually(() => tokens().length === 2)
  expect(JSON.stringify(tokens().at(-1))).toContain(next)
})

verifies('OPS-01', 'getUserDetails() returns the signed-in user, and logout() clears it', async service => {
  const auth = { type: 'pre-auth', accessToken: service.control.issueToken() } as const
  const agent = await service.connectedAgent({ id: 'account', auth, context: { plan: 'gold' } })
  expect(agent.getUserDetails()).toMatchObject({ name: expect.any(String) })
  await service.through(agent.logout())
  expect([agent.isConnected(), agent.getIsInitialized(), agent.getUserDetails()]).toEqual([false, false, null])
  expect([agent.getContext(), await agent.getAccessToken()]).toEqual([null, null])
})

verifies(
  'OPS-01',
  'selectPortal(), selectUserProfile() and updateUserProfile() choose and change portal and profile',
  async service => {
    const { agent, journal } = openDesk(service)
    await agent.initialize()
    await agent.selectPortal({ id: 1101 })
    await agent.selectUserProfile({ id: 31 })
    await agent.connect()
    expect(chosen(journal)).toEqual([[1101, 31]])
    await service.through(agent.updateUserProfile({ id: 30, name: 'Private' }))
    expect(chosen(journal)).toEqual([
      [1101, 31],
      [1101, 30],
    ])
    expect(persisted(service)).toEqual(['1101/31', '1101/30'])
  },
)

verifies('OPS-01', 'selectAgent() and restartPortalInitializer() choose another agent', async service => {
  const context = { vendor_portal_id: '1001' }
  const { agent, journal } = openDesk(service, { context, initParams: { isDefaultAgent: 'true' } })
  await agent.initialize()
  await agent.selectAgent({ agentId: 'desk-orders' })
  await agent.connect()
  await service.through(agent.restartPortalInitializer())
  expect(journal.of('agentsAvailable')).toHaveLength(2)
  await agent.selectAgent({ agentId: 'desk' })
  await agent.connect()
  expect(sessionAgents(service)).toEqual(['desk-orders', 'desk'])
  await service.through(agent.restartCcHostInitializer())
  expect(journal.of('agentsAvailable')).toHaveLength(3)
  expect(service.printed.filter(line => /restartCcHostInitializer\(\) is deprecated/.test(line))).toHaveLength(1)
})

verifies('OPS-01', 'the call operations return what the platform reported', async service => {
  const { component, hook } = watchedComponent()
  const { agent, journal } = openPlatform(service, {}, { component })
  await agent.initialize()
  expect([agent.getCallTranscript(), agent.getCallerInfo(), agent.getConversationId()]).toEqual([[], null, null])
  hook().addToTranscript({ sender: 'customer', content: 'My parcel is late' })
  hook().setCallerInfo({ name: 'Customer' })
  hook().setConversationId('call-7')
  expect(agent.getCallTranscript()).toMatchObject([{ sender: 'customer', content: 'My parcel is late' }])
  expect([agent.getCallerInfo()?.name, agent.getConversationId()]).toEqual(['Customer', 'call-7'])
  agent.clearCallTranscript()
  expect([agent.getCallTranscript(), journal.of('callTranscriptUpdate').length]).toEqual([[], 2])
})
