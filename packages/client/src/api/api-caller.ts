import { type Reader, restBase } from '@aiagent/protocol'
import { AuthError } from '../errors.ts'
import type { Clock } from '../platform/clock.ts'
import type { Environment } from '../platform/environment.ts'
import type { RateLimitCallback } from '../platform/patient-fetch.ts'
import type { CacheAdapter, CacheConfig } from '../storage/cache-adapter.ts'
import { isSharedStore, resolveCacheAdapter } from '../storage/create-cache-adapter.ts'
import { ExpiringStore } from '../storage/expiring-store.ts'
import { untilAborted } from '../util/abort.ts'
import { subjectFingerprint } from '../util/subject-fingerprint.ts'
import { encodeKey } from '../util/well-formed.ts'
import type { ApiCallOptions, ApiHelperConfig } from './api-options.ts'
import {
  type HttpCall,
  type NamedCall,
  type ReadingCall,
  request,
  requestSuccess,
  withCallName,
} from './http-client.ts'
import { DEFAULT_LANGUAGE, toAcceptLanguage, toLangParameter } from './language.ts'

/** How a call authenticates: with a Bearer token, with the token alone, or not at all. */
export type CallAuth = 'bearer' | 'bare' | 'none'

type Stated<Call extends HttpCall> = Omit<Call, 'base' | 'token' | 'bareToken' | 'signal' | 'onRateLimited'> & {
  /** Another host than the usual one. */
  base?: string | undefined
  /** @default 'bearer' */
  auth?: CallAuth
}

/** A call without its common parts: the caller adds host, token and signal. */
export type ApiCall<T> = Stated<ReadingCall<T>>

/** Sends calls that belong together: with one token, and one signal. */
export type Send = <T>(call: ApiCall<T>) => Promise<T>

/** A cached response: its call, its parameters, and whether it depends on the user. */
export interface KeptAnswer extends NamedCall {
  auth?: CallAuth
  parameters: Readonly<Record<string, string | number | undefined>>
  /** True: another user may receive another response. */
  perUser?: boolean
  /** Validates and reads a cached response, since other code may have written it. */
  kept: Reader<unknown>
}

/** The shared parts of all REST calls of one helper: host, language, token, time limit, response cache. */
export class ApiCaller {
  readonly environment: Environment
  readonly config: ApiHelperConfig
  readonly #cache: ResponseCache
  /** Whether other users may have responses in the same store. */
  readonly #isShared: boolean
  /** Users for whom this helper has cached responses, by fingerprint. */
  #users: Set<string> | undefined
  #language: string

  constructor(config: ApiHelperConfig, environment: Environment) {
    this.environment = environment
    this.config = config
    const { logger } = config
    const adapter = resolveCacheAdapter(config.cache, environment, logger && ((...warning) => logger.warn(...warning)))
    this.#isShared = isSharedStore(adapter, environment)
    this.#cache = new ResponseCache(adapter, environment.clock, config.apiDomain, config.cache)
    this.#language = config.language?.trim() || DEFAULT_LANGUAGE
  }

  get language(): string {
    return this.#language
  }

  setLanguage(code: string | null | undefined): void {
    this.#language = code?.trim() || DEFAULT_LANGUAGE
  }

  /** The URL template of every call to the portal manager; empty if the host has none. */
  get shortUrlTemplate(): string {
    return this.config.shortUrlTemplate?.trim() ?? ''
  }

