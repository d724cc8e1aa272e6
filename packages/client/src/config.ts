import { isJsonObject, isUsableSessionId, restBase } from '@aiagent/protocol'
import type { AuthenticationInput } from './auth/auth-input.ts'
import type { AuthScheme } from './auth/auth-strategy.ts'
import type { AiAgentConnectorConfig } from './contact-center/connector/connector-url.ts'
import type { TranscriptConfig } from './conversation/transcript.ts'
import { ConfigError, SDKError } from './errors.ts'
import { type Logger, LogLevel } from './logger.ts'
import type { MaskingConfig } from './masking/masking.ts'
import type { DeliveryMode } from './outbox/outbox-options.ts'
import type { TraceRecorder } from './platform/trace.ts'
import type { CacheConfig } from './storage/cache-adapter.ts'
import { copyJson } from './util/copy-json.ts'
import { NOTHING } from './util/nothing.ts'

/** How queued messages are stored for the next page. */
export interface PersistQueueOptions {
  /** Age from which a message is no longer sent, in milliseconds. @default 86_400_000, a day */
  expiresAfterMs?: number
}

/** Configuration of an agent. Only `id` and `endpoint` are required. */
export interface AiAgentConfig {
  /** The agent's id, as the admin console shows it. */
  id: string
  /**
   * Address of the deployment: `https://…`, `wss://…` or a bare host.
   *
   * Deployment information is fetched from it over HTTP; `ws:` and `wss:` are read as `http:` and `https:` there.
   */
  endpoint: string
  /**
   * How access tokens are obtained: a config object such as `{ type: 'pre-auth', accessToken }` or
   * `{ type: 'pkce', config }`, an object with `getToken()`, or a full `AuthStrategy`.
   *
   * Without it the agent uses an anonymous token. An agent that requires users then signs them in at the deployment's
   * identity provider.
   */
  auth?: AuthenticationInput
  /**
   * Scheme of the login and logout that the library configures itself: for an agent that requires users, without `auth`.
   * Ignored where `auth` holds a `PKCEAuthConfig`, which has its own `authScheme`.
   *
   * @default 'popup'
   */
  authScheme?: AuthScheme
  /**
   * Records what the agent does, for a report of a failure: `createRecorder()` of `@aiagent/client/recorder`. One recorder
   * is for one agent.
   *
   * @default none
   */
  recorder?: TraceRecorder
  /** Connect as soon as `initialize()` has completed. @default false */
  autoConnect?: boolean
  /**
   * Whether `send()` and `ask()` open the chat when it is not open and no reconnect follows: before the first `connect()`,
   * after `disconnect()`, and after a close that ends the chat. If the service has ended the session, a new one is created.
   *
   * @default false
   */
  connectOnSend?: boolean
  /** Maximum number of queued messages. `send()` rejects with `queue_full` beyond it. @default 1000 */
  maxQueueSize?: number
  /** Maximum number of reconnect attempts before the state becomes CLOSED. @default Infinity */
  maxReconnectAttempts?: number
  /** Shortest wait before a reconnect attempt, in milliseconds. @default 1000 */
  baseReconnectDelay?: number
  /**
   * Longest wait before a reconnect attempt, in milliseconds.
   *
   * The wait doubles from `baseReconnectDelay` with each failed attempt and stops growing here. Close codes 1000 and
   * 1005 end the connection, so no attempt follows them.
   *
   * @default 30_000
   */
  maxReconnectDelay?: number
  /**
   * How long a message may have been under way when the connection broke, in milliseconds: the fate of messages written
   * later than this before the last frame of the service is in doubt.
   *
   * A shorter time declares fewer messages `unknown`, and a longer one more. With 0 only those are in doubt that were
   * written after the last frame, and a page does not doubt an open connection when it wakes or hears nothing.
   *
   * @default 20_000
   */
  doubtAfterMs?: number
  /**
   * Whether messages of unknown fate are sent again by themselves after a reconnect. `at-most-once`: no; `deliveryUpdate`
   * reports them as `unknown`, and `agent.delivery(id).retry()` sends them. `at-least-once`: yes, in order and before
   * anything new, so that the service may have a message twice. Without effect where the service has announced receipts:
   * then each message arrives exactly once.
   *
   * @default 'at-most-once'
   */
  delivery?: DeliveryMode
  /**
   * Whether `initialize()` keeps trying while the service cannot be reached: no network, a time limit, HTTP 429 or 5xx. Other
   * failures, such as a refused token or an unknown agent, still reject at once.
   *
   * Waits, number of attempts and events are those of a reconnect: `stateChanged` with `retryInMs`, an `error` event for each
   * failed attempt, and one with reason `attempts_used_up` before `initialize()` rejects. Ends with the signal,
   * `disconnect()`, `logout()` and `destroy()`.
   *
   * @default false
   */
  retryInitialize?: boolean
  /** Logger to use. By default the agent creates one named `AiAgent:<id>`. */
  logger?: Logger
  /** Entries below this level are dropped. @default LogLevel.INFO */
  logLevel?: LogLevel
  /** Whether log entries are printed. Listeners of the logger receive them in both cases. @default true */
  enableLogging?: boolean
  /** Whether the transcript stores messages, and which. */
  transcriptConfig?: TranscriptConfig
  /** How REST responses and the context are cached. */
  cache?: CacheConfig
  /** How sensitive content of outgoing messages is masked. */
  masking?: MaskingConfig
  /** Id of an existing session. Without it, `initialize()` creates a session. */
  sessionId?: string | number
  /**
   * Whether the conversation survives a reload of the page. The session id is stored in the tab's session storage, or in
   * `cache.adapter`, for the same agent and user; after the reload the transcript is restored. A new tab starts its own
   * conversation. Ignored with `cache.enabled: false` or with a `sessionId`.
   *
   * @default false
   */
  resume?: boolean
  /**
   * Whether queued messages survive a reload or a crash of the page, and how long they may be sent then. They are stored
   * masked: in IndexedDB in a browser with Web Locks, in `cache.adapter` elsewhere. The next page of the user sends them
   * first, under the same ids. Sign-out and a change of the user remove them. Ignored with `cache.enabled: false`.
   *
   * @default false
   */
  persistQueue?: boolean | PersistQueueOptions
  /**
   * `share`: all tabs of the browser in which the same user talks with the same agent have one conversation, with one
   * connection. One tab holds it, and another one continues when that tab ends. Ignored with a `sessionId`, outside a page,
   * and in browsers without Web Locks: there each tab has a separate conversation.
   *
   * @default none
   */
  tabs?: 'share'
  /** Parameters forwarded from the host app. `getInitParams()` returns all of them, known or not. */
  initParams?: Record<string, string>
  /** Initial context attributes. `initialize({ context })` is merged over them. */
  context?: Record<string, unknown>
  /** Source of the platform's connector script, which is loaded when `initParams.platform` is set. */
  connector?: AiAgentConnectorConfig
  /** Removed in 0.3.0: use `initParams.scopes`. A value is ignored with a warning. */
  scopes?: never
}

