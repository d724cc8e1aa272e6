import { ANONYMOUS_CLIENT, DEFAULT_SCOPES, type DeploymentInfo, type OAuthMetadata, restBase } from '@aiagent/protocol'
import { AuthError } from '../errors.ts'
import type { Clock } from '../platform/clock.ts'
import { defaultEnvironment } from '../platform/default-environment.ts'
import type { Environment } from '../platform/environment.ts'
import { type RateLimitCallback, TOKEN_WAIT_MS } from '../platform/patient-fetch.ts'
import type { CacheAdapter } from '../storage/cache-adapter.ts'
import { isSharedStore, resolveCacheAdapter } from '../storage/create-cache-adapter.ts'
import { ExpiringStore, flightsOf } from '../storage/expiring-store.ts'
import { MemoryCacheAdapter } from '../storage/memory-cache-adapter.ts'
import type { StoreWarning } from '../storage/store-guard.ts'
import { Era } from '../util/era.ts'
import { isOnThisMachine } from '../util/loopback.ts'
import { expiryOf, expiryOfFresh, readClaims, renewalTime, SMALLEST_SKEW_MS } from './access-token.ts'
import type { AnonymousAuthConfig, AuthStrategyInitializeOptions } from './auth-strategy.ts'
import { fetchOAuthMetadata, planAnonymousToken } from './oauth-metadata.ts'
import { OwnStrategy } from './own-strategy.ts'
import { prefixScopes, scopeFingerprint } from './scopes.ts'
import { type GrantedToken, mayUseHttp, requestToken } from './token-request.ts'

const DEFAULT_PREFIX = 'aiagent_auth_'
/** Appended to a key prefix of the host, so that clearing the responses does not remove tokens. */
const TOKENS = 'auth_'
const METADATA_TTL_MS = 300_000

/**
 * An anonymous token: a client-credentials grant with placeholder credentials, sent to the address in the deployment's
 * metadata.
 *
 * Tokens and metadata are stored in sessionStorage, so they outlive the strategy; agents that share the store share
 * them.
 */
export class AnonymousAuthStrategy extends OwnStrategy {
  readonly authenticationType = 'anonymous'
  readonly #environment: Environment
  readonly #adapter: CacheAdapter
  readonly #prefix: string
  readonly #ttlMs: number
  readonly #metadata: ExpiringStore
  #scopes: readonly string[] = DEFAULT_SCOPES
  #expiresAt: number | undefined
  /** How far the clock of this device was ahead of the issuer's with the last new token, and of the monotonic clock. */
  #ahead = { ofIssuer: 0, ofMonotonic: 0 }
  #era = new Era()

  /** @param warn called once if the store fails or refuses writes */
  constructor(
    { cache }: AnonymousAuthConfig = {},
    environment: Environment = defaultEnvironment(),
    warn?: StoreWarning,
  ) {
    super()
    this.#environment = environment
    // Without a cache, the strategy keeps one token in memory. One request per call would have no benefit.
    this.#adapter = cache?.enabled === false ? new MemoryCacheAdapter() : resolveCacheAdapter(cache, environment, warn)
    this.#prefix = cache?.keyPrefix ? cache.keyPrefix + TOKENS : DEFAULT_PREFIX
    this.#ttlMs = cache?.ttl ?? METADATA_TTL_MS
    this.#metadata = new ExpiringStore(this.#adapter, environment.clock, this.#ttlMs, this.#prefix)
  }

  override get expiresAt(): number | undefined {
    return this.#expiresAt
  }

  override initialize(options: AuthStrategyInitializeOptions): void {
    this.given = options
    if (options.scopes) this.updateScopes(options.scopes)
  }

  /** The stored token for the current scopes if it is valid for five more minutes, otherwise a new one. */
  async getToken(): Promise<string> {
    const stored = await this.#tokens().get(this.#scopes, this.#skewMs)
    if (!stored) return this.#obtain()
    this.#expiresAt = stored.expiresAt
    return stored.accessToken
  }

  /** Requests a new token. */
  async refresh(): Promise<string> {
    await this.#tokens().delete(this.#scopes)
    return this.#obtain()
  }

  /** A different set of scopes causes a token request with the next `getToken()`. The order does not matter. */
  override updateScopes(scopes: readonly string[]): void {
    this.#scopes = [...new Set(scopes.map(scope => scope.trim()).filter(Boolean))]
  }

