import { paths } from '@aiagent/protocol'
import { eventually } from '@aiagent/test-support'
import { expect } from 'vitest'
import { chosen, countRequests, idsOf, LISTS, rejection } from '../desk.ts'
import { openPlatform, QUIET, watchedComponent } from '../platform.ts'
import { verifies } from '../verifies.ts'
import type { Service } from '../wire.ts'

const scriptOf = (base: string, platform: string) =>
  `${base}/ai-agent-connector-${platform}/web/static/connector-ai-agent.js`

/** Query parameters of the chat connections. */
const openings = (service: Service) =>
  service.control.requests().flatMap(({ status, query }) => (status === 101 ? [query['externalCallId']] : []))

verifies(
  'INIT-10',
  'each platform has its own script, and the test platform uses the demonstration connector',
  async service => {
    for (const [platform, folder] of [
      ['standalone', 'standalone'],
      ['test', 'standalone'],
      [' Test ', 'standalone'],
    ] as const) {
      const { agent, loaded } = openPlatform(service, { platform })
      await agent.initialize()
      expect(loaded).toEqual([scriptOf(service.endpoint, folder)])
    }
    expect(service.requestsTo(new URL(scriptOf(service.endpoint, 'standalone')).pathname)).toHaveLength(3)
    const { agent, loaded } = openPlatform(service, { platform: 'Acme-Desk' }, { component: QUIET })
    await agent.initialize()
    expect(loaded).toEqual([scriptOf(service.endpoint, 'acme-desk')])
  },
)

verifies('INIT-10', 'the script loads for every type of agent, and not without a platform', async service => {
  const { component, asked } = watchedComponent()
  const help = openPlatform(service, {}, { component, config: { id: 'help' } })
  await help.agent.initialize()
  expect([help.loaded.length, asked]).toEqual([1, ['setHookContract', 'initPlatform']])
  const none = openPlatform(service, { platform: ' ' }, { component })
  await none.agent.initialize()
  expect(none.loaded).toEqual([])
})

verifies('INIT-10', 'a missing address, or a platform name that leaves its folder, is a clear error', async service => {
  const refused = async (
    initParams: Record<string, string>,
    connector: object = { baseUrls: { dev: service.endpoint } },
  ) => {
    const { agent, loaded } = openPlatform(service, initParams, { component: QUIET, config: { connector } })
    const { code, field, message } = await rejection(agent.initialize())
    expect([loaded, agent.getIsInitialized()]).toEqual([[], false])
    return [code, field, message]
  }
  expect(await refused({ env: 'qa' })).toEqual(['CONFIG_INVALID', 'connector', expect.stringContaining("'qa'")])
  expect(await refused({}, {})).toEqual(['CONFIG_INVALID', 'connector', expect.stringContaining('connectorUrl')])
  for (const platform of ['../evil', 'a/b', 'a.b', '%2e%2e', '1desk', 'desk?x'])
    expect(await refused({ platform })).toEqual(['CONFIG_INVALID', 'initParams.platform', expect.any(String)])
})

verifies('INIT-10', 'a script that is missing or registers nothing is an error with its address', async service => {
  const missing = openPlatform(service, { platform: 'acme' })
  const url = scriptOf(service.endpoint, 'acme')
  expect(await rejection(missing.agent.initialize())).toMatchObject({ code: 'CONNECTOR_FAILED', url })
  const empty = openPlatform(service, {}, { component: { notMuch() {} } })
  const error = await rejection(service.through(empty.agent.initialize()))
  expect(error).toMatchObject({ code: 'CONNECTOR_FAILED', message: expect.stringContaining(service.endpoint) })
})

verifies(
  ['INIT-11', 'CFG-13'],
  '`env`, else the label of the host, chooses the base; an unknown value is prod',
  async service => {
    const bases = ['dev', 'qa', 'non-prod', 'prod']
    const baseUrls = Object.fromEntries(bases.map(name => [name, `${service.endpoint}/${name}`]))
    const load = async (env: string | undefined, environment?: string) => {
      const { component, hook } = watchedComponent()
      const { agent, loaded } = openPlatform(
        service,
        { env: env ?? '' },
        { component, config: { connector: { baseUrls, ...(environment !== undefined && { environment }) } } },
      )
      await agent.initialize()
      const { pathname } = new URL(loaded[0] ?? '')
      expect(hook().getEnvironment()).toBe(pathname.split('/')[1])
      return hook().getEnvironment()
    }
    for (const name of bases) expect([await load(name), await load(undefined, name)]).toEqual([name, name])
    expect(await load('DEV')).toBe('dev')
    expect(await load('staging')).toBe('prod')
    expect(await load('staging', 'dev')).toBe('prod')
    expect(await load('qa', 'dev')).toBe('qa')
    expect(await load(undefined)).toBe('prod')
  },
)

