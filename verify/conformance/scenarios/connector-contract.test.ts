import { paths } from '@aiagent/protocol'
import { eventually } from '@aiagent/test-support'
import { expect } from 'vitest'
import { chosen, LISTS, rejection } from '../desk.ts'
import { openPlatform, watchedComponent } from '../platform.ts'
import { verifies } from '../verifies.ts'
import type { Service } from '../wire.ts'

/** A contact-center agent with an open chat in portal 1002, and the hook of its connector. */
async function openHook(service: Service, subject?: string) {
  const { component, hook } = watchedComponent()
  const context = { vendor_portal_id: '1002', plan: 'gold', user_filter_tags: { language: ['en'] } }
  const initParams = { own: 'kept', platform: 'Acme' }
  const desk = openPlatform(service, initParams, { component, config: { context }, ...(subject && { subject }) })
  await desk.agent.initialize()
  await desk.agent.connect()
  return { ...desk, hook: hook() }
}

verifies('OPS-02', 'the hook returns the current state', async service => {
  const { agent, hook } = await openHook(service)
  const initParams = { platform: 'Acme', env: 'dev', own: 'kept' }
  expect([hook.getInitParams(), hook.getQueryParams()]).toEqual([initParams, initParams])
  hook.getInitParams()['own'] = 'changed'
  expect(agent.getInitParams()).toEqual(initParams)
  expect(hook.getAgentDetails()).toMatchObject({ agentId: 'desk', departmentId: 999 })
  expect(hook.getDeploymentInfo()).toMatchObject({ tenant_identifier: 'acme' })
  expect([hook.getPlatformType(), hook.getEnvironment(), hook.getTenantId()]).toEqual(['Acme', 'dev', 'TEN0001'])
  expect([hook.getUserId(), hook.getSelectedPortal()]).toMatchObject(['desk-agent', { id: 1002, name: 'Installation' }])
  expect(await hook.getAccessToken()).toBe(await agent.getAccessToken())
  expect(hook.getMsalAccessToken()).toBe(await agent.getAccessToken())
  expect(hook.getAuthScopes()).toEqual(['knowledge.portalmgr.manage', 'core.aiservices.read'])
  expect([hook.getTranscript(), hook.getCallerInfo(), hook.getConversationId()]).toEqual([[], null, null])
})

verifies(
  'OPS-02',
  'the hook knows the user before the portal choice, and the portal from its choice on',
  async service => {
    const seen: unknown[] = []
    const { component, hook } = watchedComponent({
      initPlatform: () => void seen.push([hook().getSelectedPortal(), hook().getUserId()]),
      onPortalSelected: () => void seen.push([hook().getSelectedPortal()?.id, hook().getUserId()]),
    })
    const { agent } = openPlatform(service, { portalIds: '1001,1002' }, { component })
    await agent.initialize()
    await agent.selectPortal({ id: 1002 })
    expect(seen).toEqual([
      [null, 'desk-agent'],
      ['1002', 'desk-agent'],
    ])
  },
)

verifies(['OPS-02', 'EVT-03'], 'call facts set through the hook are emitted and can be read', async service => {
  const { agent, journal, hook } = await openHook(service)
  hook.addToTranscript({ sender: 'customer', content: 'My router is red.', timestamp: new Date(0) })
  hook.addToTranscript({ sender: 'agent', content: 'I see.' })
  expect(agent.getCallTranscript()).toEqual(hook.getTranscript())
  expect(agent.getCallTranscript()[0]?.timestamp).toEqual(new Date(0))
  hook.setCallerInfo({ name: 'Customer', tier: 2 })
  expect([agent.getCallerInfo(), hook.getCallerInfo()]).toEqual([
    { name: 'Customer', tier: 2 },
    { name: 'Customer', tier: 2 },
  ])
  hook.setConversationId(7)
  expect([agent.getConversationId(), hook.getConversationId()]).toEqual(['7', '7'])
  expect(journal.of('callTranscriptUpdate').map(({ entry, entries }) => [entry?.sender, entries.length])).toEqual([
    ['customer', 1],
    ['agent', 2],
  ])
  expect(journal.of('callerInfoUpdate')).toEqual([{ callerInfo: { name: 'Customer', tier: 2 } }])
  expect(journal.of('conversationIdUpdate')).toEqual([{ conversationId: '7' }])
})

