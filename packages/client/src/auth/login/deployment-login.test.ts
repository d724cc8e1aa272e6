import type { AgentAuthDetails, DeploymentInfo, OAuthMetadata } from '@aiagent/protocol'
import { describe, expect, it } from 'vitest'
import { buildPkceConfig, deploymentLogin, deploymentLoginPath, type PkceConfigFacts } from './deployment-login.ts'

const deployment: DeploymentInfo = {
  apiDomain: 'api.test',
  tenantId: 'T1',
  intClientId: 'int',
  extClientId: 'ext',
  clientId: 'any',
  domainHint: 'app.test',
}
const metadata: OAuthMetadata = {
  authenticationDetails: {
    oAuthUser: [
      {
        authURL: 'https://login.test/acme/oauth2/authorize?p=staff',
        accessTokenURL: 'https://login.test/acme/token?p=staff',
      },
    ],
    oAuthCustomer: [
      { authURL: 'https://login.test/shop/oauth2/authorize', accessTokenURL: 'https://login.test/shop/token' },
    ],
  },
  idpPolicies: { userSigninPolicy: 'STAFF', customerSigninPolicy: 'CUSTOMERS' },
  apiMetadata: {
    CORE: { iApiPermissionPrefix: 'api://int/', eApiPermissionPrefix: 'api://ext/', apiPermissionPrefix: 'api://any/' },
  },
}
const facts: PkceConfigFacts = {
  deployment,
  agent: { userType: 'agent' },
  metadata,
  initParams: {},
  scopes: ['core.read', 'https://other/scope'],
  authScheme: 'popup',
  nextRoute: 'https://app.test/chat#top',
}

describe('the client id', () => {
  it.each<[string, Record<string, string>, AgentAuthDetails, Partial<DeploymentInfo>, string]>([
    ['the host’s', { vendorclientid: 'host' }, { userType: 'agent', clientAppId: 'app' }, {}, 'host'],
    [
      'the host’s, in a second spelling',
      { vendorclientId: 'host' },
      { userType: 'agent', clientAppId: 'app' },
      {},
      'host',
    ],
    [
      'the host’s, in a third spelling',
      { vendorClientId: 'host' },
      { userType: 'agent', clientAppId: 'app' },
      {},
      'host',
    ],
    ['the agent’s', { vendorclientid: ' ' }, { userType: 'agent', clientAppId: 'app' }, {}, 'app'],
    ['the one for contact-center agents', {}, { userType: 'agent' }, {}, 'int'],
    ['the one for customers', {}, { userType: 'customer' }, {}, 'ext'],
    ['the one for all', {}, { userType: 'customer' }, { extClientId: null }, 'any'],
  ])('[AUTH-12] [INIT-09] takes %s', (_case, initParams, agent, more, expected) => {
    const given = { ...facts, initParams, agent, deployment: { ...deployment, ...more } }
    expect(buildPkceConfig(given).clientId).toBe(expected)
  })
})

describe('deploymentLoginPath()', () => {
  const tenant = '/core/authmgr/v3/metadata/tenant/T1'
  const all = '/core/authmgr/v3/metadata/deployment'
  it.each<['agent' | 'customer', Partial<DeploymentInfo>, string]>([
    ['agent', {}, tenant],
    ['agent', { intClientId: null }, all],
    ['customer', {}, tenant],
    ['customer', { extClientId: null }, all],
    ['customer', { tenantId: null }, all],
  ])('for %s and %j is %s', (user, more, expected) => {
    expect(deploymentLoginPath({ userType: user }, { ...deployment, ...more })).toBe(expected)
  })
})