  /** Headers of calls with a response that depends on the language. */
  get languageHeaders(): Record<string, string> {
    return { Accept: 'application/json', 'Accept-Language': toAcceptLanguage(this.#language) }
  }

  /** The language as a query parameter. */
  get langParameter(): string {
    return toLangParameter(this.#language)
  }

  /** Both values of the language that a call sends; equal for different spellings of one language. */
  get languageOnWire(): string {
    return `${this.langParameter},${toAcceptLanguage(this.#language)}`
  }

  /** Sends a call. */
  async send<T>(call: ApiCall<T>, options: ApiCallOptions): Promise<T> {
    return request(this.environment, { ...call, ...(await this.#rest(call, options)) })
  }

  /** Sends a call whose response body is ignored. */
  async sendBlind(call: Stated<HttpCall>, options: ApiCallOptions): Promise<void> {
    await requestSuccess(this.environment, { ...call, ...(await this.#rest(call, options)) })
  }

  /** The cached response while it is fresh, otherwise the result of `work`, which may make several calls. */
  async load<T>(answer: KeptAnswer, options: ApiCallOptions, work: (send: Send) => Promise<T>): Promise<T> {
    const { signal } = options
    // Get the token first: cached responses are only for callers who could make the request.
    const token = answer.auth === 'none' ? undefined : await this.token(answer, options)
    const parameters: Record<string, string> = {}
    for (const [name, value] of Object.entries(answer.parameters))
      if (value !== undefined) parameters[name] = String(value)
    if (answer.perUser && token) {
      const user = subjectFingerprint(token)
      this.#users ??= new Set()
      this.#users.add(user)
      parameters['user'] = user
    }
    const fetch = (flight: AbortSignal) => work(call => this.send(call, { authToken: token, signal: flight }))
    return withCallName(answer, signal, this.#cache.load(answer.name, parameters, fetch, signal, answer.kept))
  }

  /** Removes the cached responses of one call; without a name, all of them. */
  forget(name?: string): Promise<void> {
    return this.#cache.invalidate(name).catch(error => {
      const { logger } = this.config
      const message = 'Could not remove cached responses from the cache adapter. They stay until they expire.'
      if (logger) logger.warn(message, { error })
      else this.environment.console.warn(message, error)
    })
  }

  /**
   * Removes the cached responses of the users of this helper; in a page's own store, all responses of this API host.
   *
   * @throws when the store failed: entries may remain
   */
  async forgetUsers(token: string | undefined): Promise<void> {
    const users = new Set(this.#users)
    if (token) users.add(subjectFingerprint(token))
    this.#users = undefined
    await this.#cache.removeOwn(this.#isShared ? users : undefined)
  }

  /**
   * The access token of a call.
   *
   * @throws {AuthError} reason `token_missing` when there is none
   */
  async token(call: NamedCall, { authToken, signal }: ApiCallOptions): Promise<string> {
    const given = authToken?.trim()
    if (given) return given
    const asked = Promise.resolve(this.config.getToken?.())
    const token = (await withCallName(call, signal, untilAborted(asked, signal)))?.trim()
    if (token) return token
    throw new AuthError(
      `${call.name} needs an access token, and there is none. Pass authToken, or getToken to the constructor.`,
      'token_missing',
    )
  }

  /** The parts of a request that the caller adds. */
  async #rest(
    call: NamedCall & { base?: string | undefined; auth?: CallAuth },
    options: ApiCallOptions,
  ): Promise<Pick<HttpCall, 'base' | 'token' | 'bareToken' | 'signal' | 'onRateLimited'>> {
    const { config } = this
    const onRateLimited: RateLimitCallback = limit => {
      if (config.onRateLimited) config.onRateLimited(limit)
      else
        config.logger?.warn(`${call.name} is repeated in ${limit.retryInMs} ms: the service limits the rate of calls.`)
    }
    const rest = { base: call.base || this.config.apiDomain, signal: options.signal, onRateLimited }
    if (call.auth === 'none') return rest
    return { ...rest, token: await this.token(call, options), bareToken: call.auth === 'bare' }
  }
}

/** Default time for which a response counts as fresh, in milliseconds. */
const RESPONSE_TTL_MS = 300_000

const DEFAULT_PREFIX = 'aiagent_cache_'
/** Appended to a custom `keyPrefix`, so that clearing responses keeps other entries. */
const RESPONSES = 'cache_'

/** Responses of the REST calls of one API host, under keys of the call and its parameters. */
export class ResponseCache {
  readonly #store: ExpiringStore
  readonly #prefix: string
  readonly #api: string

  constructor(adapter: CacheAdapter, clock: Clock, apiDomain: string, config: CacheConfig = {}) {
    this.#prefix = config.keyPrefix ? config.keyPrefix + RESPONSES : DEFAULT_PREFIX
    this.#store = new ExpiringStore(adapter, clock, config.ttl ?? RESPONSE_TTL_MS, this.#prefix)
    this.#api = restBase(apiDomain)
  }

  /** The response of a call with these parameters: the cached one while fresh, otherwise the result of `fetch`. */
  load<T>(
    name: string,
    parameters: Readonly<Record<string, string>>,
    fetch: (signal: AbortSignal) => Promise<T>,
    signal?: AbortSignal,
    read?: (stored: unknown) => unknown,
  ): Promise<T> {
    const named = Object.entries({ ...parameters, api: this.#api }).sort(([a], [b]) => (a < b ? -1 : 1))
    const key = named.map(([parameter, value]) => `${parameter}=${encodeKey(value)}`).join('&')
    return this.#store.load(`${this.#prefix}${name}:${key}`, fetch, signal, read)
  }

  /**
   * Removes the responses with a key that contains the text, such as the name of a call; without one, all of them.
   *
   * @throws when the store failed: entries may remain
   */
  invalidate(text = ''): Promise<void> {
    const { length } = this.#prefix
    return this.#store.remove(this.#prefix, key => key.includes(text, length))
  }

  /**
   * Removes the responses of this API host: all of them, or those of some users.
   *
   * @throws when the store failed: entries may remain
   */
  removeOwn(users?: ReadonlySet<string>): Promise<void> {
    const ofHost = `api=${encodeKey(this.#api)}`
    return this.#store.remove(this.#prefix, key => {
      const parts = key.slice(this.#prefix.length).split(/[:&]/)
      const isOfUser = () => [...(users ?? [])].some(user => parts.includes(`user=${encodeKey(user)}`))
      return parts.includes(ofHost) && (!users || isOfUser())
    })
  }
}
