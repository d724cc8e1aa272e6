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
  type AuthenticationServiceOptions,
  type AuthenticationType,
  type AuthProvider,
  type AuthStrategy,
  type AuthStrategyInitializeOptions,
  type Awaitable,
  type ClientCredentialsAuthConfig,
  type ClientCredentialsAuthServiceConfig,
  ClientCredentialsAuthStrategy,
  type PostAuthenticationCallback,
  type PreAuthConfig,
  type PreAuthServiceConfig,
  PreAuthStrategy,
  type TokenAuthServiceConfig,
  type TokenExpiringCallback,
} from '../index.ts'

const deploymentInfo = { apiDomain: 'api.example.test' }
const credentials = { tokenUrl: 'https://login.example.test/token', clientId: 'shop', clientSecret: 'secret' }

describe('what a host brings', () => {
  it('AuthProvider: something that gives a token', () => {
    assertType<AuthProvider>({ getToken: () => null })
    assertType<AuthProvider>({ getToken: async () => 'secret' })
    // @ts-expect-error a token is text or null
    assertType<AuthProvider>({ getToken: () => 7 })
  })

  it('AuthStrategy: three functions, and further ones where they mean something', () => {
    const least = { initialize() {}, authenticate() {}, getToken: () => 'secret' }
    assertType<AuthStrategy>(least)
    assertType<AuthStrategy>({ ...least, async logout() {} })
    // @ts-expect-error a provider alone is no strategy
    assertType<AuthStrategy>({ getToken: () => 'secret' })
    // @ts-expect-error a sign-out is a function
    assertType<AuthStrategy>({ ...least, logout: true })
  })

  it('AuthStrategyInitializeOptions: the deployment, and the scopes that are asked for', () => {
    assertType<AuthStrategyInitializeOptions>({ deploymentInfo, scopes: ['core.aiservices.read'] })
    // @ts-expect-error the deployment is missing
    assertType<AuthStrategyInitializeOptions>({ scopes: [] })
  })

  it('Awaitable: a value now, or a promise of it', () => {
    assertType<Awaitable<string>>('secret')
    assertType<Awaitable<string>>(Promise.resolve('secret'))
    // @ts-expect-error the promise is one of something else
    assertType<Awaitable<string>>(Promise.resolve(7))
  })

  it('AuthenticationResult, PostAuthenticationCallback: hears of the token', () => {
    assertType<PostAuthenticationCallback>(async ({ accessToken }) => void expectTypeOf(accessToken).toBeString())
    assertType<AuthenticationResult>({ accessToken: 'secret' })
    // @ts-expect-error a successful sign-in has a token
    assertType<AuthenticationResult>({ accessToken: null })
    // @ts-expect-error nothing tells when the token expires
    assertType<PostAuthenticationCallback>(({ expiresAt }) => expiresAt)
  })

  it('TokenExpiringCallback: hears when', () => {
    assertType<TokenExpiringCallback>(({ expiresAt }) => void expectTypeOf(expiresAt).toBeNumber())
    // @ts-expect-error nothing tells which token it is
    assertType<TokenExpiringCallback>(({ accessToken }) => accessToken)
  })
})

