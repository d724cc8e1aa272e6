import {
  type AgentDetails,
  AgentDetailsSchema,
  type DeploymentInfo,
  DeploymentInfoSchema,
  paths,
  restBase,
} from '@aiagent/protocol'
import { ApiError, AuthError } from '../errors.ts'
import type { Logger } from '../logger.ts'
import type { CacheAdapter, CacheConfig } from '../platform/cache-adapter.ts'
import { createCacheAdapter, resolveCacheAdapter } from '../platform/create-cache-adapter.ts'
import { defaultEnvironment, resolveEnvironment } from '../platform/default-environment.ts'
import type { Environment } from '../platform/environment.ts'
import { ExpiringStore } from '../platform/expiring-store.ts'
import { untilAborted } from '../util/abort.ts'
import { failed, type HttpCall, request } from './http-client.ts'
import { DEFAULT_LANGUAGE } from './language.ts'
import { RESPONSE_TTL_MS, ResponseCache } from './response-cache.ts'
import { requestSession } from './session-request.ts'

const DEPLOYMENT_PREFIX = 'aiagent_static_deployment-info-'

export interface ApiHelperConfig {
  /** Host or address of the REST services, as the deployment info names it. */
  apiDomain: string
  /** @default 'en-us' */
  language?: string | undefined
  cache?: CacheConfig | undefined
  /** Where the access token comes from when a call brings none. */
  getToken?: (() => Promise<string | null> | string | null) | undefined
  /** Gets a new token by force. With it, a session refused with 401 is asked for once more. */
  refreshToken?: (() => Promise<string>) | undefined
  logger?: Logger | undefined
}

/** What every call takes. */
export interface ApiCallOptions {
  /** Access token of this call, instead of the one that `getToken` gives. Blank counts as not given. */
  authToken?: string | undefined
  signal?: AbortSignal | undefined
}

export interface GetAgentDetailsOptions extends ApiCallOptions {
  agentId: string
}

export interface GetAiAgentSessionOptions extends ApiCallOptions {
  agentId: string
  /** What the agent is to know of the person and the page. */
  context?: Record<string, unknown> | undefined
}

export interface GetDeploymentInfoOptions {
  environment?: Partial<Environment> | undefined
  signal?: AbortSignal | undefined
}

/**
 * The REST calls of the service, each with a time limit of 30 seconds. Can be used without an `AiAgent`.
 *
 * A failing call rejects with an {@link ApiError} that names it, or with an {@link AuthError} (`token_missing`) before any
 * request where it needs a token and there is none.
 */
export class ApiHelper {
  static #deploymentAdapter: CacheAdapter | undefined
  /** Stores that hold deployment info, so that one call can empty them. */
  static readonly #deploymentStores = new Set<CacheAdapter>()

  readonly #environment: Environment
  readonly #config: ApiHelperConfig
  readonly #cache: ResponseCache
  #language: string

  /** @param environment replaces parts of the platform, as the second argument of `AiAgent` does */
  constructor(config: ApiHelperConfig, environment?: Partial<Environment>) {
    this.#environment = resolveEnvironment(environment)
    this.#config = config
    const adapter = resolveCacheAdapter(config.cache, this.#environment, warnWith(config.logger))
    this.#cache = new ResponseCache(adapter, this.#environment.clock, config.apiDomain, config.cache)
    this.#language = config.language || DEFAULT_LANGUAGE
  }

  /**
   * Where a deployment's services are. Needs no token. Kept for five minutes for all agents of the page or process.
   *
   * @param endpoint host or address of the deployment
   * @param cache `{ enabled: false }` asks the service every time
   */
  static async getDeploymentInfo(
    endpoint: string,
    cache?: CacheConfig,
    options: GetDeploymentInfoOptions = {},
  ): Promise<DeploymentInfo> {
    const environment = resolveEnvironment(options.environment)
    const call = {
      name: 'getDeploymentInfo',
      method: 'GET',
      base: endpoint,
      path: paths.deploymentInfo(),
      schema: DeploymentInfoSchema,
    } as const
    const { signal } = options
    if (cache?.enabled === false) return request(environment, { ...call, signal })
    const adapter = ApiHelper.#deploymentAdapter ?? createCacheAdapter('session', environment)
    ApiHelper.#deploymentStores.add(adapter)
    const store = new ExpiringStore(adapter, environment.clock, RESPONSE_TTL_MS)
    const key = DEPLOYMENT_PREFIX + restBase(endpoint)
    return telling(
      call,
      signal,
      store.load(key, flight => request(environment, { ...call, signal: flight }), signal),
    )
  }

  /** Replaces the store of the deployment info for all agents of the page or process; undefined takes that back. */
  static setStaticCacheAdapter(adapter: CacheAdapter | undefined): void {
    ApiHelper.#deploymentAdapter = adapter
  }

  /** Forgets what is known of every deployment. */
  static async clearDeploymentInfoCache(): Promise<void> {
    const own = ApiHelper.#deploymentAdapter ?? createCacheAdapter('session', defaultEnvironment())
    for (const adapter of ApiHelper.#deploymentStores.add(own)) await adapter.clear(DEPLOYMENT_PREFIX)
    ApiHelper.#deploymentStores.clear()
  }

  /** Sets the language of the calls that carry one; null, undefined and blank set `en-us`. */
  setLanguage(code: string | null | undefined): void {
    this.#language = code?.trim() || DEFAULT_LANGUAGE
  }

  /** The language as it was set. */
  getLanguage(): string {
    return this.#language
  }

  /** What the service says of an agent. The answer always carries the agent's id. */
  async getAgentDetails(options: GetAgentDetailsOptions): Promise<AgentDetails> {
    const { agentId } = options
    const details = await this.#cached({ agentId }, options, {
      name: 'getAgentDetails',
      method: 'GET',
      path: paths.agentDetails(agentId),
      schema: AgentDetailsSchema,
    })
    return { ...details, agentId: details.agentId || agentId }
  }

