import { type DeploymentInfo, ProtocolError, QUERY, type Reader, restBase } from '@aiagent/protocol'
import { ApiError, AuthError } from '../errors.ts'
import { resolveEnvironment } from '../platform/default-environment.ts'
import type { Environment } from '../platform/environment.ts'
import type { RateLimitCallback } from '../platform/http.ts'
import type { CacheAdapter, CacheConfig } from '../storage/cache-adapter.ts'
import { KeyedStore, KINDS } from '../storage/keyed-store.ts'
import { untilAborted } from '../util/abort.ts'
import { isOnThisMachine } from '../util/address.ts'
import { subjectFingerprint, tokenIn, whyNoToken } from '../util/jwt.ts'
import type { ApiCallOptions, ApiHelperConfig, GetDeploymentInfoOptions } from './api-options.ts'
import { type Given, getDeploymentInfo, type RestCall, type Send } from './core-calls.ts'
import { failed, request, type UnsentCall } from './http-client.ts'
import { DEFAULT_LANGUAGE, toAcceptLanguage, toLangParameter } from './language.ts'

/**
 * What all agents of the page or process share of the deployment info: where it is stored, by default in the stores of their
 * environment, and how often it has been cleared.
 */
export const shared: { adapter?: CacheAdapter | undefined; clearings: number } = { clearings: 0 }
/** The same of each place, when it was last used: what is older is not read. */
const clearedAt = /* @__PURE__ */ new WeakMap<object, number>()

/** Makes the REST calls of an API host, each from its row of data, and stores their responses. */
export class RestClient {
  readonly #environment: Environment
  readonly #config: ApiHelperConfig
  readonly #cache: KeyedStore
  /** Part of the key of each response. */
  readonly #api: string
  /** See {@link takeUsers}. */
  #users = new Set<string>()
  /** As it was set. */
  language = DEFAULT_LANGUAGE

  constructor(config: ApiHelperConfig, environment?: Partial<Environment>) {
    const { apiDomain, cache, language, logger } = config
    this.#environment = resolveEnvironment(environment)
    this.#config = config
    this.#cache = new KeyedStore(KINDS.response, { environment: this.#environment, cache, logger })
    this.#api = restBase(apiDomain)
    this.setLanguage(language)
  }

