import {
  type AgentDetails,
  type AgentListItem,
  type DeploymentInfo,
  type MaskingPatterns,
  type Portal,
  type PortalDetails,
  ProtocolError,
  parseDeploymentInfo,
  QUERY,
  type Reader,
  restBase,
  type UserDetails,
  type UserProfile,
} from '@aiagent/protocol'
import { requireAddress } from '../check-config.ts'
import { ApiError, AuthError } from '../errors.ts'
import { defaultEnvironment, resolveEnvironment } from '../platform/default-environment.ts'
import type { Environment } from '../platform/environment.ts'
import type { RateLimitCallback } from '../platform/patient-fetch.ts'
import type { CacheAdapter, CacheConfig } from '../storage/cache-adapter.ts'
import { KeyedStore, KINDS } from '../storage/keyed-store.ts'
import { untilAborted } from '../util/abort.ts'
import { isOnThisMachine } from '../util/loopback.ts'
import { subjectFingerprint } from '../util/subject-fingerprint.ts'
import type {
  ApiCallOptions,
  ApiHelperConfig,
  GetAgentDetailsOptions,
  GetAgentsByPortalOptions,
  GetAiAgentSessionOptions,
  GetConnectedAppsOptions,
  GetCustomerDetailsOptions,
  GetDeploymentInfoOptions,
  GetMaskingPatternsOptions,
  GetMyPortalsOptions,
  GetPortalDetailsOptions,
  GetPortalsOptions,
  GetPreviousTranscriptOptions,
  GetUserDetailsOptions,
  GetUserProfilesOptions,
  SelectUserProfileOptions,
} from './api-options.ts'
import type { Given, RestCall, Send } from './calls.ts'
import * as calls from './calls.ts'
import { type HttpCall, type NamedCall, request, withCallName } from './http-client.ts'
import { DEFAULT_LANGUAGE, toAcceptLanguage, toLangParameter } from './language.ts'

/** The store of the deployment info of all agents of the page or process. @default that of the place */
let sharedAdapter: CacheAdapter | undefined
/** The last store of deployment info over each place, so that one call can empty them. */
const infoStores = /* @__PURE__ */ new Map<object, KeyedStore<DeploymentInfo>>()

/**
 * The REST calls of the service, each with a time limit of 30 seconds. Can be used without an `AiAgent`.
 *
 * A failing call rejects with an {@link ApiError} that names it. A call that needs a token and has none rejects with an
 * {@link AuthError} (`token_missing`) before any request.
 */
export class ApiHelper {
  readonly #environment: Environment
  readonly #config: ApiHelperConfig
  readonly #cache: KeyedStore
  /** Part of the key of each response. */
  readonly #api: string
  #language = DEFAULT_LANGUAGE

  /** @param environment replaces parts of the platform, as the second argument of `AiAgent` does */
  constructor(config: ApiHelperConfig, environment?: Partial<Environment>) {
    const { apiDomain, cache, language, logger } = config
    this.#environment = resolveEnvironment(environment)
    this.#config = config
    this.#cache = new KeyedStore(KINDS.response, { environment: this.#environment, cache, logger })
    this.#api = restBase(apiDomain)
    this.setLanguage(language)
  }

  /**
   * Loads the addresses of a deployment's services. Needs no token. Cached for five minutes for all agents of the page
   * or process.
   *
   * @param endpoint host or address of the deployment
   * @param cache `{ enabled: false }` disables the cache for this call
   * @throws {ConfigError} for an endpoint that is missing or cannot be used
   */
  static async getDeploymentInfo(
    endpoint: string,
    cache?: CacheConfig,
    options: GetDeploymentInfoOptions = {},
  ): Promise<DeploymentInfo> {
    return loadDeploymentInfo(requireAddress({ endpoint }), cache, options)
  }

  /**
   * Replaces the store of the deployment info for all agents of the page or process; undefined restores the default.
   */
  static setStaticCacheAdapter(adapter: CacheAdapter | undefined): void {
    sharedAdapter = adapter
  }

  /** Removes the cached info of every deployment. What a store that fails keeps is not read any more. */
  static async clearDeploymentInfoCache(): Promise<void> {
    const place = { environment: defaultEnvironment(), cache: { adapter: sharedAdapter } }
    const stores = [...infoStores.values(), new KeyedStore<DeploymentInfo>(KINDS.deploymentInfo, place)]
    infoStores.clear()
    await Promise.allSettled(stores.map(async store => store.remove({})))
  }