describe('how tokens are had', () => {
  it('AnonymousAuthServiceConfig: for anyone, with a cache that can be set', () => {
    assertType<AnonymousAuthServiceConfig>({ type: 'anonymous' })
    // @ts-expect-error nobody is named
    assertType<AnonymousAuthServiceConfig>({ type: 'anonymous', clientId: 'shop' })
    assertType<AnonymousAuthConfig>({ cache: { enabled: false } })
    // @ts-expect-error the token has no scopes of the host's here
    assertType<AnonymousAuthConfig>({ scopes: [] })
    assertType<AnonymousAuthCacheConfig>({ storageType: 'local' })
    // @ts-expect-error there is no such store
    assertType<AnonymousAuthCacheConfig>({ storageType: 'cookie' })
  })

  it('PreAuthConfig: a token that is there, and where the next one comes from', () => {
    assertType<PreAuthConfig>({ accessToken: 'secret', refreshTokenFn: async () => 'next', expiryBufferMs: 60_000 })
    // @ts-expect-error the token is missing
    assertType<PreAuthConfig>({ refreshTokenFn: () => 'next' })
    assertType<PreAuthServiceConfig>({ type: 'pre-auth', accessToken: 'secret' })
    // @ts-expect-error a token is brought, not a function that brings it
    assertType<PreAuthServiceConfig>({ type: 'pre-auth', accessToken: () => 'secret' })
  })

  it('TokenAuthServiceConfig: the older name, with the token under either name', () => {
    assertType<TokenAuthServiceConfig>({ type: 'token', accessToken: 'secret' })
    assertType<TokenAuthServiceConfig>({ type: 'token', token: 'secret' })
    // @ts-expect-error the token is missing
    assertType<TokenAuthServiceConfig>({ type: 'token' })
  })

  it('ClientCredentialsAuthConfig: where to ask, and as whom', () => {
    assertType<ClientCredentialsAuthConfig>({ ...credentials, scopes: ['a.b'], allowInBrowser: true })
    // @ts-expect-error without its secret a client is nobody
    assertType<ClientCredentialsAuthConfig>({ tokenUrl: credentials.tokenUrl, clientId: 'shop' })
    assertType<ClientCredentialsAuthServiceConfig>({ type: 'client-credentials', config: credentials })
    // @ts-expect-error the credentials stand in `config`
    assertType<ClientCredentialsAuthServiceConfig>({ type: 'client-credentials', ...credentials })
  })

  it('AuthenticationServiceConfig: each of them by its type', () => {
    assertType<AuthenticationServiceConfig>({ type: 'client-credentials', config: credentials })
    // @ts-expect-error there is no such type
    assertType<AuthenticationServiceConfig>({ type: 'basic', config: credentials })
  })

  it('AuthenticationInput: a config, a provider or a strategy', () => {
    assertType<AuthenticationInput>({ type: 'anonymous' })
    assertType<AuthenticationInput>({ getToken: () => 'secret' })
    assertType<AuthenticationInput>(new PreAuthStrategy({ accessToken: 'secret' }))
    // @ts-expect-error a token alone says too little
    assertType<AuthenticationInput>('secret')
  })

  it('AuthenticationType: what a service tells of itself', () => {
    expectTypeOf<AuthenticationType>().toEqualTypeOf<'anonymous' | 'pkce' | 'pre-auth' | 'client-credentials'>()
    // @ts-expect-error the older name counts as pre-auth
    assertType<AuthenticationType>('token')
  })
})

describe('what gets them', () => {
  it('AuthenticationService: any input, or none', () => {
    assertType<AuthenticationService>(new AuthenticationService())
    assertType<AuthenticationServiceOptions>({ cache: { enabled: false }, environment: { random: () => 0.5 } })
    // @ts-expect-error a logger is one of this library
    assertType<AuthenticationServiceOptions>({ logger: console })
    // @ts-expect-error a strategy alone has neither a timer nor one request for all
    assertType<AuthenticationService>(new AnonymousAuthStrategy())
  })

  it('strategies are strategies, each of its own', () => {
    assertType<AuthStrategy>(new AnonymousAuthStrategy())
    assertType<AuthStrategy>(new ClientCredentialsAuthStrategy(credentials))
    assertType<AnonymousAuthStrategy>(new AnonymousAuthStrategy({ cache: { enabled: false } }))
    // @ts-expect-error a token that was brought is not for anyone
    assertType<AnonymousAuthStrategy>(new PreAuthStrategy({ accessToken: 'secret' }))
    assertType<ClientCredentialsAuthStrategy>(new ClientCredentialsAuthStrategy(credentials))
    // @ts-expect-error an anonymous token has no credentials
    assertType<ClientCredentialsAuthStrategy>(new AnonymousAuthStrategy())
    assertType<PreAuthStrategy>(new PreAuthStrategy({ accessToken: 'secret' }))
    // @ts-expect-error credentials are no token that was brought
    assertType<PreAuthStrategy>(new ClientCredentialsAuthStrategy(credentials))
  })
})