  /** Makes the next `getToken()` request a new token. */
  async clearTokenCache(): Promise<void> {
    await this.#tokens().clear()
  }

  /** Makes the next token request fetch the metadata again. */
  async clearMetadataCache(): Promise<void> {
    await this.#metadata.remove(`${this.#prefix}metadata:`)
  }

  /** Removes tokens and metadata from a page's own store. A store that several users share keeps them. */
  override async logout(): Promise<void> {
    const deployment = this.given?.deploymentInfo
    this.cleanup()
    if (!deployment || isSharedStore(this.#adapter, this.#environment)) return
    await Promise.all([this.clearTokenCache(), this.#metadata.remove(this.#metadataKey(deployment))])
  }

  /** As {@link logout}. */
  override forget(): Promise<void> {
    return this.logout()
  }

  /**
   * Ends the requests in flight, except those that another agent waits for. The stored token remains, so that the next
   * agent of the page can use it.
   */
  override cleanup(): void {
    this.#era = this.#era.end(new AuthError('The token request was ended by cleanup().', 'token_missing'))
  }

  /** One request at a time per set of scopes, also across agents that share the store. */
  async #obtain(): Promise<string> {
    const scopes = this.#scopes
    const tokens = this.#tokens()
    const obtain = (signal: AbortSignal) => this.#request(scopes, tokens, signal)
    const obtained = await this.#era.during(signal =>
      flightsOf(this.#adapter).join(obtain, signal, tokens.keyOf(scopes)),
    )
    const { accessToken, expiresAt } = obtained as StoredToken
    this.#expiresAt = expiresAt
    const { clock } = this.#environment
    const ofIssuer = expiresAt - (expiryOf(accessToken) ?? expiresAt)
    this.#ahead = { ofIssuer, ofMonotonic: clock.now() - clock.monotonic() }
    return accessToken
  }

  /** How far the clock of this device is ahead of the issuer's, in milliseconds. Unknown, and 0, after it was set back. */
  get #skewMs(): number {
    const { clock } = this.#environment
    const { ofIssuer, ofMonotonic } = this.#ahead
    const isSetBack = clock.now() - clock.monotonic() < ofMonotonic - SMALLEST_SKEW_MS
    return isSetBack ? 0 : ofIssuer
  }

  async #request(scopes: readonly string[], tokens: TokenCache, signal: AbortSignal): Promise<StoredToken> {
    const { deploymentInfo: deployment, endpoint, onRateLimited } = this.#required()
    const metadataKey = this.#metadataKey(deployment)
    // A stored token needs no metadata.
    const call = { deployment, endpoint, scopes, metadata: this.#metadata, metadataKey, onRateLimited }
    const { accessToken, expiresIn } = await requestAnonymousToken(this.#environment, call, signal)
    return tokens.set(scopes, accessToken, expiresIn === undefined ? this.#ttlMs : expiresIn * 1000)
  }

  #metadataKey({ apiDomain, tenantId }: DeploymentInfo): string {
    return `${this.#prefix}metadata:customer:${apiDomain}:${tenantId || 'deployment'}:false`
  }

  #tokens(): TokenCache {
    const { apiDomain, tenantId } = this.#required().deploymentInfo
    // Includes the host: two deployments may have the same tenant id, or none.
    const owner = `${this.#prefix}${tenantId || 'tenantId'}:${restBase(apiDomain)}`
    return new TokenCache(this.#adapter, this.#environment.clock, owner)
  }

  #required(): AuthStrategyInitializeOptions {
    if (this.given) return this.given
    throw new AuthError('The anonymous strategy is not initialized. Call initialize() first.', 'token_missing')
  }
}

export interface AnonymousTokenCall {
  deployment: DeploymentInfo
  /** Address of the deployment, as the host configured it. */
  endpoint: string | undefined
  scopes: readonly string[]
  /** Where the metadata is stored, and under which key. */
  metadata: ExpiringStore
  metadataKey: string
  onRateLimited: RateLimitCallback | undefined
}

/**
 * Requests an anonymous token from the address in the deployment's metadata. Both requests share one time limit.
 *
 * @throws {AuthError} `metadata_failed` or `token_request_failed`
 */
async function requestAnonymousToken(
  environment: Pick<Environment, 'fetch' | 'clock'>,
  { deployment, endpoint, scopes, metadata, metadataKey, onRateLimited }: AnonymousTokenCall,
  signal: AbortSignal,
): Promise<GrantedToken> {
  const { apiDomain, tenantId } = deployment
  const { clock } = environment
  const endsAt = clock.monotonic() + TOKEN_WAIT_MS
  const known = await metadata.load(
    metadataKey,
    async flight => {
      const fetched = await fetchOAuthMetadata(environment, apiDomain, flight, undefined, onRateLimited)
      // Metadata without a token address is not stored, so that a corrected deployment works at once.
      planAnonymousToken(fetched, tenantId)
      return fetched
    },
    signal,
    stored => (canPlan(stored as OAuthMetadata, tenantId) ? stored : undefined),
  )
  const { tokenUrl, scopePrefix } = planAnonymousToken(known, tenantId)
  const request = {
    tokenUrl,
    clientId: ANONYMOUS_CLIENT.id,
    clientSecret: ANONYMOUS_CLIENT.secret,
    scopes: prefixScopes(scopes, scopePrefix),
    allowHttp: mayUseHttp(apiDomain, endpoint),
    allowLoopback: endpoint === undefined || isOnThisMachine(restBase(endpoint)),
    onRateLimited,
    limitMs: endsAt - clock.monotonic(),
  }
  return requestToken(environment, request, signal)
}

/** Whether stored metadata contains a token address. Other code of the page may have written it. */
function canPlan(stored: OAuthMetadata, tenantId: string | null | undefined): boolean {
  try {
    return planAnonymousToken(stored, tenantId).tokenUrl !== ''
  } catch {
    return false
  }
}

/** An anonymous token as it is stored. */
export interface StoredToken {
  readonly accessToken: string
  /** By the clock of this device at that time, in milliseconds since the epoch. Used where the token has no `exp`. */
  readonly expiresAt: number
}

/**
 * Anonymous tokens in a store, one per set of scopes: a token for fewer scopes is never used where more are needed.
 *
 * A store that fails, or an entry with another shape, counts as empty.
 */
export class TokenCache {
  readonly #adapter: CacheAdapter
  readonly #clock: Clock
  readonly #prefix: string

  /** @param owner distinguishes deployments in the keys */
  constructor(adapter: CacheAdapter, clock: Clock, owner: string) {
    this.#adapter = adapter
    this.#clock = clock
    this.#prefix = `${owner}:anonymous_token:`
  }

  keyOf(scopes: readonly string[]): string {
    return this.#prefix + scopeFingerprint(scopes)
  }

  /**
   * The stored token for these scopes, unless it is about to expire.
   *
   * @param skewMs how far the clock of this device is ahead of the issuer's
   */
  async get(scopes: readonly string[], skewMs = 0): Promise<StoredToken | undefined> {
    try {
      const entry = await this.#adapter.get(this.keyOf(scopes))
      if (!entry || !isStoredToken(entry.value)) return undefined
      const { accessToken } = entry.value
      const { exp, iat } = readClaims(accessToken)
      // The stored times have the error that the clock had when they were stored.
      const expiresAt = exp === undefined ? entry.value.expiresAt : exp * 1000 + skewMs
      const issuedAt = exp === undefined || iat === undefined ? entry.timestamp : iat * 1000 + skewMs
      return this.#clock.now() < renewalTime(expiresAt, issuedAt) ? { accessToken, expiresAt } : undefined
    } catch {
      return undefined
    }
  }

  /**
   * Stores a newly issued token.
   *
   * @param lifeMs lifetime to assume if the token does not contain an expiry
   */
  async set(scopes: readonly string[], accessToken: string, lifeMs: number): Promise<StoredToken> {
    const timestamp = this.#clock.now()
    const value = { accessToken, expiresAt: expiryOfFresh(accessToken, timestamp) ?? timestamp + lifeMs }
    try {
      await this.#adapter.set(this.keyOf(scopes), { value, timestamp })
    } catch {
      // Not stored: the next call requests another.
    }
    return value
  }

  async delete(scopes: readonly string[]): Promise<void> {
    await this.#adapter.delete(this.keyOf(scopes))
  }

  /** Removes the tokens of every set of scopes. */
  async clear(): Promise<void> {
    await this.#adapter.clear(this.#prefix)
  }
}

function isStoredToken(value: unknown): value is StoredToken {
  if (typeof value !== 'object' || value === null) return false
  const { accessToken, expiresAt } = value as Partial<StoredToken>
  return typeof accessToken === 'string' && accessToken !== '' && typeof expiresAt === 'number'
}
