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
  CodeLogin,
  type CodeLoginOptions,
  type CodeLoginRequest,
  type DeploymentLogin,
  type DeploymentLoginFacts,
  deploymentLogin,
  type IssuedTokens,
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
  it('AuthScheme is `popup` or `redirect`', () => {
    expectTypeOf<AuthScheme>().toEqualTypeOf<'popup' | 'redirect'>()
    // @ts-expect-error frames are used for renewals only
    assertType<AuthScheme>('iframe')
  })

  it('PKCEAuthConfig requires client, redirect page and authorities', () => {
    assertType<PKCEAuthConfig>({ ...config, scopes: ['openid'], extraQueryParameters: { domain_hint: 'shop' } })
    // @ts-expect-error a public client has no secret
    assertType<PKCEAuthConfig>({ ...config, clientSecret: 'secret' })
    // @ts-expect-error the authorities are missing
    assertType<PKCEAuthConfig>({ clientId: 'shop', redirectUri: config.redirectUri })
    assertType<PKCEAuthServiceConfig>({ type: 'pkce', config, identityClient: msalIdentityClient(application) })
    // @ts-expect-error an identity client is created by a factory
    assertType<PKCEAuthServiceConfig>({ type: 'pkce', config, identityClient: client })
  })

  it('PKCEAuthStrategy accepts a config and an environment', () => {
    assertType<PKCEAuthStrategy>(new PKCEAuthStrategy(config))
    // @ts-expect-error a configuration is not a strategy
    assertType<PKCEAuthStrategy>(config)
    assertType<PKCEAuthStrategyOptions>({ environment, identityClient: () => client })
    // @ts-expect-error a strategy needs the whole environment
    assertType<PKCEAuthStrategyOptions>({ environment: { random: () => 0.5 } })
  })
})

describe('types of a host’s identity library', () => {
  it('IdentityClient requires four functions', () => {
    const session = { accessToken: 'secret' }
    assertType<IdentityClient>({
      restore: async () => null,
      login: async () => session,
      renew: async current => current,
      logout: async () => {},
    })
    // @ts-expect-error logout is missing
    assertType<IdentityClient>({ restore: async () => null, login: async () => session, renew: async () => session })
  })

  it('IdentityClientFactory returns a client or a promise of one', () => {
    assertType<IdentityClientFactory>(({ authority }) => (expectTypeOf(authority).toBeString(), client))
    assertType<IdentityClientFactory>(async () => client)
    // @ts-expect-error a client is not a factory
    assertType<IdentityClientFactory>(client)
  })

  it('IdentityClientSettings contains the login with its scopes', () => {
    const authority = 'https://login.example.test'
    assertType<IdentityClientSettings>({ config: { ...config, scopes: ['openid'] }, authority, environment })
    // @ts-expect-error the scopes are missing
    assertType<IdentityClientSettings>({ config, authority, environment })
  })

  it('IdentitySession requires a token; the other fields are optional', () => {
    assertType<IdentitySession>({ accessToken: 'secret', expiresAt: 1_800_000_000_000, idToken: 'proof' })
    // @ts-expect-error the expiry is a number of milliseconds
    assertType<IdentitySession>({ accessToken: 'secret', expiresAt: new Date(0) })
  })

  it('LoginRequest contains the scheme and the address parameters', () => {
    assertType<LoginRequest>({ scheme: 'redirect', extraQueryParameters: {}, nextRoute: 'https://shop.example.test/' })
    // @ts-expect-error parameters are strings
    assertType<LoginRequest>({ scheme: 'redirect', extraQueryParameters: { attempt: 2 } })
  })

  it('LogoutPlan contains every decision', () => {
    assertType<LogoutPlan>(plan)
    // @ts-expect-error the scheme is missing
    assertType<LogoutPlan>({ ...plan, scheme: undefined })
  })

  it('MsalApplication is the part of a PublicClientApplication that is used', () => {
    assertType<MsalApplication>({ ...application, getActiveAccount: () => null })
    // @ts-expect-error the application must be able to renew tokens
    assertType<MsalApplication>({ ...application, acquireTokenSilent: undefined })
  })

  it('DeploymentLoginFacts contains deployment, agent and metadata', () => {
    assertType<DeploymentLoginFacts>(loginFacts)
    // @ts-expect-error the metadata is missing
    assertType<DeploymentLoginFacts>({ deployment: loginFacts.deployment, agent: loginFacts.agent })
  })

  it('DeploymentLogin contains provider, client and scopes', () => {
    assertType<DeploymentLogin>(deploymentLogin(loginFacts))
    // @ts-expect-error scopes are a list
    assertType<DeploymentLogin>({ ...deploymentLogin(loginFacts), scopes: 'openid' })
  })

  it('CodeLogin opens with a login of a deployment', () => {
    assertType<Promise<CodeLogin>>(CodeLogin.open(deploymentLogin(loginFacts)))
    // @ts-expect-error it is opened, not constructed
    assertType<CodeLogin>(deploymentLogin(loginFacts))
    assertType<CodeLoginOptions>({ signal: new AbortController().signal, environment: {} })
    // @ts-expect-error a controller is not a signal
    assertType<CodeLoginOptions>({ signal: new AbortController() })
  })

  it('CodeLoginRequest contains the secrets that bind the answer to it', () => {
    const request = {
      address: 'https://login.test/',
      id: '1',
      state: '1',
      verifier: '2',
      nonce: '3',
      redirectUri: 'http://[::1]',
    }
    assertType<CodeLoginRequest>(request)
    // @ts-expect-error the nonce is missing
    assertType<CodeLoginRequest>({ ...request, nonce: undefined })
  })

  it('IssuedTokens requires an access token', () => {
    assertType<IssuedTokens>({ accessToken: 'secret', refreshToken: 'more', expiresAt: 1_800_000_000_000 })
    // @ts-expect-error the access token is missing
    assertType<IssuedTokens>({ idToken: 'proof' })
  })
})