verifies(
  ['OPS-02', 'EVT-03'],
  'user context and filter tags are merged with existing ones, here and in the agent context',
  async service => {
    const { agent, journal, hook } = await openHook(service)
    hook.setUserContext({ callId: 1, queue: 'a' })
    hook.setUserContext({ queue: 'b' })
    hook.setUserFilterTags({ product: ['router'], area: ['home'] })
    hook.setUserFilterTags({ product: ['switch'] })
    const tags = { product: ['switch'], area: ['home'] }
    expect(hook.getUserContext()).toEqual({ callId: 1, queue: 'b', user_filter_tags: tags })
    expect(agent.getContext()).toMatchObject({ plan: 'gold', user_filter_tags: { language: ['en'], ...tags } })
    expect(journal.of('userContextUpdate')).toHaveLength(4)
    expect(journal.of('filterTagsUpdate').at(-1)).toEqual({ filterTags: tags })
    await service.through(agent.restartConnection())
    const post = service.requestsTo(paths.session('desk'), 'POST').at(-1)
    expect(JSON.parse(post?.body ?? '').context).toMatchObject({ user_filter_tags: { language: ['en'], ...tags } })
  },
)

verifies(
  'OPS-02',
  'the sign-in of the platform affects neither the token nor the requests of the agent',
  async service => {
    const { agent, journal, hook } = await openHook(service)
    const token = await agent.getAccessToken()
    const events = journal.types.length
    hook.setPlatformAuthenticated(true)
    hook.setPlatformToken('token-of-the-platform')
    expect([hook.getMsalAccessToken(), await hook.getAccessToken(), journal.types.length]).toEqual([
      token,
      token,
      events,
    ])
    await service.through(agent.restartConnection())
    expect(JSON.stringify([service.control.requests(), service.frames()])).not.toContain('token-of-the-platform')
    hook.setPlatformAuthenticated(false)
    hook.setPlatformToken(null)
    expect([agent.isConnected(), hook.getMsalAccessToken()]).toEqual([true, token])
  },
)

verifies('OPS-02', 'widget actions reach subscribers until they unsubscribe', async service => {
  const { journal, hook } = await openHook(service)
  const actions: unknown[] = []
  const leave = hook.subscribeToAgentWidgetActions((action, data) => void actions.push([action, data]))
  const source = { id: 's-1', title: 'Reset', url: 'https://help.example/reset' }
  const intent = { id: 'i-1', intent: 'reset', confidence: 0.9 }
  hook.onSourceClick(source)
  hook.onIntentConfirm(intent)
  expect(actions).toEqual([
    ['sourceClick', source],
    ['intentConfirm', intent],
  ])
  hook.onUserMessage('hello')
  await eventually(() => journal.answers.length)
  expect(journal.answers).toEqual(['You said: hello'])
  expect(actions.slice(2).map(each => (each as unknown[])[0])).toContain('message')
  const heard = actions.length
  leave()
  hook.onSourceClick(source)
  hook.onUserMessage('again')
  await eventually(() => journal.answers.length === 2)
  expect(actions).toHaveLength(heard)
})

verifies('OPS-02', 'a connector message that cannot be sent emits an error event', async service => {
  const { agent, journal, hook } = await openHook(service)
  hook.onUserMessage(undefined as unknown as string)
  await eventually(() => journal.of('error').length)
  await agent.destroy()
  hook.onUserMessage('too late')
  expect(journal.errorCodes).toHaveLength(1)
})

