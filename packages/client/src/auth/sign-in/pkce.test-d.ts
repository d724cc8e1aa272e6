import { assertType, describe, expectTypeOf, it } from 'vitest'
import type {
  AuthScheme,
  Environment,
  IdentityClient,
  IdentityClientFactory,
  IdentityClientSettings,
  IdentitySession,
  LoginRequest,
  LogoutPlan,
  PKCEAuthConfig,
  PKCEAuthServiceConfig,
} from '../../index.ts'
import { type MsalApplication, msalIdentityClient } from '../../msal.ts'
import {
  type DeploymentLogin,
  type DeploymentLoginFacts,
  deploymentLogin,
  PKCEAuthStrategy,
  type PKCEAuthStrategyOptions,
} from '../../pkce.ts'

declare const environment: Environment
declare const application: MsalApplication
declare const client: IdentityClient
declare const loginFacts: DeploymentLoginFacts

const config = {
  clientId: 'shop',
  redirectUri: 'https://shop.example.test/signed-in.html',
  knownAuthorities: ['login.example.test'],
} as const
const plan = {
  scheme: 'popup',
  idTokenHint: undefined,
  postLogoutRedirectUri: config.redirectUri,
  state: undefined,
  logoutClaim: undefined,
  constructedEndpoint: 'https://login.example.test/oauth2/v2.0/logout',
} as const

describe('a login', () => {
  it('AuthScheme: in a window, or by leaving the page', () => {
    expectTypeOf<AuthScheme>().toEqualTypeOf<'popup' | 'redirect'>()
    // @ts-expect-error a frame is used for renewals only, unasked
    assertType<AuthScheme>('iframe')
  })

  it('PKCEAuthConfig: a client, its way back, and who may sign people in', () => {
    assertType<PKCEAuthConfig>({ ...config, scopes: ['openid'], extraQueryParameters: { domain_hint: 'shop' } })
    // @ts-expect-error a public client has no secret
    assertType<PKCEAuthConfig>({ ...config, clientSecret: 'secret' })
    // @ts-expect-error the authorities are missing
    assertType<PKCEAuthConfig>({ clientId: 'shop', redirectUri: config.redirectUri })
    assertType<PKCEAuthServiceConfig>({ type: 'pkce', config, identityClient: msalIdentityClient(application) })
    // @ts-expect-error an identity client is made by a function, for a login that is known by then
    assertType<PKCEAuthServiceConfig>({ type: 'pkce', config, identityClient: client })
  })

  it('PKCEAuthStrategy: an account of its own', () => {
    assertType<PKCEAuthStrategy>(new PKCEAuthStrategy(config))
    // @ts-expect-error a configuration signs nobody in
    assertType<PKCEAuthStrategy>(config)
    assertType<PKCEAuthStrategyOptions>({ environment, identityClient: () => client })
    // @ts-expect-error a strategy needs the whole environment
    assertType<PKCEAuthStrategyOptions>({ environment: { random: () => 0.5 } })
  })
})

describe('an identity library of the host’s', () => {
  it('IdentityClient: four functions', () => {
    const session = { accessToken: 'secret' }
    assertType<IdentityClient>({
      restore: async () => null,
      login: async () => session,
      renew: async current => current,
      logout: async () => {},
    })
    // @ts-expect-error nobody can sign out
    assertType<IdentityClient>({ restore: async () => null, login: async () => session, renew: async () => session })
  })

  it('IdentityClientFactory: makes one, now or later', () => {
    assertType<IdentityClientFactory>(({ authority }) => (expectTypeOf(authority).toBeString(), client))
    assertType<IdentityClientFactory>(async () => client)
    // @ts-expect-error a client is no factory
    assertType<IdentityClientFactory>(client)
  })

  it('IdentityClientSettings: the login, with its scopes', () => {
    const authority = 'https://login.example.test'
    assertType<IdentityClientSettings>({ config: { ...config, scopes: ['openid'] }, authority, environment })
    // @ts-expect-error the scopes stand by then
    assertType<IdentityClientSettings>({ config, authority, environment })
  })

  it('IdentitySession: a token, and what goes with it', () => {
    assertType<IdentitySession>({ accessToken: 'secret', expiresAt: 1_800_000_000_000, idToken: 'proof' })
    // @ts-expect-error a moment is a number of milliseconds
    assertType<IdentitySession>({ accessToken: 'secret', expiresAt: new Date(0) })
  })

  it('LoginRequest: the scheme, and what goes into the address', () => {
    assertType<LoginRequest>({ scheme: 'redirect', extraQueryParameters: {}, nextRoute: 'https://shop.example.test/' })
    // @ts-expect-error parameters are text
    assertType<LoginRequest>({ scheme: 'redirect', extraQueryParameters: { attempt: 2 } })
  })

  it('LogoutPlan: everything is decided', () => {
    assertType<LogoutPlan>(plan)
    // @ts-expect-error a logout has a scheme
    assertType<LogoutPlan>({ ...plan, scheme: undefined })
  })

  it('MsalApplication: the part of a PublicClientApplication that is used', () => {
    assertType<MsalApplication>({ ...application, getActiveAccount: () => null })
    // @ts-expect-error the application has to renew tokens
    assertType<MsalApplication>({ ...application, acquireTokenSilent: undefined })
  })

  it('DeploymentLoginFacts: deployment, agent and metadata', () => {
    assertType<DeploymentLoginFacts>(loginFacts)
    // @ts-expect-error the metadata are missing
    assertType<DeploymentLoginFacts>({ deployment: loginFacts.deployment, agent: loginFacts.agent })
  })

  it('DeploymentLogin: who signs in where', () => {
    assertType<DeploymentLogin>(deploymentLogin(loginFacts))
    // @ts-expect-error scopes are a list
    assertType<DeploymentLogin>({ ...deploymentLogin(loginFacts), scopes: 'openid' })
  })
})