  /** Sets the language of calls that send one; null, undefined and blank set `en-us`. */
  setLanguage(code: string | null | undefined): void {
    this.#language = code?.trim() || DEFAULT_LANGUAGE
  }

  /** The language as it was set. */
  getLanguage(): string {
    return this.#language
  }

  /** Loads the details of an agent. The result always contains the agent's id. */
  getAgentDetails(options: GetAgentDetailsOptions): Promise<AgentDetails> {
    return this.#call(calls.getAgentDetails, options)
  }

  /**
   * Creates a session and returns its id. Never cached.
   *
   * @throws {SDKError} `SESSION_ID_INVALID` when the service returns an invalid id
   * @throws {ApiError} `SESSION_UNAUTHORIZED` when the service rejects the token, also after a refresh if one is
   *   possible
   */
  getAiAgentSession(options: GetAiAgentSessionOptions): Promise<string> {
    return this.#call(calls.getAiAgentSession, options)
  }

  /** Loads all portals, optionally of one department. All pages are loaded; a page that fails fails the call. */
  getPortals(options: GetPortalsOptions = {}): Promise<Portal[]> {
    return this.#call(calls.getPortals, options)
  }

  /** Loads the portals of the signed-in user, all pages. */
  getMyPortals(options: GetMyPortalsOptions = {}): Promise<Portal[]> {
    return this.#call(calls.getMyPortals, options)
  }

  /** Loads the details of a portal; null for an empty response. */
  getPortalDetails(options: GetPortalDetailsOptions): Promise<PortalDetails | null> {
    return this.#call(calls.getPortalDetails, options)
  }

  /** Loads the agents of a portal. A response that is not a list counts as empty. */
  getAgentsByPortal(options: GetAgentsByPortalOptions): Promise<AgentListItem[]> {
    return this.#call(calls.getAgentsByPortal, options)
  }

  /** Loads the profiles of the user in a portal. */
  getUserProfiles(options: GetUserProfilesOptions): Promise<UserProfile[]> {
    return this.#call(calls.getUserProfiles, options)
  }

  /** Stores the user's selected profile at the service, and removes every cached list of profiles. */
  selectUserProfile(options: SelectUserProfileOptions): Promise<void> {
    return this.#call(calls.selectUserProfile, options)
  }

  /**
   * Loads the signed-in user. Returns null if the lookup fails: it rejects only without an access token, or when its
   * signal is aborted.
   */
  getUserDetails(options: GetUserDetailsOptions = {}): Promise<UserDetails | null> {
    return this.#call(calls.getUserDetails, options)
  }

  /** Loads the signed-in customer; null as for getUserDetails(). Needs the scope `core.customermgr.read`. */
  getCustomerDetails(options: GetCustomerDetailsOptions = {}): Promise<UserDetails | null> {
    return this.#call(calls.getCustomerDetails, options)
  }

  /** Loads the masking rules of a department. */
  getMaskingPatterns(options: GetMaskingPatternsOptions): Promise<MaskingPatterns> {
    return this.#call(calls.getMaskingPatterns, options)
  }

  /** Loads the connected apps of an agent, as the service lists them. Needs no token. */
  getConnectedApps(options: GetConnectedAppsOptions): Promise<unknown> {
    return this.#call(calls.getConnectedApps, options)
  }

  /** Loads the messages of an earlier session, as the service lists them. Never cached. */
  getPreviousTranscript(options: GetPreviousTranscriptOptions): Promise<unknown[]> {
    return this.#call(calls.getPreviousTranscript, options)
  }

  /**
   * Removes the cached responses that depend on the user of this helper, as a logout does. In a shared store (a cache
   * adapter, or the memory of a process), the responses of other users stay. In a page's own store, every response of
   * this API host is removed.
   *
   * @param token access token of the user, if no call with it was made through this helper
   * @throws when the store failed or did not answer within 10 seconds: entries may remain
   */
  async clearUserCache(token?: string): Promise<void> {
    const user = this.#cache.isShared && token ? subjectFingerprint(token) : undefined
    await this.#cache.removeUsers({ api: this.#api }, user)
  }

  /** Removes every cached response. */
  clearCache(): Promise<void> {
    return this.#forget()
  }

  /** Removes the cached responses of one call, such as `'getAgentDetails'`; without a name, all of them. */
  invalidateCache(name?: string): Promise<void> {
    return this.#forget(name)
  }

