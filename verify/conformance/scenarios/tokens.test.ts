import {
  AnonymousAuthStrategy,
  AuthenticationService,
  type AuthenticationServiceConfig,
  type Environment,
} from '@aiagent/client'
import { type MsalApplication, MsalAuthStrategy } from '@aiagent/client/msal'
import { paths } from '@aiagent/protocol'
import { expect } from 'vitest'
import { rejection } from '../desk.ts'
import { Journal } from '../journal.ts'
import { openPlatform, watchedComponent } from '../platform.ts'
import { newTab, reloaded } from '../tab.ts'
import { verifies } from '../verifies.ts'
import type { Service } from '../wire.ts'

const MINUTE_MS = 60_000
const PREFIX = 'api://acme/'

const minutes = (count: number) => count * MINUTE_MS

/** Scopes of the token requests, without the deployment's prefix, in order. */
const scopesAsked = (service: Service): string[][] =>
  service.control
    .requests()
    .filter(({ body }) => body?.includes('grant_type='))
    .map(({ body }) => (new URLSearchParams(body).get('scope') ?? '').split(' ').map(each => each.replace(PREFIX, '')))

/** When a token expires, in epoch milliseconds. */
const expiryOf = (token = ''): number => JSON.parse(atob(token.split('.')[1] ?? '')).exp * 1_000

/** Client credentials that the service accepts. */
const programOf = (service: Service) => ({
  tokenUrl: `${service.endpoint}/oauth/TEN0001/token`,
  clientId: 'demo-service',
  clientSecret: 'demo-secret',
})

/** An AuthenticationService initialized for the deployment. */
async function authenticate(service: Service, input?: AuthenticationServiceConfig): Promise<AuthenticationService> {
  const auth = service.patient(new AuthenticationService(input, { environment: service.environment() }))
  await auth.initialize({ deploymentInfo: await service.newAgent().getDeploymentInfo() })
  return auth
}

verifies(
  ['AUTH-11', 'FLOW-17'],
  'an agent for customers costs one more token request, cached for the session',
  async service => {
    const tab = newTab()
    const agent = service.newAgent({}, service.environment(tab))
    await agent.initialize()
    const defaults = ['knowledge.portalmgr.manage', 'core.aiservices.read']
    expect(scopesAsked(service)).toEqual([defaults, [...defaults, 'core.customermgr.read']])
    await agent.destroy()
    await service.newAgent({}, service.environment(reloaded(tab))).initialize()
    expect(scopesAsked(service)).toHaveLength(2)
  },
)

verifies('FLOW-17', 'the agent’s language applies to the following calls', async service => {
  const accessToken = service.control.issueToken({ subject: 'desk-agent' })
  const agent = service.newAgent({ id: 'desk-danish', auth: { type: 'pre-auth', accessToken } })
  await agent.initialize()
  const [list] = service.requestsTo(paths.myPortals())
  expect([list?.query['$lang'], list?.headers['accept-language']]).toEqual(['da-dk', 'da-dk'])
})

verifies(
  ['INIT-06', 'AUTH-09'],
  'host scopes are requested exactly as given, from the first token on',
  async service => {
    const initParams = { scopes: 'core.orders.read, core.aiservices.read' }
    const agent = service.newAgent({ initParams })
    await agent.initialize()
    expect(scopesAsked(service)).toEqual([['core.orders.read', 'core.aiservices.read']])
    expect(initParams).toEqual({ scopes: 'core.orders.read, core.aiservices.read' })
    const { component, hook } = watchedComponent()
    const desk = openPlatform(service, { portalIds: '1002', scopes: 'core.orders.read,desk.read' }, { component })
    await desk.agent.initialize()
    expect(hook().getAuthScopes()).toEqual(['core.orders.read', 'desk.read'])
  },
)

