import { CONNECTOR_SCRIPT } from '@aiagent/emulator'
import { describe, expect, it } from 'vitest'
import { namesOf, passing, payloadsOf, rejection, requestsTo, setUp } from '../../test/agent-harness.ts'
import type { AiAgentConfig } from '../config.ts'

const CALL_EVENTS = [
  'callTranscriptUpdate',
  'callerInfoUpdate',
  'conversationIdUpdate',
  'userContextUpdate',
  'filterTagsUpdate',
] as const

/** A contact-center agent whose platform script runs in a separate context. */
function setUpConnector(
  initParams: Record<string, string>,
  script = CONNECTOR_SCRIPT,
  more: Partial<AiAgentConfig> = {},
) {
  const world: Record<string, unknown> = {}
  const asked: string[] = []
  const importModule = async (url: string) => {
    asked.push(url)
    new Function('globalThis', script)(world)
    return {}
  }
  const parts = setUp({}, { globals: world, importModule })
  const accessToken = parts.emulator.control.issueToken({ subject: 'desk-agent' })
  const { agent, told } = parts.make({
    id: 'desk',
    auth: { type: 'pre-auth', accessToken },
    initParams: { platform: 'test', env: 'dev', ...initParams },
    connector: { baseUrls: { dev: parts.emulator.origin } },
    ...more,
  })
  for (const name of CALL_EVENTS) agent.on(name, event => void told.push({ name, event }))
  return { ...parts, agent, told, asked }
}

describe('an agent with a connector', () => {
  it('[FLOW-16] [WS-03] [EVT-03] [INIT-10] selects the portal of the connector and sends the call id with the chat', async () => {
    const { emulator, agent, told, asked } = setUpConnector({ defaultPortal: '1002', callId: 'call-7' })
    await agent.initialize()
    expect(asked).toEqual([`${emulator.origin}/ai-agent-connector-standalone/web/static/connector-ai-agent.js`])
    expect(payloadsOf(told, 'initialized')).toMatchObject([
      { portal: { id: 1002 }, availablePortals: [{ id: 1001 }, { id: 1002 }, { id: 1101 }] },
    ])
    expect(new Set(namesOf(told).filter(name => CALL_EVENTS.some(each => each === name)))).toEqual(new Set(CALL_EVENTS))
    expect([agent.getConversationId(), agent.getCallTranscript().length]).toEqual(['call-7', 3])
    expect(agent.getContext()).toMatchObject({ user_filter_tags: { portal: ['1002'] } })
    await agent.connect()
    const upgrade = emulator.control.requests().find(({ status }) => status === 101)
    expect(upgrade?.query).toMatchObject({ externalCallId: 'call-7' })
    agent.clearCallTranscript()
    expect(payloadsOf(told, 'callTranscriptUpdate').at(-1)).toEqual({ entries: [] })
  })

  it.each(['setHookContract', 'loadCustomHook', 'addCustomAuthScopes', 'getPortalList', 'getDefaultPortal'])(
    '[REL-111] rejects initialize() after 30 seconds when %s() of the script does not answer',
    async name => {
      const script = `${CONNECTOR_SCRIPT}
        for (const each of Object.values(globalThis)) if (each?.initPlatform) each.${name} = () => new Promise(() => {})`
      const { clock, agent } = setUpConnector({ defaultPortal: '1002' }, script)
      let error: unknown
      void rejection(agent.initialize()).then(failure => {
        error = failure
      })
      // Until the limit of vitest: code that is still loading takes real time.
      while (!error) await clock.advance(5_000)
      expect(error).toMatchObject({ code: expect.stringMatching(/^(?:CONNECTOR_FAILED|NO_PORTALS)$/) })
      await agent.destroy()
    },
  )

  it('[SEC-15] discards the call in logout(), and emits its events', async () => {
    const { clock, agent, told } = setUpConnector({ defaultPortal: '1002', callId: 'call-7' })
    await agent.initialize()
    expect(agent.getCallerInfo()).not.toBeNull()
    told.length = 0
    const leaving = agent.logout()
    expect([agent.getConversationId(), agent.getCallerInfo(), agent.getCallTranscript()]).toEqual([null, null, []])
    expect(new Set(namesOf(told).filter(name => CALL_EVENTS.some(each => each === name)))).toEqual(new Set(CALL_EVENTS))
    expect(payloadsOf(told, 'callerInfoUpdate')).toEqual([{ callerInfo: null }])
    await passing(clock, leaving)
  })

  it('[OPS-03] connects to the platform before it loads the portals, once for all runs', async () => {
    const script = `
      const calls = []
      globalThis.PlatformComponentService = {
        addCustomAuthScopes(scopes) { calls.push('addCustomAuthScopes'); return [...scopes, 'desk.read'] },
        initPlatform(hook) { calls.push('initPlatform ' + hook.getAuthScopes().at(-1)) },
        getPortalList(portals) { calls.push('getPortalList'); return portals },
        calls,
      }`
    const { agent, environment } = setUpConnector({}, script)
    await agent.initialize()
    await agent.restartPortalInitializer()
    const { PlatformComponentService: component } = environment.globals as {
      PlatformComponentService: { calls: string[] }
    }
    expect(component.calls).toEqual(['addCustomAuthScopes', 'initPlatform desk.read', 'getPortalList', 'getPortalList'])
    expect(agent.getIsInitialized()).toBe(false)
  })

  it('has nothing to select without portals, and says so', async () => {
    const { clock, agent } = setUpConnector({}, CONNECTOR_SCRIPT, { id: 'help', auth: undefined as never })
    await passing(clock, agent.initialize())
    const error = await rejection(agent.selectPortal({ id: 1001 }))
    expect(error).toMatchObject({ code: 'NOT_INITIALIZED', message: expect.stringContaining('has no portals') })
    expect(agent.getIsInitialized()).toBe(true)
    await agent.destroy()
  })

  it('[CFG-13] names the field when no base is configured for the environment', async () => {
    const { agent, emulator } = setUpConnector({ env: 'qa' })
    expect(await rejection(agent.initialize())).toMatchObject({ code: 'CONFIG_INVALID' })
    expect(requestsTo(emulator).filter(line => line.endsWith('session'))).toEqual([])
  })

  it('reports which script failed when the platform cannot be reached', async () => {
    const script = `globalThis.PlatformComponentService = { initPlatform() { throw new Error('the desk is closed') } }`
    const { agent, emulator } = setUpConnector({}, script)
    expect(await rejection(agent.initialize())).toMatchObject({
      code: 'CONNECTOR_FAILED',
      url: expect.stringContaining(emulator.origin),
    })
  })
})