verifies('CFG-13', '`connectorUrl` overrides every built address', async service => {
  const connectorUrl = scriptOf(service.endpoint, 'standalone')
  const { agent, loaded } = openPlatform(
    service,
    { platform: 'Other', env: 'prod' },
    { config: { connector: { connectorUrl, baseUrls: { prod: 'https://elsewhere.example' } } } },
  )
  await agent.initialize()
  expect(loaded).toEqual([connectorUrl])
  expect(agent.getConversationId()).toBe('call-1001')
})

verifies(
  ['FLOW-16', 'FLOW-12', 'EVT-01'],
  'the connector’s default portal is selected before the one of the context',
  async service => {
    const { agent, journal } = openPlatform(
      service,
      { defaultPortal: '1002', hiddenPortals: '1101' },
      { config: { context: { vendor_portal_id: '1001' } } },
    )
    await agent.initialize()
    expect(chosen(journal)).toEqual([[1002, 20]])
    expect(idsOf(journal.of('initialized')[0]?.availablePortals)).toEqual([1001, 1002])
    // The user may switch; the connector is not called again.
    await agent.selectPortal({ id: 1001 })
    expect(chosen(journal)).toEqual([
      [1002, 20],
      [1001, 11],
    ])
    expect(await rejection(agent.selectPortal({ id: 1101 }))).toMatchObject({ pipelineCode: 'INVALID_SELECTION' })
  },
)

verifies('FLOW-16', 'a default portal outside the list is ignored, and the context decides', async service => {
  const { component } = watchedComponent({ getDefaultPortal: () => ({ id: 1003 }) })
  const { agent, journal } = openPlatform(service, {}, { component, config: { context: { vendor_portal_id: '1001' } } })
  await agent.initialize()
  expect(chosen(journal)).toEqual([[1001, 11]])
  expect(service.printed.join('\n')).toMatch(/\[WARN\].*default portal/i)
})

verifies('FLOW-16', 'the list is filtered by department before the connector receives it', async service => {
  const seen: unknown[][] = []
  const { component } = watchedComponent({
    getPortalList: (list: { id: unknown }[]) => {
      seen.push(idsOf(list))
      return Promise.resolve([...list].reverse())
    },
    getDefaultPortal: async () => null,
  })
  const { agent, journal } = openPlatform(service, { isDefaultAgent: 'true' }, { component })
  await agent.initialize()
  expect(seen).toEqual([[1001, 1002, 1003]])
  expect(idsOf(journal.of('portalsAvailable')[0]?.portals)).toEqual([1003, 1002, 1001])
})

verifies('INIT-03', 'the connector is not called with portalIds or for customers', async service => {
  const { component, asked } = watchedComponent({ getPortalList: () => [], getDefaultPortal: () => ({ id: 1001 }) })
  const named = openPlatform(service, { portalIds: '1001,1002' }, { component })
  await named.agent.initialize()
  expect(idsOf(named.journal.of('portalsAvailable')[0]?.portals)).toEqual(['1001', '1002'])
  const customer = openPlatform(service, {}, { component, subject: 'customer', config: { id: 'orders' } })
  await customer.agent.initialize()
  expect(idsOf(customer.journal.of('portalsAvailable')[0]?.portals)).toEqual([1001, 1003])
  expect(asked.filter(name => name.startsWith('get'))).toEqual([])
})

verifies('ERR-02', 'NO_PORTALS: the connector returns an empty list, an invalid list, or fails', async service => {
  const failing = async (getPortalList: () => unknown, more: Record<string, () => unknown> = {}) => {
    const { component } = watchedComponent({ getPortalList, ...more })
    const error = await rejection(openPlatform(service, {}, { component }).agent.initialize())
    expect(error).toMatchObject({ pipelineCode: 'NO_PORTALS', stage: 'portal' })
    return error
  }
  const broken = () => {
    throw new Error('the desk is closed')
  }
  await failing(() => [])
  await failing(() => ({ length: 1 }))
  const address = scriptOf(service.endpoint, 'standalone')
  for (const error of [
    await failing(broken),
    await failing(() => [{ id: 1001 }], { getDefaultPortal: async () => broken() }),
  ]) {
    expect(error.cause).toMatchObject({ message: 'the desk is closed' })
    expect(error.message).toContain(address)
  }
})