verifies('AUTH-04', 'client credentials obtain a token that opens a conversation', async service => {
  const config = { ...programOf(service), scopes: ['core.aiservices.read'] }
  const auth = await authenticate(service, { type: 'client-credentials', config })
  const first = await auth.getToken()
  const [request] = service.requestsTo('/oauth/TEN0001/token')
  expect(Object.fromEntries(new URLSearchParams(request?.body))).toMatchObject({
    grant_type: 'client_credentials',
    client_id: 'demo-service',
    scope: 'core.aiservices.read',
  })
  expect(await auth.getToken()).toBe(first)
  const agent = await service.connectedAgent({ auth: { type: 'client-credentials', config } })
  expect(agent.isConnected()).toBe(true)
  await auth.cleanup()
})

verifies('AUTH-04', 'client credentials are refused in a page unless allowed', async service => {
  const page: Environment['page'] = {
    isHidden: () => false,
    nextTask: task => task(),
    onReturn: () => () => {},
    addScript: () => ({ ran: Promise.resolve({}), isCurrent: () => false, remove() {} }),
  }
  const inPage = (allowInBrowser: boolean) => {
    const config = { ...programOf(service), allowInBrowser }
    const environment = { ...service.environment(), page }
    return service.newAgent({ auth: { type: 'client-credentials', config } }, environment)
  }
  expect(() => inPage(false)).toThrow(expect.objectContaining({ name: 'AuthError', reason: 'not_supported' }))
  await inPage(true).initialize()
})

verifies(['AUTH-04', 'AUTH-05'], 'a cached token is not returned from five minutes before expiry', async service => {
  for (const input of [undefined, { type: 'client-credentials', config: programOf(service) } as const]) {
    const auth = await authenticate(service, input)
    const first = await auth.getToken()
    await service.elapse(minutes(54))
    expect(await auth.getToken()).toBe(first)
    await service.elapse(minutes(1.5))
    const second = await auth.getToken()
    expect(second).not.toBe(first)
    expect(await auth.getToken()).toBe(second)
    await auth.cleanup()
  }
})

verifies(
  'AUTH-05',
  'a token with a shorter lifetime is used until it expires, without a loop of requests',
  async service => {
    service.control.change({ tokenLifeSeconds: 120 })
    const auth = await authenticate(service)
    const first = await auth.getToken()
    await service.elapse(minutes(1.9))
    expect([await auth.getToken(), scopesAsked(service).length]).toEqual([first, 1])
    await service.elapse(minutes(0.2))
    expect(await auth.getToken()).not.toBe(first)
    expect(scopesAsked(service)).toHaveLength(2)
    await auth.cleanup()
  },
)

verifies(
  'AUTH-06',
  'a session refused for a token about to expire is requested again with a fresh one',
  async service => {
    const issue = (lifeSeconds: number) => service.control.issueToken({ lifeSeconds })
    const [accessToken, renewed] = [issue(200), issue(3_600)]
    // The client renews one minute before expiry; the service refuses tokens that expire within five.
    const renewal = { refreshTokenFn: () => renewed, expiryBufferMs: minutes(1) }
    const auth = { type: 'pre-auth', accessToken, ...renewal } as const
    await service.connectedAgent({ id: 'account', auth })
    const sessions = service.requestsTo(paths.session('account'), 'POST')
    expect(sessions.map(({ status, headers }) => [status, headers['authorization']])).toEqual([
      [401, `Bearer ${accessToken}`],
      [200, `Bearer ${renewed}`],
    ])
  },
)

verifies(
  ['AUTH-05', 'AUTH-07'],
  'expiryBufferMs sets when tokenExpiring is emitted and when the token is renewed',
  async service => {
    const [accessToken, renewed] = [1_200, 3_600].map(lifeSeconds => service.control.issueToken({ lifeSeconds }))
    const auth = { type: 'pre-auth', accessToken: accessToken ?? '', expiryBufferMs: minutes(1) } as const
    const silent = service.newAgent({ id: 'account', auth })
    const journal = new Journal(silent)
    await silent.initialize()
    const renewing = await authenticate(service, { ...auth, refreshTokenFn: () => renewed ?? '' })
    await service.elapse(expiryOf(accessToken) - minutes(1) - 1_000 - service.clock.now())
    expect([journal.of('tokenExpiring'), await renewing.getToken()]).toEqual([[], accessToken])
    await service.elapse(2_000)
    expect([journal.of('tokenExpiring').length, await renewing.getToken()]).toEqual([1, renewed])
    await renewing.cleanup()
  },
)

