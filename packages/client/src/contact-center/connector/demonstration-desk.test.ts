import { CONNECTOR_SCRIPT } from '@aiagent/emulator'
import { ManualClock } from '@aiagent/test-support'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { setUpScope } from '../../../test/fake-scope.ts'
import type { AgentEventType, Emit } from '../../events.ts'
import { defaultEnvironment } from '../../platform/default-environment.ts'
import { CallState } from './call-state.ts'
import { loadConnector } from './connector-loader.ts'
import { buildHookContract } from './hook-contract.ts'
import { PlatformConnector } from './platform-connector.ts'

let url = ''

/** The agent as the connector of the demonstration contact center sees it. */
async function agentAtDesk(initParams: Record<string, string> = {}) {
  const component = await loadConnector(defaultEnvironment(), { url, integrity: undefined, nonce: undefined })
  const heard: string[] = []
  let context: Record<string, unknown> = {}
  const emit: Emit<AgentEventType> = name => void heard.push(name)
  const calls = new CallState(Object.assign(setUpScope(), { emit }), {
    get: () => context,
    merge: (attributes: object) => void (context = { ...context, ...attributes }),
  } as never)
  const hook = buildHookContract({
    scope: {
      config: { initParams },
      facts: { agent: undefined, deployment: undefined, user: null, scopes: [] },
      events: { subscribe: () => () => {} },
      logger: { error() {} },
    } as never,
    calls,
    environment: 'dev',
    authentication: { getToken: async () => 'token', getCachedToken: () => 'token' },
    pipeline: { selectedPortal: undefined },
    send: async () => {},
  })
  const connector = new PlatformConnector(
    setUpScope({ environment: { clock: new ManualClock() } }),
    component,
    url,
    hook,
  )
  return { connector, calls, hook, heard, component }
}

describe('a published connector', () => {
  beforeEach(() => {
    Reflect.deleteProperty(globalThis, 'PlatformComponentService')
    // A runtime evaluates a module once for each address, and test files share the runtime.
    url = `data:text/javascript,${encodeURIComponent(`${CONNECTOR_SCRIPT}//${crypto.randomUUID()}`)}`
  })
  afterEach(() => void Reflect.deleteProperty(globalThis, 'PlatformComponentService'))

  it('[OPS-02] [OPS-03] [EVT-03] passes the current call to an agent', async () => {
    const { connector, calls, heard } = await agentAtDesk({ callId: '4711' })
    await connector.introduce()
    expect(await connector.addScopes(['a', 'b'])).toEqual(['a', 'b'])
    await connector.initPlatform()
    expect(calls.getConversationId()).toBe('4711')
    expect(calls.getCallerInfo()).toMatchObject({ name: 'Customer', email: 'customer@people.example' })
    expect(calls.getUserContext()).toEqual({ desk: 'demonstration', callId: '4711' })
    expect(calls.getTranscript().map(({ sender }) => sender)).toEqual(['agent', 'customer', 'agent'])
    expect(calls.getPlatform().authenticated).toBe(true)
    expect(heard).toEqual([
      'conversationIdUpdate',
      'callerInfoUpdate',
      'userContextUpdate',
      ...Array.from({ length: 3 }, () => 'callTranscriptUpdate'),
    ])
  })

  it('attaches functions of its own to the hook, for the page around it', async () => {
    const { connector, calls, hook } = await agentAtDesk()
    await connector.introduce()
    Reflect.get(hook, 'takeCall')({ id: 'call-2' })
    expect(calls.getConversationId()).toBe('call-2')
  })

  it('serves two agents with one component, and keeps their calls apart', async () => {
    const [one, two] = [await agentAtDesk({ callId: 'one' }), await agentAtDesk({ callId: 'two' })]
    expect(one.component).toBe(two.component)
    for (const { connector } of [one, two]) {
      await connector.introduce()
      await connector.initPlatform()
    }
    expect([one.calls.getConversationId(), two.calls.getConversationId()]).toEqual(['one', 'two'])
    expect([one.calls.getTranscript(), two.calls.getTranscript()]).toMatchObject([{ length: 3 }, { length: 3 }])
  })
})