  /**
   * Opens a session and returns its id. Never cached.
   *
   * @throws {SDKError} `SESSION_ID_INVALID` when the service answers with an id that cannot be used
   * @throws {ApiError} `SESSION_UNAUTHORIZED` when the token is refused, also after a refresh where there is one
   */
  async getAiAgentSession({ agentId, context, authToken, signal }: GetAiAgentSessionOptions): Promise<string> {
    const call = { name: 'getAiAgentSession', method: 'POST', path: paths.session(agentId) } as const
    const token = await this.#token(call, { authToken, signal })
    const open = (token: string) =>
      requestSession(this.#environment, {
        base: this.#config.apiDomain,
        agentId,
        token,
        context,
        signal,
        onContextLost: status =>
          this.#config.logger?.warn(
            `The service refused to open a session by POST (status ${status}). It is opened by GET, without the context.`,
          ),
      })
    try {
      return await open(token)
    } catch (error) {
      if (!isUnauthorized(error)) throw error
      const renewed = await this.#renew(call, error, signal)
      if (!renewed || renewed === token) throw sessionUnauthorized(error)
      return await open(renewed).catch(again => {
        throw isUnauthorized(again) ? sessionUnauthorized(again) : again
      })
    }
  }

  /** Forgets every answer that is kept. */
  clearCache(): Promise<void> {
    return this.#cache.invalidate()
  }

  /** Forgets the answers of one call, as `'getAgentDetails'`; without a name, all of them. */
  invalidateCache(name?: string): Promise<void> {
    return this.#cache.invalidate(name)
  }

  /** Makes a call with a token, unless its answer is still fresh. */
  async #cached<T>(
    parameters: Record<string, string>,
    { authToken, signal }: ApiCallOptions,
    call: Omit<HttpCall<T>, 'base' | 'token' | 'signal'>,
  ): Promise<T> {
    const token = await this.#token(call, { authToken, signal })
    const fetch = (flight: AbortSignal) =>
      request(this.#environment, { ...call, base: this.#config.apiDomain, token, signal: flight })
    return telling(call, signal, this.#cache.load(call.name, parameters, fetch, signal))
  }

  async #token(call: NamedCall, { authToken, signal }: ApiCallOptions): Promise<string> {
    const given = authToken?.trim()
    if (given) return given
    const asked = Promise.resolve(this.#config.getToken?.())
    const token = (await telling(call, signal, untilAborted(asked, signal)))?.trim()
    if (token) return token
    throw new AuthError(
      `${call.name} needs an access token and there is none. Pass authToken, or getToken to the constructor.`,
      'token_missing',
    )
  }

  /** A new token in place of one that was refused; nothing where there is no way to get one. */
  async #renew(call: NamedCall, refused: ApiError, signal: AbortSignal | undefined): Promise<string | undefined> {
    const renewing = this.#config.refreshToken?.().catch(cause => {
      throw sessionUnauthorized(refused, cause)
    })
    return renewing && telling(call, signal, untilAborted(renewing, signal))
  }
}

type NamedCall = Pick<HttpCall<unknown>, 'name' | 'method' | 'path'>

/** Turns the reason of the caller's signal into an error that names the call. */
async function telling<T>(call: NamedCall, signal: AbortSignal | undefined, answer: Promise<T>): Promise<T> {
  try {
    return await answer
  } catch (error) {
    throw signal?.aborted && !(error instanceof ApiError) ? failed(call, error) : error
  }
}

function isUnauthorized(error: unknown): error is ApiError {
  return error instanceof ApiError && error.status === 401
}

function sessionUnauthorized(refused: ApiError, cause: unknown = refused): ApiError {
  const { method, path, status, body } = refused
  const message = `${refused.message} Sign in again, or pass an access token that lives at least five minutes longer.`
  return new ApiError(message, { code: 'SESSION_UNAUTHORIZED', reason: 'status', method, path, status, body, cause })
}

function warnWith(logger: Logger | undefined): ((message: string) => void) | undefined {
  return logger && (message => logger.warn(message))
}