verifies(
  ['WS-03', 'FLOW-16'],
  'the chat address carries the conversation id that is set when it opens',
  async service => {
    const { component, hook } = watchedComponent()
    const { agent } = openPlatform(service, {}, { component, config: { context: { vendor_portal_id: '1002' } } })
    await agent.initialize()
    await agent.connect()
    hook().setConversationId('call 7/ä')
    await service.through(agent.restartConnection())
    hook().setConversationId(8)
    await service.through(agent.restartConnection())
    hook().setConversationId(null)
    await service.through(agent.restartConnection())
    expect(openings(service)).toEqual([undefined, 'call 7/ä', '8', undefined])
  },
)

verifies(
  ['WS-03', 'EVT-03'],
  'a call of the demonstration connector emits an event for each fact, and the chat carries its id',
  async service => {
    const { agent, journal } = openPlatform(service, { callId: 'call-7', defaultPortal: '1001' })
    await agent.initialize()
    await agent.connect()
    expect(openings(service)).toEqual(['call-7'])
    expect(journal.of('conversationIdUpdate')).toEqual([{ conversationId: 'call-7' }])
    expect(journal.of('callerInfoUpdate')).toMatchObject([{ callerInfo: { name: 'Customer', language: 'en-us' } }])
    expect(journal.of('callTranscriptUpdate').map(({ entries }) => entries.length)).toEqual([1, 2, 3])
    const tags = { portal: ['1001'], department: ['999'] }
    expect(journal.of('filterTagsUpdate')).toEqual([{ filterTags: tags }])
    expect(journal.of('userContextUpdate').at(-1)).toEqual({
      userContext: { desk: 'demonstration', callId: 'call-7', user_filter_tags: tags },
    })
    expect(agent.getCallTranscript()[0]).toEqual({
      sender: 'agent',
      content: expect.any(String),
      timestamp: expect.any(Date),
    })
    expect([agent.getCallerInfo()?.name, agent.getConversationId()]).toEqual(['Customer', 'call-7'])
    agent.clearCallTranscript()
    expect(journal.of('callTranscriptUpdate').at(-1)).toEqual({ entries: [] })
    expect(agent.getCallTranscript()).toEqual([])
    const [post] = service.requestsTo(paths.session('desk'), 'POST')
    expect(JSON.parse(post?.body ?? '').context).toMatchObject({ user_filter_tags: tags })
  },
)

verifies(
  'FLOW-21',
  'a restart with the demonstration connector clears the call transcript, with others it stays',
  async service => {
    for (const [platform, length] of [
      ['test', 0],
      ['standalone', 3],
    ] as const) {
      const { agent } = openPlatform(service, { platform, defaultPortal: '1002' })
      await agent.initialize()
      expect(agent.getCallTranscript()).toHaveLength(3)
      await service.through(agent.restartPortalInitializer())
      expect([agent.getIsInitialized(), agent.getCallTranscript().length]).toEqual([true, length])
    }
  },
)

verifies('FLOW-01', 'two agents with one connector share its script, but no call, portal or event', async service => {
  const { component, hook } = watchedComponent({ getDefaultPortal: () => ({ id: 1002 }) })
  const first = openPlatform(service, {}, { component })
  await first.agent.initialize()
  const firstHook = hook()
  const second = openPlatform(service, {}, { component })
  await second.agent.initialize()
  expect(hook()).not.toBe(firstHook)
  firstHook.setConversationId('call-1')
  firstHook.setUserFilterTags({ product: ['router'] })
  expect([first.agent.getConversationId(), second.agent.getConversationId()]).toEqual(['call-1', null])
  expect(second.agent.getContext()).toBeNull()
  expect([first.journal, second.journal].map(journal => journal.of('conversationIdUpdate').length)).toEqual([1, 0])
  await Promise.all([first.agent.connect(), second.agent.connect()])
  expect([...openings(service)].sort()).toEqual(['call-1', undefined])
  await eventually(() => service.openings.length === 2)
  expect(countRequests(service, LISTS.my)).toBe(2)
})