verifies('AUTH-06', 'without a better token the error says so', async service => {
  service.control.change({ tokenLifeSeconds: 200 })
  const error = await rejection(service.newAgent().initialize())
  expect(error).toMatchObject({ code: 'SESSION_UNAUTHORIZED', status: 401 })
  expect(error.message).toContain('Token will expire soon')
})

verifies(
  ['AUTH-07', 'AUTH-05'],
  'tokenExpiring is emitted once per token, and updateAccessToken() replaces the token, also on an open chat',
  async service => {
    // A service ends a session after half an hour without messages.
    const issue = () => service.control.issueToken({ lifeSeconds: 1_200 })
    const auth = { type: 'pre-auth', accessToken: issue() } as const
    const agent = await service.connectedAgent({ id: 'account', auth })
    const journal = new Journal(agent)
    const told = () => journal.of('tokenExpiring').filter(({ reason }) => reason === 'expiring')
    const elapseUntil = (token: string, beforeExpiryMs: number) =>
      service.elapse(expiryOf(token) - beforeExpiryMs - service.clock.now())
    await elapseUntil(auth.accessToken, minutes(5) + 1_000)
    expect(told()).toEqual([])
    await elapseUntil(auth.accessToken, minutes(5) - 1_000)
    expect(told()).toHaveLength(1)
    expect(await agent.getAccessToken()).toBe(auth.accessToken)
    const next = issue()
    await agent.updateAccessToken(next)
    await service.until(() => JSON.stringify(service.frames()).includes(next))
    await elapseUntil(next, minutes(6))
    // A proxy may just have cut it.
    await service.until(() => agent.isConnected())
    await elapseUntil(next, minutes(5) + 1_000)
    expect(told()).toHaveLength(1)
    // The timer restarts with each token.
    await elapseUntil(next, minutes(5) - 1_000)
    expect(told()).toHaveLength(2)
  },
)

verifies('AUTH-10', 'without host scopes: defaults, the platform’s scopes, the agent’s extraScopes', async service => {
  const details = await service.newAgent({ id: 'desk' }).getAgentDetails()
  const body = { ...details, extraScopes: ['core.orders.read', 'desk.read'] }
  service.faults.add({ kind: 'answer', route: `GET ${paths.agentDetails('desk')}`, status: 200, body })
  const { component, hook } = watchedComponent({
    addCustomAuthScopes: (scopes: string[]) => [...scopes, 'desk.read'],
  })
  const { agent } = openPlatform(service, { portalIds: '1002' }, { component })
  await agent.initialize()
  expect(hook().getAuthScopes()).toEqual([
    'knowledge.portalmgr.manage',
    'core.aiservices.read',
    'desk.read',
    'core.orders.read',
  ])
})

verifies(
  'AUTH-10',
  'the agent’s extraScopes are requested with the anonymous token, without duplicates',
  async service => {
    const details = await service.newAgent().getAgentDetails()
    const body = { ...details, extraScopes: ['core.orders.read', 'core.aiservices.read'] }
    service.faults.add({ kind: 'answer', route: `GET ${paths.agentDetails('help')}`, status: 200, body })
    await service.newAgent().initialize()
    const defaults = ['knowledge.portalmgr.manage', 'core.aiservices.read', 'core.customermgr.read']
    expect(scopesAsked(service).at(-1)).toEqual([...defaults, 'core.orders.read'])
  },
)

verifies('INIT-06', 'initParams.scopes of only separators counts as not given', async service => {
  const { component, hook } = watchedComponent({
    addCustomAuthScopes: (scopes: string[]) => [...scopes, 'desk.read'],
  })
  const { agent } = openPlatform(service, { portalIds: '1002', scopes: ' , ,' }, { component })
  await agent.initialize()
  expect(hook().getAuthScopes()).toEqual(['knowledge.portalmgr.manage', 'core.aiservices.read', 'desk.read'])
})

