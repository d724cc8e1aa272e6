import { assertType, describe, expectTypeOf, it } from 'vitest'
import {
  type AnonymousAuthCacheConfig,
  type AnonymousAuthConfig,
  type AnonymousAuthServiceConfig,
  AnonymousAuthStrategy,
  type AuthenticationInput,
  type AuthenticationResult,
  AuthenticationService,
  type AuthenticationServiceConfig,
  type AuthenticationType,
  type AuthProvider,
  type AuthStrategy,
  type AuthStrategyInitializeOptions,
  type ClientCredentialsAuthConfig,
  type ClientCredentialsAuthServiceConfig,
  ClientCredentialsAuthStrategy,
  type LogoutOptions,
  type PostAuthenticationCallback,
  type PreAuthConfig,
  type PreAuthServiceConfig,
  PreAuthStrategy,
  type TokenExpiringCallback,
} from '../index.ts'
import type { Awaitable } from '../storage/cache-adapter.ts'
import type {
  AuthenticationServiceInitializeOptions,
  AuthenticationServiceOptions,
  TokenAuthServiceConfig,
} from './auth-strategy.ts'

const deploymentInfo = { apiDomain: 'api.example.test' }
const credentials = { tokenUrl: 'https://login.example.test/token', clientId: 'shop', clientSecret: 'secret' }

describe('types that a host supplies', () => {
  it('AuthProvider requires getToken()', () => {
    assertType<AuthProvider>({ getToken: () => null })
    assertType<AuthProvider>({ getToken: async () => 'secret' })
    // @ts-expect-error a token is a string or null
    assertType<AuthProvider>({ getToken: () => 7 })
  })

  it('AuthStrategy requires three functions; the others are optional', () => {
    const least = { initialize() {}, authenticate() {}, getToken: () => 'secret' }
    assertType<AuthStrategy>(least)
    assertType<AuthStrategy>({ ...least, async logout() {} })
    // @ts-expect-error an AuthProvider is not a strategy
    assertType<AuthStrategy>({ getToken: () => 'secret' })
    // @ts-expect-error logout must be a function
    assertType<AuthStrategy>({ ...least, logout: true })
  })

  it('AuthStrategyInitializeOptions requires the deployment; scopes are optional', () => {
    assertType<AuthStrategyInitializeOptions>({ deploymentInfo, scopes: ['core.aiservices.read'] })
    // @ts-expect-error the deployment is missing
    assertType<AuthStrategyInitializeOptions>({ scopes: [] })
  })

  it('Awaitable accepts a value or a promise of it', () => {
    assertType<Awaitable<string>>('secret')
    assertType<Awaitable<string>>(Promise.resolve('secret'))
    // @ts-expect-error the promise has another type
    assertType<Awaitable<string>>(Promise.resolve(7))
  })

  it('PostAuthenticationCallback receives an AuthenticationResult', () => {
    assertType<PostAuthenticationCallback>(async ({ accessToken }) => void expectTypeOf(accessToken).toBeString())
    assertType<AuthenticationResult>({ accessToken: 'secret' })
    // @ts-expect-error a successful sign-in has a token
    assertType<AuthenticationResult>({ accessToken: null })
    // @ts-expect-error the result has no expiry
    assertType<PostAuthenticationCallback>(({ expiresAt }) => expiresAt)
  })

  it('TokenExpiringCallback receives the expiry', () => {
    assertType<TokenExpiringCallback>(({ expiresAt }) => void expectTypeOf(expiresAt).toBeNumber())
    // @ts-expect-error the callback does not receive the token
    assertType<TokenExpiringCallback>(({ accessToken }) => accessToken)
  })
})