/** Default of each option. */
export const DEFAULTS = {
  authScheme: 'popup',
  autoConnect: false,
  connectOnSend: false,
  maxQueueSize: 1000,
  maxReconnectAttempts: Number.POSITIVE_INFINITY,
  baseReconnectDelay: 1000,
  maxReconnectDelay: 30_000,
  doubtAfterMs: 20_000,
  delivery: 'at-most-once',
  retryInitialize: false,
  logLevel: LogLevel.INFO,
  enableLogging: true,
  resume: false,
} as const

const NO_WARNINGS: readonly string[] = []

/** The configuration with every default applied and every value checked. */
export interface ResolvedConfig {
  readonly id: string
  readonly endpoint: string
  readonly auth: AuthenticationInput | undefined
  readonly authScheme: AuthScheme
  readonly autoConnect: boolean
  readonly connectOnSend: boolean
  readonly maxQueueSize: number
  readonly maxReconnectAttempts: number
  readonly baseReconnectDelay: number
  readonly maxReconnectDelay: number
  readonly doubtAfterMs: number
  readonly delivery: DeliveryMode
  readonly retryInitialize: boolean
  readonly logger: Logger | undefined
  readonly logLevel: LogLevel
  readonly enableLogging: boolean
  readonly transcript: TranscriptConfig
  readonly cache: CacheConfig
  readonly masking: MaskingConfig
  readonly sessionId: string | undefined
  readonly resume: boolean
  readonly tabs: 'share' | undefined
  /** Age from which a stored message is no longer sent, in milliseconds; undefined when none is stored. */
  readonly persistQueueMs: number | undefined
  readonly initParams: Readonly<Record<string, string>>
  readonly context: Readonly<Record<string, unknown>>
  readonly connector: AiAgentConnectorConfig
  /** Warnings about the configuration, for the log. */
  readonly warnings: readonly string[]
}

