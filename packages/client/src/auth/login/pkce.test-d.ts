import { assertType, describe, expectTypeOf, it } from 'vitest'
import type {
  AuthenticationInput,
  AuthScheme,
  Environment,
  PKCEAuthConfig,
  PKCEAuthServiceConfig,
} from '../../index.ts'
import { type MsalApplication, MsalAuthStrategy } from '../../msal.ts'
import {
  CodeLogin,
  type CodeLoginOptions,
  type CodeLoginRequest,
  type DeploymentLogin,
  type DeploymentLoginFacts,
  deploymentLogin,
  type IssuedTokens,
  type LoginOptions,
  type LoginPage,
  type LoginWindow,
  PKCEAuthStrategy,
  type PKCEAuthStrategyOptions,
} from '../../pkce.ts'

declare const environment: Environment
declare const application: MsalApplication
declare const page: LoginPage
declare const loginFacts: DeploymentLoginFacts

const config = {
  clientId: 'shop',
  redirectUri: 'https://shop.example.test/signed-in.html',
  knownAuthorities: ['login.example.test'],
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
    assertType<PKCEAuthServiceConfig>({ type: 'pkce', config })
    // @ts-expect-error the config is missing
    assertType<PKCEAuthServiceConfig>({ type: 'pkce' })
  })

  it('PKCEAuthStrategy accepts a config and an environment', () => {
    assertType<PKCEAuthStrategy>(new PKCEAuthStrategy(config))
    // @ts-expect-error a configuration is not a strategy
    assertType<PKCEAuthStrategy>(config)
    assertType<AuthenticationInput>(new PKCEAuthStrategy(config))
    assertType<PKCEAuthStrategyOptions>({ environment, page })
    // @ts-expect-error a strategy needs the whole environment
    assertType<PKCEAuthStrategyOptions>({ environment: { random: () => 0.5 } })
  })
})

describe('types of a login', () => {
  it('LoginOptions are those of every login', () => {
    assertType<LoginOptions>({ environment })
    // @ts-expect-error the clock is part of the environment
    assertType<LoginOptions>({ clock: environment.clock })
  })

  it('LoginPage opens each LoginWindow', () => {
    expectTypeOf<ReturnType<LoginPage['open']>>().toEqualTypeOf<LoginWindow | null>()
    // @ts-expect-error a blocked window is null
    assertType<LoginPage>({ ...page, open: () => undefined })
    // @ts-expect-error a window can be closed
    assertType<LoginWindow>({ navigate() {}, focus() {}, state: () => 'gone' })
  })

  it('MsalAuthStrategy is a strategy', () => {
    const strategy = new MsalAuthStrategy(application, config, { environment })
    assertType<MsalAuthStrategy>(strategy)
    assertType<AuthenticationInput>(strategy)
    // @ts-expect-error the config is missing
    assertType<MsalAuthStrategy>(new MsalAuthStrategy(application))
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
