import { isJsonObject, isUsableSessionId, restBase } from '@aiagent/protocol'
import type { AuthenticationInput, AuthScheme } from './auth/auth-strategy.ts'
import type { AiAgentConnectorConfig } from './contact-center/connector/connector-url.ts'
import type { TranscriptConfig } from './conversation/transcript.ts'
import { ConfigError, SDKError } from './errors.ts'
import { type Logger, LogLevel } from './logger.ts'
import type { MaskingConfig } from './masking/masking.ts'
import type { CacheConfig } from './storage/cache-adapter.ts'

/** What a host says about the agent it wants to talk to. Only `id` and `endpoint` are required. */
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
   * How access tokens are had: a config object such as `{ type: 'pre-auth', accessToken }` or `{ type: 'pkce', config }`,
   * an object with `getToken()`, a full `AuthStrategy`, or nothing for the anonymous token. Without it, an agent that wants
   * to know who talks to it lets the person sign in at the deployment's own identity provider.
   */
  auth?: AuthenticationInput
  /**
   * How a person signs in, and out, where the library configures the login itself: for an agent that wants to know who
   * talks to it, without `auth`. A login of the host's own says it in its `PKCEAuthConfig`.
   *
   * @default 'popup'
   */
  authScheme?: AuthScheme
  /** Connect as soon as `initialize()` has completed. @default false */
  autoConnect?: boolean
  /** How many messages may wait while there is no connection. One more is refused. @default 1000 */
  maxQueueSize?: number
  /** How many reconnect attempts follow a lost connection before the state is CLOSED. @default Infinity */
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
  /** A logger of the host's own. By default the agent creates `AiAgent:<id>`. */
  logger?: Logger
  /** Entries below this level are dropped. @default LogLevel.INFO */
  logLevel?: LogLevel
  /** Whether log entries are printed; subscribers of the logger get them in any case. @default true */
  enableLogging?: boolean
  /** Whether and which messages the transcript keeps. */
  transcriptConfig?: TranscriptConfig
  /** How answers of the REST calls, and the context, are kept. */
  cache?: CacheConfig
  /** How content that the service wants hidden is dealt with. */
  masking?: MaskingConfig
  /** An existing session to talk in. Without it a session is asked for during initialization. */
  sessionId?: string | number
  /**
   * Whether the conversation survives a reload of the page: the session is kept in the tab's store, or in `cache.adapter`,
   * for the same agent and person, and the transcript is filled with what was said. A new tab has a conversation of its own,
   * and with `cache.enabled: false`, or a `sessionId` of the host's, nothing is kept.
   *
   * @default false
   */
  resume?: boolean
  /** Parameters that the host application hands through, well-known keys or not. `getInitParams()` returns them all. */
  initParams?: Record<string, string>
  /** Attributes the conversation starts with. `initialize({ context })` is merged over them. */
  context?: Record<string, unknown>
  /** Where the platform's connector script comes from; it is loaded where `initParams.platform` is set. */
  connector?: AiAgentConnectorConfig
  /** Removed in 0.3.0: use `initParams.scopes`. A value is ignored with a warning. */
  scopes?: never
}

/** What holds where the host says nothing. */
export const DEFAULTS = {
  authScheme: 'popup',
  autoConnect: false,
  maxQueueSize: 1000,
  maxReconnectAttempts: Number.POSITIVE_INFINITY,
  baseReconnectDelay: 1000,
  maxReconnectDelay: 30_000,
  logLevel: LogLevel.INFO,
  enableLogging: true,
  resume: false,
} as const

/** The configuration with every default applied and every value checked. */
export interface ResolvedConfig {
  readonly id: string
  readonly endpoint: string
  readonly auth: AuthenticationInput | undefined
  readonly authScheme: AuthScheme
  readonly autoConnect: boolean
  readonly maxQueueSize: number
  readonly maxReconnectAttempts: number
  readonly baseReconnectDelay: number
  readonly maxReconnectDelay: number
  readonly logger: Logger | undefined
  readonly logLevel: LogLevel
  readonly enableLogging: boolean
  readonly transcript: TranscriptConfig
  readonly cache: CacheConfig
  readonly masking: MaskingConfig
  readonly sessionId: string | undefined
  readonly resume: boolean
  readonly initParams: Readonly<Record<string, string>>
  readonly context: Readonly<Record<string, unknown>>
  readonly connector: AiAgentConnectorConfig
  /** What the host should be told about its configuration. */
  readonly warnings: readonly string[]
}

/**
 * Checks what the host gave and fills in the rest.
 *
 * @throws {ConfigError} naming the first field that is missing or cannot be used
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
    maxQueueSize: count(config, 'maxQueueSize'),
    maxReconnectAttempts: count(config, 'maxReconnectAttempts'),
    baseReconnectDelay: Math.min(delay(config, 'baseReconnectDelay'), maxReconnectDelay),
    maxReconnectDelay,
    logger: logger(config),
    logLevel: logLevel(config),
    enableLogging: flag(config, 'enableLogging'),
    transcript: transcript(config.transcriptConfig),
    cache: cache(config.cache),
    masking: masking(config.masking),
    sessionId: config.sessionId === undefined ? undefined : requireSessionId(config.sessionId, 'config.sessionId'),
    resume: flag(config, 'resume'),
    initParams: initParams(config.initParams),
    context: context(config.context),
    connector: connector(config.connector),
    warnings:
      'scopes' in config && config.scopes !== undefined
        ? ['`scopes` was removed in 0.3.0 and is ignored. Use `initParams.scopes`, or the scopes of a PKCE config.']
        : [],
  })
}

/**
 * The session id as text.
 *
 * @throws {SDKError} code SESSION_ID_INVALID for anything but a finite number or text that means something
 */
