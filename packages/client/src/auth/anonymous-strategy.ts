import { DEFAULT_SCOPES, restBase } from '@aiagent/protocol'
import { AuthError } from '../errors.ts'
import type { Logger } from '../logger.ts'
import { defaultEnvironment } from '../platform/default-environment.ts'
import type { Environment } from '../platform/environment.ts'
import { TOKEN_WAIT_MS } from '../platform/http.ts'
import { KeyedStore, type KeyParts, KINDS } from '../storage/keyed-store.ts'
import { MemoryCacheAdapter } from '../storage/memory-cache-adapter.ts'
import { Era } from '../util/era.ts'
import { ClockTime, expiryOf, expiryOfFresh, readClaims, renewalTime } from './access-token.ts'
import type { AnonymousAuthConfig, AuthStrategyInitializeOptions } from './auth-strategy.ts'
import { OwnStrategy } from './own-strategy.ts'
import { prefixScopes, scopeFingerprint, uniqueScopes } from './scopes.ts'
import { type AnonymousTokenPlan, fetchOAuthMetadata, planAnonymousToken, requestToken } from './token-request.ts'

/** Lifetime of a token for which neither the token nor its response says one, in milliseconds. */
const ASSUMED_LIFE_MS = 300_000

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
  readonly #assumedLifeMs: number
  /** One token per set of scopes: a token for fewer scopes is never used where more are needed. */
  readonly #tokens: KeyedStore<StoredToken>
  /** What the metadata says of the token endpoint. */
  readonly #metadata: KeyedStore<AnonymousTokenPlan>
  /** Parts of the key of each token. Two deployments may have the same tenant id, or none. */
  #owner: KeyParts = {}
  /** Parts of the key of the metadata. */
  #metadataOwner: KeyParts = {}
  #scopes: readonly string[] = DEFAULT_SCOPES
  /** Key of the token for the scopes; empty before {@link initialize}. */
  #key = ''
  #expiresAt: number | undefined
  /** The last token that this strategy has obtained. Its expiry by the present clock shows the skew of that. */
  #own: { readonly accessToken: string; readonly expiry: ClockTime } | undefined
  #era = new Era()

  /** @param logger receives a warning if the store fails or refuses writes; without it, the console does */
  constructor({ cache }: AnonymousAuthConfig = {}, environment: Environment = defaultEnvironment(), logger?: Logger) {
    super()
    this.#environment = environment
    // Without a cache, the strategy keeps one token in memory. One request per call would have no benefit.
    const adapter = cache?.enabled === false ? new MemoryCacheAdapter() : undefined
    const place = { environment, cache, logger, adapter }
    this.#assumedLifeMs = cache?.ttl ?? ASSUMED_LIFE_MS
    this.#tokens = new KeyedStore(KINDS.anonymousToken, place)
    this.#metadata = new KeyedStore(KINDS.metadata, place)
  }

  override get expiresAt(): number | undefined {
    return this.#expiresAt
  }

  override initialize(options: AuthStrategyInitializeOptions): void {
    const { apiDomain, tenantId } = options.deploymentInfo
    this.given = options
    this.#owner = { tenant: tenantId || 'tenantId', api: restBase(apiDomain) }
    this.#metadataOwner = { tenant: tenantId || 'deployment', apiDomain }
    this.updateScopes(options.scopes ?? this.#scopes)
  }

  /** The stored token for the current scopes if it is valid for five more minutes, otherwise a new one. */
  async getToken(): Promise<string> {
    const era = this.#era
    const stored = await this.#tokens.get(this.#key)
    const { accessToken, expiresAt: storedExpiry } = Object(stored?.value) as { [Field in keyof StoredToken]?: unknown }
    // Other code may have written it.
    if (!stored || typeof accessToken !== 'string' || accessToken === '' || typeof storedExpiry !== 'number')
      return this.#obtain(era)
    const { exp, iat } = readClaims(accessToken)
    const own = this.#own
    const skewMs = own ? own.expiry.at - (expiryOf(own.accessToken) ?? own.expiry.at) : 0
    // The stored times have the error that the clock had when they were stored.
    const known = exp === undefined ? storedExpiry : exp * 1000 + skewMs
    const expiresAt = accessToken === own?.accessToken ? own.expiry.at : known
    const lifeMs = exp === undefined || iat === undefined ? storedExpiry - stored.timestamp : (exp - iat) * 1000
    if (this.#environment.clock.now() >= renewalTime(expiresAt, expiresAt - lifeMs)) return this.#obtain(era)
    this.#expiresAt = expiresAt
    return accessToken
  }

  /** Requests a new token. */
  async refresh(): Promise<string> {
    const era = this.#era
    await this.#tokens.delete(this.#key)
    return this.#obtain(era)
  }

  /** A different set of scopes causes a token request with the next `getToken()`. The order does not matter. */
  override updateScopes(scopes: readonly string[]): void {
    this.#scopes = uniqueScopes(scopes)
    if (this.given) this.#key = this.#tokens.key({ ...this.#owner, scopes: scopeFingerprint(this.#scopes) })
  }

  /**
   * Makes the next `getToken()` request a new token.
   *
   * @throws when the store failed or did not answer in time: tokens may remain, but are not used
   */
  async clearTokenCache(): Promise<void> {
    this.#required()
    await this.#tokens.remove(this.#owner)
  }

  /** Makes the next token request fetch the metadata again. */
  async clearMetadataCache(): Promise<void> {
    await this.#metadata.remove({})
  }

  /** Removes tokens and metadata from a page's own store. A store that several users share keeps them. */
  override async logout(): Promise<void> {
    this.cleanup()
    this.#own = undefined
    if (!this.given || this.#tokens.isShared) return
    await Promise.all([this.clearTokenCache(), this.#metadata.remove(this.#metadataOwner)])
  }

  /**
   * Ends the requests in flight, except those that another agent waits for. The stored token remains, so that the next
   * agent of the page can use it.
   */
  override cleanup(): void {
    this.#era = this.#era.end(new AuthError('The token request was ended by cleanup().', 'token_missing'))
  }

  /**
   * One request at a time per set of scopes, also across agents that share the store.
   *
   * @param era in which the token was asked for
   */
  async #obtain(era: Era): Promise<string> {
    const key = this.#key
    const obtain = this.#request.bind(this, this.#scopes, key)
    const { accessToken, expiresAt } = await era.during(signal => this.#tokens.share(key, obtain, signal))
    this.#expiresAt = expiresAt
    this.#own = { accessToken, expiry: new ClockTime(this.#environment.clock, expiresAt) }
    return accessToken
  }

  /**
   * Requests a token from the address in the deployment's metadata. Both requests share one time limit.
   *
   * @throws {AuthError} `metadata_failed` or `token_request_failed`
   */
  async #request(scopes: readonly string[], key: string, signal: AbortSignal): Promise<StoredToken> {
    const given = this.#required()
    const { apiDomain, tenantId } = given.deploymentInfo
    const { clock } = this.#environment
    const endsAt = clock.monotonic() + TOKEN_WAIT_MS
    const { tokenUrl, scopePrefix } = await this.#metadata.load(
      this.#metadata.key(this.#metadataOwner),
      async flight => {
        const { onRateLimited } = given
        const metadata = await fetchOAuthMetadata(this.#environment, apiDomain, flight, undefined, onRateLimited)
        // Metadata without a token address is not stored, so that a corrected deployment works at once.
        return planAnonymousToken(metadata, tenantId)
      },
      signal,
      // Other code of the page may have written it.
      stored => typeof stored.tokenUrl === 'string' && typeof stored.scopePrefix === 'string' && stored,
    )
    const limitMs = endsAt - clock.monotonic()
    const request = { tokenUrl, scopes: prefixScopes(scopes, scopePrefix) }
    const { accessToken, expiresIn } = await requestToken(this.#environment, request, given, signal, limitMs)
    const now = clock.now()
    const assumed = now + (expiresIn === undefined ? this.#assumedLifeMs : expiresIn * 1000)
    const expiresAt = expiryOfFresh(accessToken, now) ?? assumed
    if (this.#tokens.isWanted(key, signal)) await this.#tokens.set(key, { accessToken, expiresAt }, { expiresAt })
    return { accessToken, expiresAt }
  }

  #required(): AuthStrategyInitializeOptions {
    if (this.given) return this.given
    throw new AuthError('The anonymous strategy is not initialized. Call initialize() first.', 'token_missing')
  }
}

/** An anonymous token as it is stored. */
export interface StoredToken {
  readonly accessToken: string
  /** By the clock of this device at that time, in milliseconds since the epoch. Used where the token has no `exp`. */
  readonly expiresAt: number
}
