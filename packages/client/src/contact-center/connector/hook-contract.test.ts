import { turnEventLoop } from '@aiagent/test-support'
import { beforeEach, describe, expect, it } from 'vitest'
import { setUpScope } from '../../../test/fake-scope.ts'
import type { AgentEventType, Emit } from '../../events.ts'
import { CallState } from './call-state.ts'
import { buildHookContract, type HookContract, type HookContractSources } from './hook-contract.ts'

const AGENT = { agentId: 'desk', name: 'Desk agent' }
const DEPLOYMENT = { apiDomain: 'api.example', tenantId: 'ACME' }
const PORTAL = { id: 1001, name: 'Support' }

describe('[OPS-02] HookContract', () => {
  let sources: HookContractSources
  let hook: HookContract
  let calls: CallState
  let heard: [string, unknown][]
  let stored: Record<string, unknown>
  let sent: unknown[]
  let failures: unknown[]
  let messageListeners: Set<(event: { payload: unknown }) => void>

  beforeEach(() => {
    heard = []
    sent = []
    failures = []
    stored = {}
    messageListeners = new Set()
    const scope = setUpScope({ environment: { clock: { now: () => 1_700_000_000_000 } as never } })
    const emit: Emit<AgentEventType> = (name, payload) => void heard.push([name, payload()])
    calls = new CallState(Object.assign(scope, { emit }), {
      get: () => stored,
      merge: (attributes: object) => void Object.assign(stored, attributes),
    } as never)
    sources = {
      scope: {
        config: { initParams: { platform: 'Test', vendor: 'x' } },
        facts: {
          agent: AGENT,
          deployment: { deployment: DEPLOYMENT },
          user: { id: 4711 },
          scopes: Object.freeze(['a', 'b']),
        },
        events: {
          subscribe(_type: string, listener: (event: { payload: unknown }) => void) {
            messageListeners.add(listener)
            return () => messageListeners.delete(listener)
          },
        },
        logger: { error: (_text: string, error: unknown) => void failures.push(error) },
      } as never,
      calls,
      environment: 'non-prod',
      authentication: { getToken: async () => 'fresh', getCachedToken: () => 'cached' },
      pipeline: { selectedPortal: PORTAL },
      send: async text => sent.push(text),
    }
    hook = buildHookContract(sources)
  })

  /** The hook of an agent of which less is known. */
  const hookWith = (others: Partial<HookContractSources>) => buildHookContract({ ...sources, ...others })
  const hookWithFacts = (facts: object) => {
    const { scope } = sources
    return hookWith({ scope: { ...scope, facts: { ...scope.facts, ...facts } as never } })
  }

  it('has these members and no other', () => {
    expect(Object.keys(hook).sort()).toEqual(
      [
        ...['getTranscript', 'getInitParams', 'getQueryParams', 'getAgentDetails', 'getDeploymentInfo'],
        ...['getAccessToken', 'getMsalAccessToken', 'getPlatformType', 'getEnvironment', 'getUserId'],
        ...['getUserContext', 'getConversationId', 'getAuthScopes', 'getTenantId', 'getSelectedPortal'],
        ...['getCallerInfo', 'addToTranscript', 'setCallerInfo', 'setConversationId', 'setUserContext'],
        ...['setUserFilterTags', 'setPlatformAuthenticated', 'setPlatformToken', 'subscribeToAgentWidgetActions'],
        ...['onUserMessage', 'onSourceClick', 'onIntentConfirm'],
      ].sort(),
    )
  })

  it('accepts functions that a script attaches', () => {
    Object.assign(hook, { takeCall: () => 'taken' })
    expect(hook).toHaveProperty('takeCall')
  })

  it('getInitParams() and getQueryParams() return copies', () => {
    Object.assign(hook.getInitParams(), { vendor: 'changed' })
    expect(hook.getInitParams()).toEqual({ platform: 'Test', vendor: 'x' })
    expect(hook.getQueryParams()).toEqual({ platform: 'Test', vendor: 'x' })
  })

  it('getAgentDetails() and getDeploymentInfo() return the objects, null before they are loaded', () => {
    expect(hook.getAgentDetails()).toBe(AGENT)
    expect(hook.getDeploymentInfo()).toBe(DEPLOYMENT)
    const early = hookWithFacts({ agent: undefined, deployment: undefined })
    expect([early.getAgentDetails(), early.getDeploymentInfo(), early.getTenantId()]).toEqual([null, null, null])
  })

  it('getAccessToken() resolves with a valid token, and rejects without one, but never throws', async () => {
    await expect(hook.getAccessToken()).resolves.toBe('fresh')
    const getToken = () => {
      throw new Error('none')
    }
    const without = hookWith({ authentication: { ...sources.authentication, getToken } })
    await expect(without.getAccessToken()).rejects.toThrow('none')
  })

  it('getMsalAccessToken() returns the current token synchronously, or null', () => {
    expect(hook.getMsalAccessToken()).toBe('cached')
    expect(
      hookWith({ authentication: { ...sources.authentication, getCachedToken: () => null } }).getMsalAccessToken(),
    ).toBeNull()
  })

  it('getPlatformType() is the platform as given, or null', () => {
    expect(hook.getPlatformType()).toBe('Test')
    expect(hookWith({ scope: { ...sources.scope, config: { initParams: {} } as never } }).getPlatformType()).toBeNull()
  })

  it.each(['dev', 'qa', 'non-prod', 'prod'] as const)('getEnvironment() is %s', environment => {
    expect(hookWith({ environment }).getEnvironment()).toBe(environment)
  })

  it.each([
    [{ id: 4711 }, '4711'],
    [{ id: 0 }, '0'],
    [{ id: 'u1' }, 'u1'],
    [{ id: '' }, null],
    [{ id: null }, null],
    [{}, null],
    [null, null],
    [undefined, null],
  ])('getUserId() of %j is %j', (details, expected) => {
    expect(hookWithFacts({ user: details }).getUserId()).toBe(expected)
  })

  it('getAuthScopes() returns a copy of the resolved list', () => {
    hook.getAuthScopes().push('c')
    expect(hook.getAuthScopes()).toEqual(['a', 'b'])
  })

  it('getTenantId() and getSelectedPortal() return the known value, else null', () => {
    expect([hook.getTenantId(), hook.getSelectedPortal()]).toEqual(['ACME', PORTAL])
    expect(hookWithFacts({ deployment: { deployment: { apiDomain: 'x' } } }).getTenantId()).toBeNull()
    expect(hookWith({ pipeline: { selectedPortal: undefined } }).getSelectedPortal()).toBeNull()
  })

  it('addToTranscript() adds to the call, of which getTranscript() returns a copy', () => {
    hook.addToTranscript({ sender: 'customer', content: 'Hello' })
    const entry = { sender: 'customer', content: 'Hello', timestamp: new Date(1_700_000_000_000) }
    const copy = hook.getTranscript()
    copy[0]?.timestamp.setTime(0)
    copy.pop()
    expect(hook.getTranscript()).toEqual([entry])
    expect(heard).toEqual([['callTranscriptUpdate', { entry, entries: [entry] }]])
  })

  it('setCallerInfo(), setConversationId() and setUserContext() store and emit; their getters return copies', () => {
    expect([hook.getCallerInfo(), hook.getConversationId(), hook.getUserContext()]).toEqual([null, null, null])
    hook.setCallerInfo({ name: 'Customer' })
    hook.setConversationId('call-1')
    hook.setUserContext({ a: 1 })
    hook.setUserContext({ b: 2 })
    Object.assign(hook.getCallerInfo() ?? {}, { name: 'changed' })
    Object.assign(hook.getUserContext() ?? {}, { a: 'changed' })
    expect(hook.getCallerInfo()).toEqual({ name: 'Customer' })
    expect(hook.getConversationId()).toBe('call-1')
    expect(hook.getUserContext()).toEqual({ a: 1, b: 2 })
    expect(heard.map(([name]) => name)).toEqual([
      'callerInfoUpdate',
      'conversationIdUpdate',
      'userContextUpdate',
      'userContextUpdate',
    ])
  })

  it('setUserFilterTags() merges into the user context and the stored context', () => {
    Object.assign(stored, { plan: 'gold' })
    hook.setUserContext({ a: 1 })
    hook.setUserFilterTags({ product: ['router'] })
    expect(hook.getUserContext()).toEqual({ a: 1, user_filter_tags: { product: ['router'] } })
    expect(stored).toEqual({ plan: 'gold', user_filter_tags: { product: ['router'] } })
    expect(heard.at(-1)).toEqual(['filterTagsUpdate', { filterTags: { product: ['router'] } }])
  })

  it('setPlatformAuthenticated() and setPlatformToken() store their argument', () => {
    hook.setPlatformAuthenticated(true)
    hook.setPlatformToken('platform-token')
    expect(calls.getPlatform()).toEqual({ authenticated: true, token: 'platform-token' })
  })

  it('subscribeToAgentWidgetActions() delivers messages, clicks and intents until it is undone', () => {
    const actions: unknown[] = []
    const listener = (...action: unknown[]) => actions.push(action)
    const undo = hook.subscribeToAgentWidgetActions(listener)
    const undoSecond = hook.subscribeToAgentWidgetActions(listener)
    expect(messageListeners.size).toBe(1)
    undoSecond()
    undoSecond()
    for (const notify of messageListeners) notify({ payload: { data: 'm' } })
    hook.onSourceClick({ id: 's', title: 'Manual', url: 'https://docs.example' })
    hook.onIntentConfirm({ id: 'i', intent: 'order', confidence: 0.9 })
    expect(actions).toEqual([
      ['message', { data: 'm' }],
      ['sourceClick', { id: 's', title: 'Manual', url: 'https://docs.example' }],
      ['intentConfirm', { id: 'i', intent: 'order', confidence: 0.9 }],
    ])
    undo()
    hook.onSourceClick({ id: 's', title: 'Manual' })
    expect(actions).toHaveLength(3)
    expect(messageListeners.size).toBe(0)
    hook.subscribeToAgentWidgetActions(listener)
    expect(messageListeners.size).toBe(1)
  })

  it('onSourceClick() and onIntentConfirm() reach the subscribers of the same agent only', () => {
    const actions: unknown[] = []
    hookWith({}).subscribeToAgentWidgetActions(action => actions.push(action))
    hook.onSourceClick({ id: 's', title: 'Manual' })
    expect([actions, heard]).toEqual([[], []])
  })

  it('a failing subscriber does not affect the others', async () => {
    const actions: unknown[] = []
    hook.subscribeToAgentWidgetActions(() => {
      throw 'thrown'
    })
    hook.subscribeToAgentWidgetActions(() => Promise.reject('rejected'))
    hook.subscribeToAgentWidgetActions(action => actions.push(action))
    hook.onSourceClick({ id: 's', title: 'Manual' })
    await turnEventLoop()
    expect(actions).toEqual(['sourceClick'])
    expect(failures).toEqual(['thrown', 'rejected'])
  })

  it('onUserMessage() sends', () => {
    hook.onUserMessage('Hello')
    expect(sent).toEqual(['Hello'])
  })
})
