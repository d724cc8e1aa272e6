import { DEFAULT_SCOPES, type DeploymentInfo, restBase } from '@aiagent/protocol'
import { AuthError } from '../errors.ts'
import { defaultEnvironment } from '../platform/default-environment.ts'
import type { Environment } from '../platform/environment.ts'
import type { CacheAdapter } from '../storage/cache-adapter.ts'
import { isSharedStore, resolveCacheAdapter } from '../storage/create-cache-adapter.ts'
import { ExpiringStore, flightsOf } from '../storage/expiring-store.ts'
import type { StoreWarning } from '../storage/guarded-cache-adapter.ts'
import { MemoryCacheAdapter } from '../storage/memory-cache-adapter.ts'
import { Lifetime } from '../util/lifetime.ts'
import { requestAnonymousToken } from './anonymous-token.ts'
import type { AnonymousAuthConfig, AuthStrategyInitializeOptions, TokenSource } from './auth-strategy.ts'
import { type StoredToken, TokenCache } from './token-cache.ts'

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
export class AnonymousAuthStrategy implements TokenSource {
  readonly #environment: Environment
  readonly #adapter: CacheAdapter
  readonly #prefix: string
  readonly #ttlMs: number
  readonly #metadata: ExpiringStore
  /** What the last {@link initialize} received. */
  #given: AuthStrategyInitializeOptions | undefined
  #scopes: readonly string[] = DEFAULT_SCOPES
  #expiresAt: number | undefined
  #life = new Lifetime()

  /** @param warn called once if the store fails or refuses writes */
  constructor(
    { cache }: AnonymousAuthConfig = {},
    environment: Environment = defaultEnvironment(),
    warn?: StoreWarning,
  ) {
    this.#environment = environment
    // Without a cache, the strategy keeps one token in memory. One request per call would have no benefit.
    this.#adapter = cache?.enabled === false ? new MemoryCacheAdapter() : resolveCacheAdapter(cache, environment, warn)
    this.#prefix = cache?.keyPrefix ? cache.keyPrefix + TOKENS : DEFAULT_PREFIX
    this.#ttlMs = cache?.ttl ?? METADATA_TTL_MS
    this.#metadata = new ExpiringStore(this.#adapter, environment.clock, this.#ttlMs, this.#prefix)
  }

  get expiresAt(): number | undefined {
    return this.#expiresAt
  }

  initialize(options: AuthStrategyInitializeOptions): void {
    this.#given = options
    if (options.scopes) this.updateScopes(options.scopes)
  }

  /** Obtains a token without user interaction. */
  async authenticate(): Promise<void> {
    const accessToken = await this.getToken()
    await this.#given?.postAuthentication?.({ accessToken })
  }

  /** The stored token for the current scopes if it is valid for five more minutes, otherwise a new one. */
  async getToken(): Promise<string> {
    const stored = await this.#tokens().get(this.#scopes)
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
  updateScopes(scopes: readonly string[]): void {
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
  async logout(): Promise<void> {
    const deployment = this.#given?.deploymentInfo
    this.cleanup()
    if (!deployment || isSharedStore(this.#adapter, this.#environment)) return
    await Promise.all([this.clearTokenCache(), this.#metadata.remove(this.#metadataKey(deployment))])
  }

  /** As {@link logout}. */
  forget(): Promise<void> {
    return this.logout()
  }

  /**
   * Ends the requests in flight, except those that another agent waits for. The stored token remains, so that the next
   * agent of the page can use it.
   */
  cleanup(): void {
    this.#life.end(new AuthError('The token request was ended by cleanup().', 'token_missing'))
    this.#life = new Lifetime()
  }

  /** One request at a time per set of scopes, also across agents that share the store. */
  async #obtain(): Promise<string> {
    const scopes = this.#scopes
    const tokens = this.#tokens()
    const obtain = (signal: AbortSignal) => this.#request(scopes, tokens, signal)
    const obtained = await this.#life.during(signal =>
      flightsOf(this.#adapter).run(tokens.keyOf(scopes), obtain, signal),
    )
    const { accessToken, expiresAt } = obtained as StoredToken
    this.#expiresAt = expiresAt
    return accessToken
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
    if (this.#given) return this.#given
    throw new AuthError('The anonymous strategy is not initialized. Call initialize() first.', 'token_missing')
  }
}
