import { isJsonObject, restBase } from '@aiagent/protocol'
import type { AuthenticationInput } from './auth/auth-input.ts'
import type { AuthScheme } from './auth/auth-strategy.ts'
import { type AiAgentConfig, DEFAULTS, type PersistQueueOptions } from './config.ts'
import type { AiAgentConnectorConfig } from './contact-center/connector/connector-url.ts'
import { ConfigError } from './errors.ts'
import type { DeliveryMode } from './log/delivery-state.ts'
import type { TranscriptConfig } from './log/entry.ts'
import { type Logger, LogLevel } from './logger.ts'
import type { MaskingConfig } from './masking/masking.ts'
import { requireSessionId } from './session-id.ts'
import type { CacheConfig } from './storage/cache-adapter.ts'
import { copyJson } from './util/copy-json.ts'
import { NOTHING } from './util/nothing.ts'

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
    warnings: [
      ...('scopes' in config && config.scopes !== undefined
        ? ['`scopes` was removed in 0.3.0 and is ignored. Use `initParams.scopes`, or the scopes of a PKCE config.']
        : []),
      ...warnIgnoredScheme(config),
    ],
  })
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

/** The login that the host configures has a separate scheme, with another default. */
function warnIgnoredScheme({ auth, authScheme }: AiAgentConfig): string[] {
  const { type, config } = Object(auth) as { type?: unknown; config?: { authScheme?: AuthScheme } }
  const decisive = config?.authScheme ?? 'redirect'
  return type !== 'pkce' || !authScheme || authScheme === decisive
    ? []
    : [
        `\`authScheme: '${authScheme}'\` (\`auth-scheme\` of the chat element) has no effect on the login that \`auth\` configures, ` +
          `which uses '${decisive}'. Set \`auth.config.authScheme\`.`,
      ]
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