  /** Sets the language of calls that send one; null, undefined and blank set `en-us`. */
  setLanguage(code: string | null | undefined): void {
    this.language = code?.trim() || DEFAULT_LANGUAGE
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
    if (!this.#cache.isShared) return this.#cache.remove({ api: this.#api })
    const users = this.takeUsers()
    if (token) users.add(subjectFingerprint(token))
    try {
      await Promise.all([...users].map(user => this.#cache.remove({ api: this.#api, user })))
    } catch (error) {
      this.#users = new Set([...users, ...this.#users])
      throw error
    }
  }

  /** Fingerprints of the users whose responses were stored or read, anonymous ones too, since the last call. */
  takeUsers(): Set<string> {
    const users = this.#users
    this.#users = new Set()
    return users
  }

  /** Removes the cached responses of one call, such as `'getAgentDetails'`; without a name, all of them. */
  async invalidateCache(name?: string): Promise<void> {
    try {
      await this.#cache.remove({}, { text: name })
    } catch (error) {
      const { logger } = this.#config
      const message = 'Could not remove cached responses from the cache adapter. They stay until they expire.'
      if (logger) logger.warn(message, { error })
      else this.#environment.console.warn(message, error)
    }
  }

  /** Makes a call: its cached response while that is fresh, otherwise the response of the service. */
  async call<Options extends ApiCallOptions, Wire, Result>(
    row: RestCall<Options, Wire, Result>,
    options: Options,
  ): Promise<Result> {
    const { apiDomain, endpoint = apiDomain, onRateLimited = this.#logRateLimit } = this.#config
    const { path, secret, about, language } = row
    const values = { ...options } as Record<string, unknown>
    for (const [option, value] of Object.entries(row.defaults ?? {})) values[option] = textOf(values[option]) || value
    const given = values as unknown as Given<Options>
    const accepted = language && toAcceptLanguage(this.language)
    const call: UnsentCall<Wire> = {
      ...row,
      method: row.method ?? 'GET',
      base: (given as { apiDomain?: string }).apiDomain || apiDomain,
      path: path(given),
      publicPath: path(secret ? { ...given, [secret]: `:${secret}` } : given),
      secret: secret && textOf(given[secret]),
      about: about?.(given),
      bareToken: row.auth === 'bare',
      headers: accepted ? { Accept: 'application/json', 'Accept-Language': accepted } : undefined,
      parse: row.parse && row.addresses ? withAllowedAddresses(row.parse, row.addresses, endpoint) : row.parse,
      onRateLimited,
      onLeftOut: reason => {
        this.#config.logger?.warn(`${row.name} leaves out an entry that cannot be used: ${reason}`)
        options.onLeftOut?.(reason)
      },
    }
    const { signal } = options
    const wire = await this.#load(row, given, call, options).catch((error: unknown) => {
      // The reason of the signal of the caller does not name the call.
      if (signal?.aborted && !(error instanceof ApiError)) throw failed(call, error)
      if (row.isOptional && error instanceof ApiError && error.reason !== 'aborted') return undefined
      throw error
    })
    // Not awaited: the responses are not read from now on, also while a slow store still has them.
    if (row.outdates) void this.invalidateCache(row.outdates)
    if (row.isOptional && wire === undefined) return null as Result
    return row.result ? row.result(wire as Wire, given) : (wire as unknown as Result)
  }

  async #load<Options extends ApiCallOptions, Wire>(
    row: RestCall<Options, Wire, unknown>,
    given: Given<Options>,
    call: UnsentCall<Wire>,
    options: Options,
  ): Promise<Wire> {
    // Get the token first: cached responses are only for callers who could make the request.
    const token = row.auth === 'none' ? undefined : await this.#token(call, options)
    const language = row.language === 'both' ? toLangParameter(this.language) : undefined
    const own = (options as { shortUrlTemplate?: string }).shortUrlTemplate
    const shortUrlTemplate = (row.hasTemplate && (textOf(own) || textOf(this.#config.shortUrlTemplate))) || undefined
    const fetch = (signal: AbortSignal | undefined, accessToken = token): Promise<Wire> => {
      const send: Send<Wire> = ({ query, method } = {}) =>
        request(this.#environment, {
          ...call,
          method: method ?? call.method,
          query: queryOf(
            {
              [QUERY.LANGUAGE]: language,
              ...query,
              ...row.query?.(given),
              [QUERY.SHORT_URL_TEMPLATE]: shortUrlTemplate,
            },
            row.hasPlainDollar,
          ),
          body: method ? undefined : row.body?.(given),
          token: accessToken,
          signal,
        })
      return row.load ? row.load(send, given, message => this.#config.logger?.warn(message)) : send()
    }
    const { keptBy, sharedAs, name } = row
    if (!keptBy) return row.renews ? this.#renewing(fetch, token, options.signal) : fetch(options.signal)
    const languages = [language, call.headers?.['Accept-Language']].filter(Boolean).join() || undefined
    const parameters: Record<string, string | undefined> = { language: languages, shortUrlTemplate }
    for (const option of keptBy) parameters[option] = textOf(given[option]) || undefined
    const user = row.perUser && token ? subjectFingerprint(token) : undefined
    if (user) this.#users.add(user)
    const store = sharedAs ? openSharedStore(sharedAs, this.#environment, this.#config.cache?.enabled) : this.#cache
    const key = store.key(sharedAs ? { deployment: this.#api } : { name, ...parameters, api: this.#api, user })
    return store.load(key, fetch, options.signal, row.parseKept ?? call.parse) as Promise<Wire>
  }

  /** Repeats a call once with a new token if the service rejects the token, as far as there is a new one. */
  async #renewing<Wire>(
    fetch: (signal: AbortSignal | undefined, token?: string) => Promise<Wire>,
    token: string | undefined,
    signal: AbortSignal | undefined,
  ): Promise<Wire> {
    try {
      return await fetch(signal)
    } catch (refused) {
      const { refreshToken } = this.#config
      if (!(refused instanceof ApiError && refused.status === 401) || !refreshToken) throw refused
      const renewed = await untilAborted(refreshToken(), signal).catch((cause: unknown) => {
        signal?.throwIfAborted()
        refused.cause = cause
      })
      if (!renewed || renewed === token) throw refused
      return fetch(signal, renewed)
    }
  }

  /**
   * The access token of a call.
   *
   * @throws {AuthError} reason `token_missing` when there is none
   */
  async #token({ name }: UnsentCall<unknown>, { authToken, signal }: ApiCallOptions): Promise<string> {
    const own = typeof authToken === 'string' ? authToken.trim() : authToken
    const given = own || (await untilAborted(Promise.resolve(this.#config.getToken?.()), signal))
    const token = tokenIn(given)
    if (token) return token
    throw new AuthError(
      `${name} needs an access token, and it ${whyNoToken(given)}. Pass authToken, or getToken to the constructor.`,
      'token_missing',
    )
  }

  readonly #logRateLimit: RateLimitCallback = ({ operation, retryInMs }) => {
    this.#config.logger?.warn(`${operation} is repeated in ${retryInMs} ms: the service limits the rate of calls.`)
  }
}

/**
 * Loads the addresses of a deployment's services.
 *
 * @param base address of the endpoint, with its scheme
 */
export function loadDeploymentInfo(
  base: string,
  cache: CacheConfig | undefined,
  { environment, signal, onRateLimited }: GetDeploymentInfoOptions,
): Promise<DeploymentInfo> {
  return new RestClient({ apiDomain: base, cache, onRateLimited }, environment).call(getDeploymentInfo, { signal })
}

/** The store of responses that all agents of the page or process share. */
export function openSharedStore(kind: keyof typeof KINDS, environment: Environment, enabled?: boolean): KeyedStore {
  const store = new KeyedStore(KINDS[kind], { environment, cache: { enabled, adapter: shared.adapter } })
  if (enabled === false) return store
  const place = shared.adapter ?? environment.sessionStorage ?? environment.memory
  if ((clearedAt.get(place) ?? 0) < shared.clearings) void empty(store)
  clearedAt.set(place, shared.clearings)
  return store
}

/** Removes everything. What a store that fails keeps is not read any more. */
export async function empty(store: KeyedStore): Promise<void> {
  try {
    await store.remove({})
  } catch {}
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
 * Reads a response, and rejects an address in the given members whose scheme is not one of https (wss) and http (ws). A service
 * that itself uses encryption must not name an unencrypted one either: tokens and messages would be sent in plain text, and any
 * process of this machine may listen on one of its ports. Services of this machine are exempt.
 *
 * @param trusted address of the service
 */
function withAllowedAddresses<Wire>(
  parse: Reader<Wire>,
  members: readonly (keyof Wire & string)[],
  trusted: string,
): Reader<Wire> {
  const origin = restBase(trusted)
  return (...args) => {
    const wire = parse(...args)
    for (const member of members) {
      const named: unknown = wire[member]
      const base = typeof named === 'string' && named ? restBase(named) : 'https:'
      if (base.startsWith('https:')) continue
      if (!base.startsWith('http:')) throw new ProtocolError(`${member} is not an address with https or wss.`, named)
      if (!origin.startsWith('https:') || (isOnThisMachine(base) && isOnThisMachine(origin))) continue
      throw new ProtocolError(`${member} is an unencrypted address, which a service with https must not return.`, named)
    }
    return wire
  }
}
