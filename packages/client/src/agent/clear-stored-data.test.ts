import { turnEventLoop } from '@aiagent/test-support'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { setUp } from '../../test/agent-harness.ts'
import { FakeStorage } from '../../test/fake-service.ts'
import { FakeWindow } from '../../test/fake-window.ts'
import { AiAgent } from '../ai-agent.ts'
import { REDIRECT_ANSWER_KEY, RETURN_KEY } from '../auth/login/callback-page.ts'
import { DATABASE } from '../storage/cache-adapter.ts'

afterEach(() => vi.unstubAllGlobals())

describe('AiAgent.clearStoredData()', () => {
  it('[SEC-18] removes what was stored for the deployment, and nothing else, without a request', async () => {
    const sessionStorage = new FakeStorage()
    const localStorage = new FakeStorage()
    sessionStorage.setItem('of the host', 'stays')
    const { emulator, environment, make } = setUp({}, { sessionStorage, localStorage })
    const accessToken = emulator.control.issueToken({ subject: 'desk-agent' })
    const auth = { type: 'pre-auth', accessToken } as const
    const desk = make({ id: 'desk', auth, context: { vendor_portal_id: '1002' } }).agent
    await desk.initialize()
    await desk.destroy()
    const anonymous = make({ cache: { storageType: 'local' } }).agent
    await anonymous.initialize({ context: { plan: 'gold' } })
    await anonymous.destroy()
    const requests = emulator.control.requests().length
    const before = [...sessionStorage.items.keys(), ...localStorage.items.keys()]
    for (const start of ['aiagent_context_', 'aiagent_cache_', 'aiagent_auth_', 'vendor_profiles_', 'v2_'])
      expect(before.some(key => key.startsWith(start))).toBe(true)
    await AiAgent.clearStoredData('https://elsewhere.test', { environment })
    expect(
      [...sessionStorage.items.keys(), ...localStorage.items.keys()].filter(key => /context_|v2_/.test(key)),
    ).toEqual(before.filter(key => /context_|v2_/.test(key)))
    await AiAgent.clearStoredData(emulator.origin, { environment })
    expect([...sessionStorage.items.keys(), ...localStorage.items.keys()]).toEqual(['of the host'])
    expect(emulator.control.requests()).toHaveLength(requests)
  })

  it.each(['https://desk.test/', 'desk.test', 'WSS://desk.test', ' https://desk.test '])(
    '[SEC-18] removes what an agent at %j stored, whatever the spelling of the address',
    async endpoint => {
      const sessionStorage = new FakeStorage()
      const { environment, make } = setUp({ origin: 'https://desk.test' }, { sessionStorage })
      const { agent } = make({ endpoint, resume: true, context: { plan: 'gold' } })
      await agent.initialize()
      await agent.connect()
      await agent.destroy()
      for (const key of ['aiagent_auth_login:https://desk.test', RETURN_KEY, REDIRECT_ANSWER_KEY])
        sessionStorage.setItem(key, '{}')
      expect([...sessionStorage.items.keys()].some(key => key.startsWith('aiagent_session_'))).toBe(true)
      await AiAgent.clearStoredData('https://desk.test', { environment })
      expect([...sessionStorage.items.keys()]).toEqual([])
    },
  )

  it('[SEC-107] removes what the launcher keeps, and so does a sign-out', async () => {
    const sessionStorage = new FakeStorage()
    const { environment, emulator, make } = setUp({}, { sessionStorage })
    const ofLauncher = () => [...sessionStorage.items.keys()].filter(key => key.startsWith('aiagent_launcher_'))
    const keep = () => {
      for (const name of [`${encodeURIComponent(emulator.origin)}:help:`, 'teaser'])
        sessionStorage.setItem(`aiagent_launcher_${name}`, 'm-1 dismissed')
    }
    keep()
    await AiAgent.clearStoredData(emulator.origin, { environment })
    expect(ofLauncher()).toEqual([])
    keep()
    const { agent } = make()
    await agent.initialize()
    expect(ofLauncher()).toHaveLength(2)
    await agent.logout()
    expect(ofLauncher()).toEqual([])
    await agent.destroy()
  })

  it.each([undefined, ' ', 'ftp://desk.test', 'https://desk.test?tenant=a'])(
    '[SEC-18] rejects the endpoint %j, and removes nothing',
    async endpoint => {
      const sessionStorage = new FakeStorage()
      sessionStorage.setItem('aiagent_oidc_user.a:b', '{}')
      const { environment } = setUp({}, { sessionStorage })
      const cleared = AiAgent.clearStoredData(endpoint as string, { environment })
      await expect(cleared).rejects.toMatchObject({ name: 'ConfigError', field: 'endpoint' })
      expect([...sessionStorage.items.keys()]).toEqual(['aiagent_oidc_user.a:b'])
    },
  )

  it.each(['logout() before initialize()', 'clearStoredData()'])(
    '[SEC-15] removes with %s a selected profile that names no deployment, since the next user would read it',
    async name => {
      const sessionStorage = new FakeStorage()
      sessionStorage.setItem('v2_acmeselectedProfile-5', '{"id":7,"portalId":5}')
      const { emulator, environment, make } = setUp({}, { sessionStorage })
      const { agent } = make()
      if (name === 'clearStoredData()') await AiAgent.clearStoredData(emulator.origin, { environment })
      else await agent.logout()
      expect([...sessionStorage.items.keys()]).toEqual([])
      await agent.destroy()
    },
  )

  it.each([
    ['of the page', { databases: async () => [{ name: DATABASE }] }],
    // Firefox 125 and older.
    ['that may be that of the page, since the browser does not list its databases,', {}],
  ])('[SEC-18] rejects when the database %s does not answer, and does not wait for it', async (_which, list) => {
    const page = new FakeWindow().page
    const { clock, emulator, environment } = setUp({}, { page })
    vi.stubGlobal('IDBRequest', EventTarget)
    vi.stubGlobal('indexedDB', { ...list, open: () => new EventTarget() })
    const cleared = AiAgent.clearStoredData(emulator.origin, { environment })
    let outcome: unknown
    cleared.catch(error => (outcome = error))
    for (let waitedMs = 0; waitedMs < 10_000; waitedMs += 500) {
      await turnEventLoop()
      await clock.advance(500)
    }
    expect(outcome).toMatchObject({ name: 'TimeLimitError' })
  })
})