  /** Makes a call: its cached response while that is fresh, otherwise the response of the service. */
  async #call<Options extends ApiCallOptions, Wire, Result>(
    row: RestCall<Options, Wire, Result>,
    options: Options,
  ): Promise<Result> {
    const { given, named } = describe(row, options)
    const { signal } = options
    const wire = await withCallName(named, signal, this.#load(row, given, named, options)).catch((error: unknown) => {
      if (row.isOptional && error instanceof ApiError && error.reason !== 'aborted') return undefined
      throw error
    })
    if (row.outdates) await this.#forget(row.outdates)
    if (row.isOptional && wire === undefined) return null as Result
    return row.result ? row.result(wire as Wire, given) : (wire as unknown as Result)
  }

  /** Removes the cached responses of one call; without a name, all of them. */
  async #forget(name?: string): Promise<void> {
    try {
      await this.#cache.remove({}, undefined, name)
    } catch (error) {
      const { logger } = this.#config
      const message = 'Could not remove cached responses from the cache adapter. They stay until they expire.'
      if (logger) logger.warn(message, { error })
      else this.#environment.console.warn(message, error)
    }
  }

  async #load<Options extends ApiCallOptions, Wire>(
    row: RestCall<Options, Wire, unknown>,
    given: Given<Options>,
    named: NamedCall,
    options: Options,
  ): Promise<Wire> {
    // Get the token first: cached responses are only for callers who could make the request.
    const token = row.auth === 'none' ? undefined : await this.#token(named, options)
    const language = row.language && toAcceptLanguage(this.#language)
    const wireLanguage = row.language === 'both' ? toLangParameter(this.#language) : undefined
    const own = (options as { shortUrlTemplate?: string }).shortUrlTemplate
    const shortUrlTemplate = row.hasTemplate && (textOf(own) || textOf(this.#config.shortUrlTemplate))
    const { endpoint = this.#config.apiDomain } = this.#config
    const parse = row.parse && withEncryptedAddresses(row.parse, row.addresses, endpoint)
    const call: Omit<HttpCall<Wire>, 'token' | 'signal' | 'query'> = {
      ...named,
      base: (given as { apiDomain?: string }).apiDomain || this.#config.apiDomain,
      path: row.path(given),
      secret: row.secret && textOf(given[row.secret]),
      bareToken: row.auth === 'bare',
      headers: language ? { Accept: 'application/json', 'Accept-Language': language } : undefined,
      credentials: row.credentials,
      parse,
      noContent: row.noContent,
      onRateLimited: this.#onRateLimited,
    }
    const fetch = (accessToken: string | undefined, signal: AbortSignal | undefined): Promise<Wire> => {
      const send: Send<Wire> = (variation = {}) => {
        const query = queryOf(
          {
            [QUERY.LANGUAGE]: wireLanguage,
            ...variation.query,
            ...row.query?.(given),
            [QUERY.SHORT_URL_TEMPLATE]: shortUrlTemplate,
          },
          row.hasPlainDollar,
        )
        const { method = call.method } = variation
        const body = variation.method ? undefined : row.body?.(given)
        return request(this.#environment, { ...call, method, query, body, token: accessToken, signal })
      }
      return row.load ? row.load(send, given, message => this.#config.logger?.warn(message)) : send()
    }
    if (!row.keptBy) return row.renews ? this.#renewing(fetch, token, options.signal) : fetch(token, options.signal)
    const parameters: Record<string, string | undefined> = {
      language: wireLanguage ? `${wireLanguage},${language}` : language,
      shortUrlTemplate: shortUrlTemplate || undefined,
    }
    for (const name of row.keptBy) parameters[name] = textOf(given[name]) || undefined
    const user = row.perUser && token ? subjectFingerprint(token) : undefined
    const key = this.#cache.key({ name: row.name, ...parameters, api: this.#api, user })
    const work = (signal: AbortSignal) => fetch(token, signal)
    return this.#cache.load(key, work, options.signal, row.parseKept ?? parse) as Promise<Wire>
  }

  /** Repeats a call once with a new token if the service rejects the token, as far as there is a new one. */
  async #renewing<Wire>(
    fetch: (token: string | undefined, signal: AbortSignal | undefined) => Promise<Wire>,
    token: string | undefined,
    signal: AbortSignal | undefined,
  ): Promise<Wire> {
    try {
      return await fetch(token, signal)
    } catch (refused) {
      const { refreshToken } = this.#config
      if (!(refused instanceof ApiError && refused.status === 401) || !refreshToken) throw refused
      const renewed = await untilAborted(refreshToken(), signal).catch((cause: unknown) => {
        signal?.throwIfAborted()
        refused.cause = cause
      })
      if (!renewed || renewed === token) throw refused
      return fetch(renewed, signal)
    }
  }

  /**
   * The access token of a call.
   *
   * @throws {AuthError} reason `token_missing` when there is none
   */
  async #token({ name }: NamedCall, { authToken, signal }: ApiCallOptions): Promise<string> {
    const given = authToken?.trim()
    if (given) return given
    const token = (await untilAborted(Promise.resolve(this.#config.getToken?.()), signal))?.trim()
    if (token) return token
    throw new AuthError(
      `${name} needs an access token, and there is none. Pass authToken, or getToken to the constructor.`,
      'token_missing',
    )
  }

  readonly #onRateLimited: RateLimitCallback = limit => {
    const { onRateLimited, logger } = this.#config
    if (onRateLimited) onRateLimited(limit)
    else logger?.warn(`${limit.operation} is repeated in ${limit.retryInMs} ms: the service limits the rate of calls.`)
  }
}

/**
 * The deployment info of an endpoint, cached for five minutes for all agents of the page or process.
 *
 * @param base address of the endpoint, with its scheme
 */
export function loadDeploymentInfo(
  base: string,
  cache: CacheConfig | undefined,
  { environment: replaced, signal, onRateLimited }: GetDeploymentInfoOptions,
): Promise<DeploymentInfo> {
  const environment = resolveEnvironment(replaced)
  const { named } = describe(calls.getDeploymentInfo, {})
  const parse = withEncryptedAddresses(parseDeploymentInfo, calls.getDeploymentInfo.addresses, base)
  const call = { ...named, base, path: named.publicPath, query: '', parse, onRateLimited }
  const fetch = (flight: AbortSignal | undefined) => request(environment, { ...call, signal: flight })
  if (cache?.enabled === false) return fetch(signal)
  const store = new KeyedStore<DeploymentInfo>(KINDS.deploymentInfo, { environment, cache: { adapter: sharedAdapter } })
  infoStores.set(sharedAdapter ?? environment.sessionStorage ?? environment.memory, store)
  return withCallName(named, signal, store.load(store.key({ deployment: restBase(base) }), fetch, signal, parse))
}

/** The options of a call with its defaults, and the part of the call that its errors contain. */
function describe<Options, Wire, Result>(
  row: RestCall<Options, Wire, Result>,
  options: Options,
): { given: Given<Options>; named: NamedCall } {
  const { name, method = 'GET', path, secret, about, hint, refusedCode } = row
  const values = { ...options } as Record<string, unknown>
  for (const [option, value] of Object.entries(row.defaults ?? {})) values[option] = textOf(values[option]) || value
  const given = values as unknown as Given<Options>
  const publicPath = path(secret ? { ...given, [secret]: `:${secret}` } : given)
  return { given, named: { name, method, publicPath, about: about?.(given), hint, refusedCode } }
}

function textOf(value: unknown): string {
  return String(value ?? '').trim()
}

/** Parameters with a value; names and values are encoded, but for the dollar sign that some calls send unencoded. */
function queryOf(parameters: Readonly<Record<string, string | undefined>>, hasPlainDollar = false): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(parameters)) if (value) query.append(name, value)
  const text = query.toString()
  return hasPlainDollar ? text.replaceAll('%24', '$').replaceAll('+', '%20') : text
}

/**
 * Reads a response, and rejects an unencrypted address in the given members of a service that itself uses encryption: tokens and
 * messages would be sent in plain text, and any process of this machine may listen on one of its ports. Services of this machine
 * are exempt.
 *
 * @param trusted address of the service
 */
function withEncryptedAddresses<Wire>(
  parse: Reader<Wire>,
  members: readonly (keyof Wire & string)[] = [],
  trusted: string,
): Reader<Wire> {
  const origin = restBase(trusted)
  if (!origin.startsWith('https:')) return parse
  return (value, path) => {
    const wire = parse(value, path)
    for (const member of members) {
      const named: unknown = wire[member]
      const base = typeof named === 'string' && named ? restBase(named) : ''
      if (!base.startsWith('http:') || (isOnThisMachine(base) && isOnThisMachine(origin))) continue
      throw new ProtocolError(`${member} is an unencrypted address, which a service with https must not return.`, named)
    }
    return wire
  }
}