verifies(
  ['INIT-06', 'AUTH-10'],
  'a host’s login without scopes asks for those of OpenID only, and getAuthScopes() is the list of the agent',
  async service => {
    const session = { accessToken: service.control.issueToken({ subject: 'desk-agent' }) }
    const asked: (readonly string[])[] = []
    const account = { homeAccountId: 'desk-agent' }
    // The identity library of a host, which has a signed-in account.
    const application = {
      initialize: async () => {},
      handleRedirectPromise: async () => null,
      getActiveAccount: () => account,
      setActiveAccount: () => {},
      acquireTokenSilent: async ({ scopes }: { scopes: readonly string[] }) => {
        asked.push(scopes)
        return { ...session, account }
      },
    }
    const config = {
      clientId: 'app-int',
      redirectUri: 'https://desk.example.com/signed-in.html',
      authorizationUrl: 'https://login.example.com/staff',
      knownAuthorities: ['login.example.com'],
    }
    const given = structuredClone(config)
    const { component, hook } = watchedComponent({
      addCustomAuthScopes: (scopes: string[]) => [...scopes, 'desk.read'],
    })
    const auth = new MsalAuthStrategy(application as unknown as MsalApplication, config)
    const { agent } = openPlatform(service, { portalIds: '1002' }, { component, config: { auth } })
    await agent.initialize()
    expect(asked[0]).toEqual(['openid', 'profile', 'offline_access'])
    expect(config).toEqual(given)
    expect(hook().getAuthScopes()).toEqual(['knowledge.portalmgr.manage', 'core.aiservices.read', 'desk.read'])
  },
)

verifies(
  'AUTH-13',
  'the anonymous token is cached by scope set, and one with fewer scopes is never reused',
  async service => {
    const tab = newTab()
    const environment = service.environment(tab)
    const deploymentInfo = await service.newAgent().getDeploymentInfo()
    const tokenFor = async (scopes: string[]) => {
      const auth = service.patient(new AuthenticationService(undefined, { environment }))
      await auth.initialize({ deploymentInfo, scopes })
      const token = await auth.getToken()
      await auth.cleanup()
      return token
    }
    const small = await tokenFor(['a'])
    const large = await tokenFor(['a', 'b'])
    expect(large).not.toBe(small)
    expect(await tokenFor(['b', 'a'])).toBe(large)
    expect(await tokenFor(['a'])).toBe(small)
    const storage = tab.sessionStorage
    const keys = Array.from({ length: storage?.length ?? 0 }, (_, index) => storage?.key(index) ?? '')
    const kept = keys.filter(key => /:anonymous_token:[0-9a-f]+$/.test(key))
    expect(kept).toHaveLength(2)
    // An entry without a scope fingerprint.
    for (const key of kept) {
      storage?.setItem(key.replace(/:[0-9a-f]+$/, ''), storage.getItem(key) ?? '')
      storage?.removeItem(key)
    }
    const asked = scopesAsked(service).length
    await tokenFor(['a'])
    expect(scopesAsked(service)).toHaveLength(asked + 1)
  },
)

verifies('AUTH-14', 'the anonymous token outlives an agent, and clearing its cache drops it', async service => {
  const environment = service.environment()
  const first = service.newAgent({}, environment)
  await first.initialize()
  const token = await first.getAccessToken()
  await first.destroy()
  const asked = scopesAsked(service).length
  const second = service.newAgent({}, environment)
  await second.initialize()
  expect([await second.getAccessToken(), scopesAsked(service).length]).toEqual([token, asked])

  const auth = await authenticate(service)
  const strategy = auth.getStrategy()
  if (!(strategy instanceof AnonymousAuthStrategy)) throw new Error('The default should be anonymous.')
  const own = await strategy.getToken()
  await strategy.cleanup()
  expect(await strategy.getToken()).toBe(own)
  const metadataAsked = () => service.requestsTo(paths.metadataOfDeployment()).length
  const before = metadataAsked()
  await strategy.clearTokenCache()
  expect(await strategy.getToken()).not.toBe(own)
  expect(metadataAsked()).toBe(before)
  await strategy.clearMetadataCache()
  await strategy.clearTokenCache()
  await strategy.getToken()
  expect(metadataAsked()).toBe(before + 1)
  await auth.cleanup()
})