describe('types of authentication methods', () => {
  it('AnonymousAuthServiceConfig accepts a cache', () => {
    assertType<AnonymousAuthServiceConfig>({ type: 'anonymous' })
    // @ts-expect-error an anonymous token has no credentials
    assertType<AnonymousAuthServiceConfig>({ type: 'anonymous', clientId: 'shop' })
    assertType<AnonymousAuthConfig>({ cache: { enabled: false } })
    // @ts-expect-error an anonymous token has no host scopes
    assertType<AnonymousAuthConfig>({ scopes: [] })
    assertType<AnonymousAuthCacheConfig>({ storageType: 'local' })
    // @ts-expect-error unknown store
    assertType<AnonymousAuthCacheConfig>({ storageType: 'cookie' })
  })

  it('PreAuthConfig requires a token; refreshTokenFn is optional', () => {
    assertType<PreAuthConfig>({ accessToken: 'secret', refreshTokenFn: async () => 'next', expiryBufferMs: 60_000 })
    // @ts-expect-error the token is missing
    assertType<PreAuthConfig>({ refreshTokenFn: () => 'next' })
    assertType<PreAuthServiceConfig>({ type: 'pre-auth', accessToken: 'secret' })
    // @ts-expect-error refreshTokenFn returns a token, not a function
    assertType<PreAuthServiceConfig>({ type: 'pre-auth', accessToken: () => 'secret' })
  })

  it('TokenAuthServiceConfig accepts the token under either name', () => {
    assertType<TokenAuthServiceConfig>({ type: 'token', accessToken: 'secret' })
    assertType<TokenAuthServiceConfig>({ type: 'token', token: 'secret' })
    // @ts-expect-error the token is missing
    assertType<TokenAuthServiceConfig>({ type: 'token' })
  })

  it('ClientCredentialsAuthConfig requires the endpoint and the credentials', () => {
    assertType<ClientCredentialsAuthConfig>({ ...credentials, scopes: ['a.b'], allowInBrowser: true })
    // @ts-expect-error the secret is missing
    assertType<ClientCredentialsAuthConfig>({ tokenUrl: credentials.tokenUrl, clientId: 'shop' })
    assertType<ClientCredentialsAuthServiceConfig>({ type: 'client-credentials', config: credentials })
    // @ts-expect-error the credentials belong in `config`
    assertType<ClientCredentialsAuthServiceConfig>({ type: 'client-credentials', ...credentials })
  })

  it('AuthenticationServiceConfig is discriminated by its type', () => {
    assertType<AuthenticationServiceConfig>({ type: 'client-credentials', config: credentials })
    // @ts-expect-error unknown type
    assertType<AuthenticationServiceConfig>({ type: 'basic', config: credentials })
  })

  it('AuthenticationInput accepts a config, a provider or a strategy', () => {
    assertType<AuthenticationInput>({ type: 'anonymous' })
    assertType<AuthenticationInput>({ getToken: () => 'secret' })
    assertType<AuthenticationInput>(new PreAuthStrategy({ accessToken: 'secret' }))
    // @ts-expect-error a token string is not a config
    assertType<AuthenticationInput>('secret')
  })

  it('AuthenticationType names the method in use', () => {
    expectTypeOf<AuthenticationType>().toEqualTypeOf<'anonymous' | 'pkce' | 'pre-auth' | 'client-credentials'>()
    // @ts-expect-error the deprecated `token` is reported as `pre-auth`
    assertType<AuthenticationType>('token')
  })
})

describe('types of strategies and services', () => {
  it('AuthenticationService accepts any input, or none', () => {
    assertType<AuthenticationService>(new AuthenticationService())
    assertType<AuthenticationServiceOptions>({ cache: { enabled: false }, environment: { random: () => 0.5 } })
    // @ts-expect-error only the logger of this library is accepted
    assertType<AuthenticationServiceOptions>({ logger: console })
    assertType<AuthenticationServiceInitializeOptions>({ deploymentInfo, postAuthentication: () => {} })
    // @ts-expect-error the callback is a function
    assertType<AuthenticationServiceInitializeOptions>({ deploymentInfo, postAuthentication: true })
    // @ts-expect-error a strategy is not an AuthenticationService
    assertType<AuthenticationService>(new AnonymousAuthStrategy())
  })

  it('LogoutOptions contain what a sign-out waits for', () => {
    assertType<LogoutOptions>({ after: Promise.resolve() })
    // @ts-expect-error a promise
    assertType<LogoutOptions>({ after: 1_000 })
  })

  it('each built-in strategy implements AuthStrategy', () => {
    assertType<AuthStrategy>(new AnonymousAuthStrategy())
    assertType<AuthStrategy>(new ClientCredentialsAuthStrategy(credentials))
    assertType<AnonymousAuthStrategy>(new AnonymousAuthStrategy({ cache: { enabled: false } }))
    // @ts-expect-error a pre-auth strategy is not an anonymous one
    assertType<AnonymousAuthStrategy>(new PreAuthStrategy({ accessToken: 'secret' }))
    assertType<ClientCredentialsAuthStrategy>(new ClientCredentialsAuthStrategy(credentials))
    // @ts-expect-error an anonymous strategy is not one of client credentials
    assertType<ClientCredentialsAuthStrategy>(new AnonymousAuthStrategy())
    assertType<PreAuthStrategy>(new PreAuthStrategy({ accessToken: 'secret' }))
    // @ts-expect-error a client-credentials strategy is not a pre-auth one
    assertType<PreAuthStrategy>(new ClientCredentialsAuthStrategy(credentials))
  })
})
