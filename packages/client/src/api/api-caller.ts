import type { Reader } from '@aiagent/protocol'
import { AuthError } from '../errors.ts'
import type { Environment } from '../platform/environment.ts'
import { isSharedStore, resolveCacheAdapter } from '../storage/create-cache-adapter.ts'
import { untilAborted } from '../util/abort.ts'
import { subjectFingerprint } from '../util/subject-fingerprint.ts'
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
import { ResponseCache } from './response-cache.ts'

/** How a call shows who makes it: with a Bearer token, with the token alone, or not at all. */
export type CallAuth = 'bearer' | 'bare' | 'none'

type Stated<Call extends HttpCall> = Omit<Call, 'base' | 'token' | 'bareToken' | 'signal' | 'onRateLimited'> & {
  /** Another host than the usual one. */
  base?: string | undefined
  /** @default 'bearer' */
  auth?: CallAuth
}

/** A call as its author states it: the caller adds host, token and signal. */
export type ApiCall<T> = Stated<ReadingCall<T>>

/** Makes calls that belong together: with one token, until one signal is aborted. */
export type Send = <T>(call: ApiCall<T>) => Promise<T>

/** A kept answer: which call it is of, what it depends on, and whether on the person too. */
export interface KeptAnswer extends NamedCall {
  auth?: CallAuth
  parameters: Readonly<Record<string, string | number | undefined>>
  /** True: another person's answer may be another. */
  perUser?: boolean
  /** What a kept answer must look like to be used, and is read as: anybody may have written it. */
  kept: Reader<unknown>
}

/** What all REST calls of one helper have in common: host, language, token, time limit, kept answers. */
export class ApiCaller {
  readonly environment: Environment
  readonly config: ApiHelperConfig
  readonly #cache: ResponseCache
  /** Whether users other than this helper's may have answers in the same store. */
  readonly #isShared: boolean
  /** Users whose answers this helper has asked for, by fingerprint. */
  readonly #users = new Set<string>()
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

  /** What every call to the portal manager carries; empty where the host has none. */
  get shortUrlTemplate(): string {
    return this.config.shortUrlTemplate?.trim() ?? ''
  }

  /** Headers of the calls whose answer depends on the language. */
  get languageHeaders(): Record<string, string> {
    return { Accept: 'application/json', 'Accept-Language': toAcceptLanguage(this.#language) }
  }

  /** The language as a query parameter. */
  get langParameter(): string {
    return toLangParameter(this.#language)
  }

  /** Both values of the language that a call sends: equal for different spellings of one language. */
  get languageOnWire(): string {
    return `${this.langParameter},${toAcceptLanguage(this.#language)}`
  }

  /** Makes a call. */
  async send<T>(call: ApiCall<T>, options: ApiCallOptions): Promise<T> {
    return request(this.environment, { ...call, ...(await this.#rest(call, options)) })
  }

  /** Makes a call that asks for nothing but a success. */
  async sendBlind(call: Stated<HttpCall>, options: ApiCallOptions): Promise<void> {
    await requestSuccess(this.environment, { ...call, ...(await this.#rest(call, options)) })
  }

  /** The kept answer while it is fresh, else what `work` makes of one call or several. */
  async load<T>(answer: KeptAnswer, options: ApiCallOptions, work: (send: Send) => Promise<T>): Promise<T> {
    const { signal } = options
    // Asked for first, so that a kept answer is only for those who might ask for it anew.
    const token = answer.auth === 'none' ? undefined : await this.token(answer, options)
    const parameters: Record<string, string> = {}
    for (const [name, value] of Object.entries(answer.parameters))
      if (value !== undefined) parameters[name] = String(value)
    if (answer.perUser && token) {
      const user = subjectFingerprint(token)
      this.#users.add(user)
      parameters['user'] = user
    }
    const fetch = (flight: AbortSignal) => work(call => this.send(call, { authToken: token, signal: flight }))
    return withCallName(answer, signal, this.#cache.load(answer.name, parameters, fetch, signal, answer.kept))
  }

  /** Removes the cached answers of one call; without a name, all of them. */
  forget(name?: string): Promise<void> {
    return this.#cache.invalidate(name).catch(error => {
      const { logger } = this.config
      const message = 'Could not remove cached answers from the cache adapter. They stay until they expire.'
      if (logger) logger.warn(message, { error })
      else this.environment.console.warn(message, error)
    })
  }

  /**
   * Removes the cached answers of the users of this helper; in a page's own store all answers of this API host.
   *
   * @throws when the store failed: entries may remain
   */
  async forgetUsers(token: string | undefined): Promise<void> {
    if (token) this.#users.add(subjectFingerprint(token))
    const users = new Set(this.#users)
    this.#users.clear()
    await this.#cache.removeOwn(this.#isShared ? users : undefined)
  }

  /**
   * The access token of a call.
   *
   * @throws {AuthError} reason `token_missing` where there is none
   */
  async token(call: NamedCall, { authToken, signal }: ApiCallOptions): Promise<string> {
    const given = authToken?.trim()
    if (given) return given
    const asked = Promise.resolve(this.config.getToken?.())
    const token = (await withCallName(call, signal, untilAborted(asked, signal)))?.trim()
    if (token) return token
    throw new AuthError(
      `${call.name} needs an access token and there is none. Pass authToken, or getToken to the constructor.`,
      'token_missing',
    )
  }

  /** What the author of a call leaves to the caller. */
  async #rest(
    call: NamedCall & { base?: string | undefined; auth?: CallAuth },
    options: ApiCallOptions,
  ): Promise<Pick<HttpCall, 'base' | 'token' | 'bareToken' | 'signal' | 'onRateLimited'>> {
    const { config } = this
    const onRateLimited = (retryInMs: number) => {
      if (config.onRateLimited) config.onRateLimited({ operation: call.name, retryInMs })
      else config.logger?.warn(`${call.name} is repeated in ${retryInMs} ms: the service limits the rate of calls.`)
    }
    const rest = { base: call.base || this.config.apiDomain, signal: options.signal, onRateLimited }
    if (call.auth === 'none') return rest
    return { ...rest, token: await this.token(call, options), bareToken: call.auth === 'bare' }
  }
}