describe('buildPkceConfig', () => {
  it('builds the login of contact-center agents', () => {
    const config = buildPkceConfig(facts)
    expect(config).toEqual({
      clientId: 'int',
      redirectUri: 'https://app.test/system/templates/selfservice/auth-redirect.html',
      knownAuthorities: ['login.test'],
      authorizationUrl: 'https://login.test/acme/STAFF',
      authorityMetadata: expect.any(String),
      scopes: ['openid', 'profile', 'offline_access', 'api://int/core.read', 'https://other/scope'],
      authScheme: 'popup',
      cacheLocation: 'sessionStorage',
      nextRoute: 'https://app.test/chat#top',
      localLogin: false,
    })
    expect(JSON.parse(config.authorityMetadata ?? '')).toEqual({
      authorization_endpoint: 'https://login.test/acme/oauth2/authorize',
      token_endpoint: 'https://login.test/acme/token?p=staff',
      issuer: 'https://login.test/tfp/acme/STAFF/v2.0/',
      jwks_uri: 'https://login.test/acme/STAFF/discovery/v2.0/keys',
      end_session_endpoint: 'https://login.test/acme/STAFF/oauth2/v2.0/logout',
    })
  })

  it('builds the login of customers', () => {
    const config = buildPkceConfig({ ...facts, agent: { userType: 'customer' }, authScheme: 'redirect' })
    expect(config).toMatchObject({
      clientId: 'ext',
      authorizationUrl: 'https://login.test/shop/CUSTOMERS',
      scopes: expect.arrayContaining(['api://ext/core.read']),
    })
  })

  it('[CFG-14] uses the scheme that the host configured', () => {
    expect(buildPkceConfig({ ...facts, authScheme: 'redirect' }).authScheme).toBe('redirect')
    expect(buildPkceConfig(facts).authScheme).toBe('popup')
  })

  it('[AUTH-16] requests local accounts if initParams do', () => {
    expect(buildPkceConfig({ ...facts, initParams: { localLogin: 'true' } }).localLogin).toBe(true)
    expect(buildPkceConfig({ ...facts, initParams: { localLogin: 'no' } }).localLogin).toBe(false)
  })

  it.each([
    ['http://localhost:8600', 'http://localhost:8600'],
    ['http://login.localhost', 'http://login.localhost'],
    ['http://127.0.0.1:8600', 'http://127.0.0.1:8600'],
    ['http://127.10.20.30', 'http://127.10.20.30'],
    ['http://[::1]:8600', 'http://[::1]:8600'],
    ['https://127.0.0.1:8600', 'https://127.0.0.1:8600'],
    ['http://login.test', 'https://login.test'],
    ['http://notlocalhost', 'https://notlocalhost'],
    ['http://localhost.login.test', 'https://localhost.login.test'],
    ['http://127.0.0.1.login.test', 'https://127.0.0.1.login.test'],
  ])('[SEC-11] uses https unless the service is on this machine: for %s to %s', (given, origin) => {
    const local = structuredClone(metadata)
    local.authenticationDetails = {
      oAuthUser: [{ authURL: `${given}/acme/authorize`, accessTokenURL: `${given}/acme/token` }],
    }
    const config = buildPkceConfig({
      ...facts,
      deployment: { ...deployment, apiDomain: 'http://localhost:8600' },
      metadata: local,
    })
    expect(config.authorizationUrl).toBe(`${origin}/acme/STAFF`)
    expect(config.knownAuthorities).toEqual([new URL(given).host])
    const used = JSON.parse(config.authorityMetadata ?? '') as Record<string, string>
    const origins = ['authorization_endpoint', 'token_endpoint', 'end_session_endpoint', 'issuer', 'jwks_uri']
    expect(origins.map(name => new URL(used[name] ?? '').origin)).toEqual(origins.map(() => origin))
  })

  it.each([
    ['authURL', 'http://127.0.0.1:8600', 'https://login.test'],
    ['authURL', 'http://[::1]', 'https://login.test'],
    ['accessTokenURL', 'https://login.test', 'http://login.localhost'],
  ])('[SEC-69] a deployment elsewhere cannot name plain http on this machine as %s: %s, %s', (field, login, token) => {
    const oAuthUser = [{ authURL: `${login}/acme/authorize`, accessTokenURL: `${token}/acme/token` }]
    const given = { ...facts, metadata: { ...metadata, authenticationDetails: { oAuthUser } } }
    expect(() => buildPkceConfig(given)).toThrow(
      expect.objectContaining({ reason: 'metadata_failed', message: expect.stringContaining(field) }),
    )
  })

  it('is the one that the command uses', () => {
    const login = deploymentLogin({ ...facts, clientId: 'mine' })
    const config = buildPkceConfig({ ...facts, initParams: { vendorclientid: 'mine' } })
    expect([login.clientId, login.authority, login.scopes]).toEqual([
      config.clientId,
      config.authorizationUrl,
      config.scopes,
    ])
  })

  it.each([
    ['app.test', 'https://app.test'],
    ['app.test//', 'https://app.test'],
    ['http://127.0.0.1:8600/', 'http://127.0.0.1:8600'],
    ['https://app.test/sub/', 'https://app.test/sub'],
    ['app.test/from/http://other.test', 'https://app.test/from/http://other.test'],
  ])('with the domain hint %s it returns to a page below %s', (domainHint, base) => {
    const config = buildPkceConfig({ ...facts, deployment: { ...deployment, domainHint } })
    expect(config.redirectUri).toBe(`${base}/system/templates/selfservice/auth-redirect.html`)
  })

  it.each(['ftp://app.test', 'file:///app', 'not a host'])('[SEC-92] has no page to return to at %s', domainHint => {
    const given = { ...facts, deployment: { ...deployment, domainHint } }
    expect(() => buildPkceConfig(given)).toThrow(expect.objectContaining({ reason: 'metadata_failed' }))
  })

  it.each(['agent', 'customer'])('uses the general prefix if there is none for an %s, else none', userType => {
    const scopesWith = (apiMetadata: OAuthMetadata['apiMetadata'] = null) =>
      buildPkceConfig({ ...facts, agent: { userType }, metadata: { ...metadata, apiMetadata } }).scopes[3]
    expect(scopesWith({ CORE: { apiPermissionPrefix: 'api://any/' } })).toBe('api://any/core.read')
    expect(scopesWith({})).toBe('core.read')
    expect(scopesWith(undefined)).toBe('core.read')
  })

  const without = (change: (copy: OAuthMetadata) => void) => {
    const copy = structuredClone(metadata)
    change(copy)
    return { ...facts, metadata: copy }
  }
  it.each<[string, PkceConfigFacts, string, string]>([
    ['the kind of user', { ...facts, agent: { userType: 'robot' } }, 'not_supported', 'userType'],
    ['details', without(copy => void delete copy.authenticationDetails), 'metadata_failed', 'oAuthUser'],
    [
      'the login of such users',
      without(copy => void delete copy.authenticationDetails?.oAuthUser),
      'metadata_failed',
      'authURL',
    ],
    ['the login', without(copy => (copy.authenticationDetails = { oAuthUser: [] })), 'metadata_failed', 'authURL'],
    [
      'a usable address',
      without(copy => (copy.authenticationDetails = { oAuthUser: [{ authURL: 'no' }] })),
      'metadata_failed',
      'authURL',
    ],
    [
      'the token address',
      without(copy => (copy.authenticationDetails = { oAuthUser: [{ authURL: 'https://l.test/a/b' }] })),
      'metadata_failed',
      'accessTokenURL',
    ],
    [
      'a path',
      without(
        copy =>
          (copy.authenticationDetails = {
            oAuthUser: [{ authURL: 'https://l.test', accessTokenURL: 'https://l.test/t' }],
          }),
      ),
      'metadata_failed',
      'path',
    ],
    ['the policy', without(copy => (copy.idpPolicies = null)), 'metadata_failed', 'userSigninPolicy'],
    ['a client', { ...facts, deployment: { apiDomain: 'a', domainHint: 'd' } }, 'metadata_failed', 'vendorclientid'],
    ['the way back', { ...facts, deployment: { ...deployment, domainHint: null } }, 'metadata_failed', 'domainHint'],
  ])('reports that %s is missing', (_case, given, reason, word) => {
    expect(() => buildPkceConfig(given)).toThrow(
      expect.objectContaining({ name: 'AuthError', reason, message: expect.stringContaining(word) }),
    )
  })
})