/**
 * Validates a configuration and applies the defaults.
 *
 * @throws {ConfigError} naming the first field that is missing or invalid
 * @throws {SDKError} code SESSION_ID_INVALID for a blank or placeholder `sessionId`
 */
export function resolveConfig(config: AiAgentConfig): ResolvedConfig {
  if (!isJsonObject(config))
    throw new ConfigError('config', 'The configuration is missing. Pass an object with `id` and `endpoint`.')
  const maxReconnectDelay = delay(config, 'maxReconnectDelay')
  return Object.freeze({
    id: requireText(config, 'id'),
    endpoint: requireAddress(config),
    auth: config.auth ?? undefined,
    authScheme: authScheme(config),
    autoConnect: flag(config, 'autoConnect'),
    connectOnSend: flag(config, 'connectOnSend'),
    maxQueueSize: count(config, 'maxQueueSize'),
    maxReconnectAttempts: count(config, 'maxReconnectAttempts'),
    baseReconnectDelay: Math.min(delay(config, 'baseReconnectDelay'), maxReconnectDelay),
    maxReconnectDelay,
    doubtAfterMs: delay(config, 'doubtAfterMs'),
    delivery: delivery(config),
    retryInitialize: flag(config, 'retryInitialize'),
    logger: logger(config),
    logLevel: logLevel(config),
    enableLogging: flag(config, 'enableLogging'),
    transcript: part(config.transcriptConfig, transcript),
    cache: part(config.cache, cache),
    masking: part(config.masking, masking),
    sessionId: config.sessionId === undefined ? undefined : requireSessionId(config.sessionId, 'config.sessionId'),
    resume: flag(config, 'resume'),
    tabs: optional('tabs', config.tabs, value => value === 'share', "'share'"),
    persistQueueMs: persistQueue(config.persistQueue),
    initParams: part(config.initParams, initParams),
    context: part(config.context, context),
    connector: part(config.connector, connector),
    warnings:
      'scopes' in config && config.scopes !== undefined
        ? ['`scopes` was removed in 0.3.0 and is ignored. Use `initParams.scopes`, or the scopes of a PKCE config.']
        : NO_WARNINGS,
  })
}

/**
 * Converts a session id to a trimmed string.
 *
 * @throws {SDKError} code SESSION_ID_INVALID unless it is a finite number or a string that is neither blank nor a placeholder
 */
export function requireSessionId(value: unknown, where: string): string {
  if (!isUsableSessionId(value))
    throw new SDKError(
      `${where} is not a usable session id: blank, or a placeholder such as "undefined". Omit it to create a new session.`,
      'SESSION_ID_INVALID',
    )
  return String(value).trim()
}

function requireText<Field extends 'id' | 'endpoint'>(config: Pick<AiAgentConfig, Field>, field: Field): string {
  const value: unknown = config[field]
  if (typeof value !== 'string' || value.trim() === '')
    throw new ConfigError(field, `\`${field}\` is ${value === undefined ? 'missing' : 'not a non-empty string'}.`)
  return value.trim()
}