export function requireSessionId(value: unknown, where: string): string {
  if (!isUsableSessionId(value))
    throw new SDKError(
      `${where} is no usable session id: blank, or a placeholder such as "undefined". Leave it out to get a new session.`,
      'SESSION_ID_INVALID',
    )
  return String(value).trim()
}

function requireText(config: AiAgentConfig, field: 'id' | 'endpoint'): string {
  const value: unknown = config[field]
  if (typeof value !== 'string' || value.trim() === '')
    throw new ConfigError(field, `\`${field}\` is ${value === undefined ? 'missing' : 'not a text with content'}.`)
  return value.trim()
}

function requireAddress(config: AiAgentConfig): string {
  const endpoint = requireText(config, 'endpoint')
  let url: URL | undefined
  try {
    url = new URL(restBase(endpoint))
  } catch {}
  // An endpoint is the base of other addresses, which a query would cut off; and no runtime calls one with a password.
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
      '`endpoint` is not the address of a deployment. Give https://host, wss://host or a bare host, without query or user.',
    )
  return endpoint
}

function count(config: AiAgentConfig, field: 'maxQueueSize' | 'maxReconnectAttempts'): number {
  return optional(field, config[field], isCount, 'a whole number from 0 up, or Infinity') ?? DEFAULTS[field]
}

function delay(config: AiAgentConfig, field: 'baseReconnectDelay' | 'maxReconnectDelay'): number {
  const isDelay = (value: unknown) => isDuration(value) && Number.isFinite(value)
  return optional(field, config[field], isDelay, 'a number of milliseconds from 0 up') ?? DEFAULTS[field]
}

function authScheme(config: AiAgentConfig): AuthScheme {
  const isScheme = (value: unknown) => value === 'popup' || value === 'redirect'
  return optional('authScheme', config.authScheme, isScheme, "'popup' or 'redirect'") ?? DEFAULTS.authScheme
}

function flag(config: AiAgentConfig, field: 'autoConnect' | 'enableLogging' | 'resume'): boolean {
  return optional(field, config[field], isFlag, 'true or false') ?? DEFAULTS[field]
}

function logger(config: AiAgentConfig): Logger | undefined {
  return optional('logger', config.logger, has('createChild', 'warn', 'error'), 'a Logger of this library')
}

function logLevel(config: AiAgentConfig): LogLevel {
  const isLevel = (value: unknown) => Object.values<unknown>(LogLevel).includes(value)
  return optional('logLevel', config.logLevel, isLevel, 'one of the values of LogLevel') ?? DEFAULTS.logLevel
}

function transcript(given: TranscriptConfig | undefined): TranscriptConfig {
  const { maxEntries, ...config } = optional('transcriptConfig', given, isJsonObject, 'an object') ?? {}
  optional('transcriptConfig.enabled', config.enabled, isFlag, 'true or false')
  for (const field of ['excludeRoles', 'excludePersonas', 'includeMessageTypes'] as const)
    optional(`transcriptConfig.${field}`, config[field], isTextList, 'a list of texts')
  const limit = optional('transcriptConfig.maxEntries', maxEntries, isCount, 'a whole number from 0 up, or Infinity')
  return { ...structuredClone(config), ...(limit !== undefined && { maxEntries: limit }) }
}

function cache(given: CacheConfig | undefined): CacheConfig {
  const config = optional('cache', given, isJsonObject, 'an object') ?? {}
  optional('cache.enabled', config.enabled, isFlag, 'true or false')
  optional('cache.storageType', config.storageType, isStorageType, "'session', 'local' or 'memory'")
  optional('cache.keyPrefix', config.keyPrefix, isText, 'a text')
  optional('cache.contextPrefix', config.contextPrefix, isText, 'a text')
  optional('cache.ttl', config.ttl, isDuration, 'a number of milliseconds from 0 up')
  optional('cache.adapter', config.adapter, has('get', 'set', 'delete', 'clear', 'keys'), 'a CacheAdapter')
  return { ...config }
}

function masking(given: MaskingConfig | undefined): MaskingConfig {
  const config = optional('masking', given, isJsonObject, 'an object') ?? {}
  optional('masking.required', config.required, isFlag, 'true or false')
  return { ...config }
}

function initParams(given: Record<string, string> | undefined): Readonly<Record<string, string>> {
  const params = optional('initParams', given, isJsonObject, 'an object of texts by name') ?? {}
  for (const [name, value] of Object.entries(params)) optional(`initParams.${name}`, value, isText, 'a text')
  return Object.freeze({ ...params })
}

function context(given: Record<string, unknown> | undefined): Readonly<Record<string, unknown>> {
  const attributes = optional('context', given, isJsonObject, 'an object of attributes by name') ?? {}
  try {
    return Object.freeze(JSON.parse(JSON.stringify(attributes)))
  } catch (cause) {
    throw new ConfigError('context', '`context` cannot be written as JSON: it holds a circle or a BigInt.', { cause })
  }
}

function connector(given: AiAgentConnectorConfig | undefined): AiAgentConnectorConfig {
  const config = { ...optional('connector', given, isJsonObject, 'an object') }
  for (const field of ['connectorUrl', 'environment', 'integrity', 'nonce'] as const)
    optional(`connector.${field}`, config[field], isText, 'a text')
  optional('connector.allowedOrigins', config.allowedOrigins, isTextList, 'a list of origins')
  const bases = optional('connector.baseUrls', config.baseUrls, isJsonObject, 'an object of addresses by environment')
  for (const [name, base] of Object.entries(bases ?? {})) optional(`connector.baseUrls.${name}`, base, isText, 'a text')
  return Object.freeze(config)
}

/** A field that may be left out, in the words of the error when it is there and of another kind. */
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