verifies(
  'OPS-03',
  'component members are called in order: hook, own functions, scopes, platform, portals',
  async service => {
    const asked: unknown[] = []
    const before = () => timesOfLists(service)
    const { component } = watchedComponent({
      setHookContract: () => void asked.push('setHookContract'),
      loadCustomHook: () => void asked.push('loadCustomHook'),
      addCustomAuthScopes: async (scopes: string[]) => {
        asked.push(['addCustomAuthScopes', scopes.length > 0, service.requestsTo(paths.userDetails()).length])
        return [...scopes, 'desk.read']
      },
      initPlatform: async () =>
        void asked.push(['initPlatform', service.requestsTo(paths.userDetails()).length, before()]),
      getPortalList: async (list: unknown[]) => {
        asked.push(['getPortalList', before()])
        return list
      },
      getDefaultPortal: async (list: { id: unknown }[]) => {
        asked.push('getDefaultPortal')
        return list[1]
      },
      onPortalSelected: async ({ id }: { id: unknown }) => {
        asked.push(['onPortalSelected', id])
        return { portal: [String(id)] }
      },
    })
    const { agent, journal } = openPlatform(service, {}, { component })
    await agent.initialize()
    expect(asked).toEqual([
      'setHookContract',
      'loadCustomHook',
      ['addCustomAuthScopes', true, 0],
      // The user is known by then, and no list was requested.
      ['initPlatform', 1, 0],
      ['getPortalList', 1],
      'getDefaultPortal',
      ['onPortalSelected', 1002],
    ])
    expect(chosen(journal)).toEqual([[1002, 20]])
    expect(agent.getContext()).toMatchObject({ user_filter_tags: { portal: ['1002'] } })
  },
)

verifies('OPS-03', 'host scopes are used unchanged: the component is not called', async service => {
  const { component, asked, hook } = watchedComponent({ addCustomAuthScopes: () => ['desk.read'] })
  const { agent } = openPlatform(service, { scopes: 'one,two', portalIds: '1002' }, { component })
  await agent.initialize()
  expect(asked).not.toContain('addCustomAuthScopes')
  expect(hook().getAuthScopes()).toEqual(['one', 'two'])
})

verifies('OPS-03', 'a result that is not a list of scopes is ignored with a warning', async service => {
  const { component, hook } = watchedComponent({ addCustomAuthScopes: () => 'desk.read' })
  const { agent } = openPlatform(service, { portalIds: '1002' }, { component })
  await agent.initialize()
  expect(hook().getAuthScopes()).not.toContain('desk.read')
  expect(service.printed.join('\n')).toContain('addCustomAuthScopes')
})

verifies('OPS-03', 'an unreachable platform rejects initialize(), which may be called again', async service => {
  let closed = true
  const { component, asked } = watchedComponent({
    initPlatform: async () => {
      if (closed) throw new Error('the desk is closed')
    },
  })
  const { agent } = openPlatform(service, { portalIds: '1002' }, { component })
  const error = await rejection(agent.initialize())
  expect(error).toMatchObject({ code: 'CONNECTOR_FAILED', cause: { message: 'the desk is closed' } })
  expect(error.message).toContain('initPlatform()')
  closed = false
  await agent.initialize()
  expect(agent.getIsInitialized()).toBe(true)
  // Connected only once.
  await service.through(agent.restartPortalInitializer())
  expect(asked.filter(name => name === 'initPlatform')).toHaveLength(2)
})

verifies('OPS-03', 'failing filter tags count as none, with a warning, and initialization continues', async service => {
  const { component } = watchedComponent({
    onPortalSelected: async () => {
      throw new Error('no tags today')
    },
  })
  const { agent, journal } = openPlatform(service, { defaultPortal: '1002', portalIds: '1002' }, { component })
  await agent.initialize()
  expect(chosen(journal)).toEqual([['1002', 20]])
  expect(journal.of('filterTagsUpdate')).toEqual([{ filterTags: {} }])
  expect(service.printed.join('\n')).toMatch(/\[WARN\].*connector.*portal/i)
})

const timesOfLists = (service: Service) => service.requestsTo(LISTS.my).length