/**
 * The base of REST addresses of a deployment, in one spelling: keys of stored data contain it.
 *
 * @throws {ConfigError} for an endpoint that is missing or cannot be used
 */
export function requireAddress(config: Pick<AiAgentConfig, 'endpoint'>): string {
  const endpoint = requireText(config, 'endpoint')
  const base = restBase(endpoint)
  let url: URL | undefined
  try {
    url = new URL(base)
  } catch {}
  // Paths are appended to the endpoint, which a query or hash would break; fetch() rejects addresses with credentials.
  const { hostname, protocol, search, hash, username, password } = url ?? {}
  if (
    !hostname ||
    (protocol !== 'https:' && protocol !== 'http:') ||
    search ||
    hash ||
    username ||
    password ||
    /[\s?#]/.test(endpoint)
  )
    throw new ConfigError(
      'endpoint',
      '`endpoint` is not the address of a deployment. Pass https://host, wss://host or a bare host, without query or user.',
    )
  return base
}

function count(config: AiAgentConfig, field: 'maxQueueSize' | 'maxReconnectAttempts'): number {
  return optional(field, config[field], isCount, 'an integer of at least 0, or Infinity') ?? DEFAULTS[field]
}

function delay(config: AiAgentConfig, field: 'baseReconnectDelay' | 'maxReconnectDelay' | 'doubtAfterMs'): number {
  const isDelay = (value: unknown) => isDuration(value) && Number.isFinite(value)
  return optional(field, config[field], isDelay, 'a non-negative number of milliseconds') ?? DEFAULTS[field]
}

/** A day, in milliseconds. */
const STORED_MS = 86_400_000

function persistQueue(given: boolean | PersistQueueOptions | undefined): number | undefined {
  const fits = (value: unknown) => isFlag(value) || isJsonObject(value)
  const options = optional('persistQueue', given, fits, 'true, false or an object')
  if (!options) return undefined
  const { expiresAfterMs = STORED_MS } = options === true ? {} : options
  return optional('persistQueue.expiresAfterMs', expiresAfterMs, isDuration, 'a non-negative number of milliseconds')
}

function delivery(config: AiAgentConfig): DeliveryMode {
  const isMode = (value: unknown) => value === 'at-most-once' || value === 'at-least-once'
  return optional('delivery', config.delivery, isMode, "'at-most-once' or 'at-least-once'") ?? DEFAULTS.delivery
}

function authScheme(config: AiAgentConfig): AuthScheme {
  const isScheme = (value: unknown) => value === 'popup' || value === 'redirect'
  return optional('authScheme', config.authScheme, isScheme, "'popup' or 'redirect'") ?? DEFAULTS.authScheme
}

function flag(
  config: AiAgentConfig,
  field: 'autoConnect' | 'connectOnSend' | 'enableLogging' | 'resume' | 'retryInitialize',
): boolean {
  return optional(field, config[field], isFlag, 'true or false') ?? DEFAULTS[field]
}

function logger(config: AiAgentConfig): Logger | undefined {
  return optional('logger', config.logger, has('createChild', 'warn', 'error'), 'a Logger of this library')
}

function logLevel(config: AiAgentConfig): LogLevel {
  const isLevel = (value: unknown) => Object.values<unknown>(LogLevel).includes(value)
  return optional('logLevel', config.logLevel, isLevel, 'one of the values of LogLevel') ?? DEFAULTS.logLevel
}

function transcript(given: TranscriptConfig): TranscriptConfig {
  const { maxEntries, maxBytes, ...config } = optional('transcriptConfig', given, isJsonObject, 'an object') ?? {}
  optional('transcriptConfig.enabled', config.enabled, isFlag, 'true or false')
  for (const field of ['excludeRoles', 'excludePersonas', 'includeMessageTypes'] as const)
    optional(`transcriptConfig.${field}`, config[field], isTextList, 'an array of strings')
  const rule = 'an integer of at least 0, or Infinity'
  const entries = optional('transcriptConfig.maxEntries', maxEntries, isCount, rule)
  const bytes = optional('transcriptConfig.maxBytes', maxBytes, isCount, rule)
  return {
    ...copyJson(config),
    ...(entries !== undefined && { maxEntries: entries }),
    ...(bytes !== undefined && { maxBytes: bytes }),
  }
}

function cache(given: CacheConfig): CacheConfig {
  const config = optional('cache', given, isJsonObject, 'an object') ?? {}
  optional('cache.enabled', config.enabled, isFlag, 'true or false')
  optional('cache.storageType', config.storageType, isStorageType, "'session', 'local' or 'memory'")
  optional('cache.keyPrefix', config.keyPrefix, isText, 'a string')
  optional('cache.contextPrefix', config.contextPrefix, isText, 'a string')
  optional('cache.ttl', config.ttl, isDuration, 'a non-negative number of milliseconds')
  optional('cache.adapter', config.adapter, has('get', 'set', 'delete', 'clear', 'keys'), 'a CacheAdapter')
  return { ...config }
}

function masking(given: MaskingConfig): MaskingConfig {
  const config = optional('masking', given, isJsonObject, 'an object') ?? {}
  optional('masking.required', config.required, isFlag, 'true or false')
  return { ...config }
}

function initParams(given: Record<string, string>): Readonly<Record<string, string>> {
  const params = optional('initParams', given, isJsonObject, 'an object of strings by name') ?? {}
  for (const [name, value] of Object.entries(params)) optional(`initParams.${name}`, value, isText, 'a string')
  return Object.freeze({ ...params })
}

function context(given: Record<string, unknown>): Readonly<Record<string, unknown>> {
  const attributes = optional('context', given, isJsonObject, 'an object of attributes by name') ?? {}
  try {
    return Object.freeze(JSON.parse(JSON.stringify(attributes)))
  } catch (cause) {
    throw new ConfigError(
      'context',
      '`context` cannot be encoded as JSON: it contains a circular reference or a BigInt.',
      { cause },
    )
  }
}

function connector(given: AiAgentConnectorConfig): AiAgentConnectorConfig {
  const config = { ...optional('connector', given, isJsonObject, 'an object') }
  for (const field of ['connectorUrl', 'environment', 'integrity', 'nonce'] as const)
    optional(`connector.${field}`, config[field], isText, 'a string')
  optional('connector.allowedOrigins', config.allowedOrigins, isTextList, 'an array of origins')
  const bases = optional('connector.baseUrls', config.baseUrls, isJsonObject, 'an object of addresses by environment')
  for (const [name, base] of Object.entries(bases ?? {}))
    optional(`connector.baseUrls.${name}`, base, isText, 'a string')
  return Object.freeze(config)
}

/** Reads a part of the configuration. What hosts leave out is one object for all agents. */
function part<Given, Read>(given: Given | undefined, read: (given: Given) => Read): Read {
  return given === undefined || given === null ? (NOTHING as Read) : read(given)
}

/** Validates an optional field; `wanted` completes the error message. */
function optional<T>(field: string, value: T, fits: (value: unknown) => boolean, wanted: string): T | undefined {
  if (value === undefined || value === null) return undefined
  if (!fits(value)) throw new ConfigError(field, `\`${field}\` must be ${wanted}.`)
  return value
}

const isFlag = (value: unknown) => typeof value === 'boolean'
const isText = (value: unknown) => typeof value === 'string'
const isTextList = (value: unknown) => Array.isArray(value) && value.every(isText)
const isStorageType = (value: unknown) => value === 'session' || value === 'local' || value === 'memory'
const isDuration = (value: unknown) => typeof value === 'number' && value >= 0
const isCount = (value: unknown) => isDuration(value) && (value === Number.POSITIVE_INFINITY || Number.isInteger(value))
const has =
  (...methods: string[]) =>
  (value: unknown) =>
    isJsonObject(value) && methods.every(name => typeof value[name] === 'function')
