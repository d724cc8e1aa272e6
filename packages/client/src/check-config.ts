import { isJsonObject, restBase } from '@aiagent/protocol'
import type { AuthenticationInput, AuthScheme } from './auth/auth-strategy.ts'
import { type AiAgentConfig, DEFAULTS, type PersistQueueOptions } from './config.ts'
import type { AiAgentConnectorConfig } from './contact-center/connector/connector-url.ts'
import { ConfigError } from './errors.ts'
import type { TranscriptConfig } from './log/entry.ts'
import { type Logger, LogLevel } from './logger.ts'
import type { MaskingConfig } from './masking/masking.ts'
import { requireSessionId } from './session-id.ts'
import type { CacheConfig } from './storage/cache-adapter.ts'
import { describeUnknownNames } from './util/unknown-names.ts'
import { NOTHING } from './util/values.ts'

/** The configuration with every default applied and every value checked. */
export interface ResolvedConfig extends Readonly<Required<Pick<AiAgentConfig, keyof typeof DEFAULTS>>> {
  readonly id: string
  readonly endpoint: string
  readonly auth: AuthenticationInput | undefined
  readonly logger: Logger | undefined
  readonly transcript: TranscriptConfig
  readonly cache: CacheConfig
  readonly masking: MaskingConfig
  readonly sessionId: string | undefined
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
  const id = requireText(config, 'id')
  const endpoint = requireAddress(config)
  const { persistQueue } = config
  const warnings = [...check('', config, { fields: RULES }), ...ignoredOptions(config)]
  const own: Omit<ResolvedConfig, keyof typeof DEFAULTS> = {
    id,
    endpoint,
    auth: config.auth ?? undefined,
    logger: config.logger ?? undefined,
    transcript: copy(config.transcriptConfig),
    cache: copy(config.cache),
    masking: copy(config.masking),
    sessionId: config.sessionId === undefined ? undefined : requireSessionId(config.sessionId, 'config.sessionId'),
    tabs: config.tabs ?? undefined,
    persistQueueMs: persistQueue ? (Object(persistQueue).expiresAfterMs ?? STORED_MS) : undefined,
    initParams: copy(config.initParams),
    context: copyAttributes(config.context),
    connector: copy(config.connector),
    warnings,
  }
  // No spread: it would give each agent of a process a separate hidden class, of half a kilobyte.
  const resolved = own as { -readonly [Field in keyof ResolvedConfig]: ResolvedConfig[Field] }
  for (const [field, value] of Object.entries(DEFAULTS))
    Reflect.set(resolved, field, config[field as keyof typeof DEFAULTS] ?? value)
  resolved.baseReconnectDelay = Math.min(resolved.baseReconnectDelay, resolved.maxReconnectDelay)
  return Object.freeze(resolved)
}

/** How long a queued message is stored: a day, in milliseconds. */
const STORED_MS = 86_400_000

// ── Rules ─────────────────────────────────────────────────────────────────────────────────────────────────────────────────

/** What an optional value must be: one of `values`, or what `fits`. Without both it is an object. */
interface Rule {
  /** Completes the error "`field` must be". @default 'an object', or the values */
  readonly wanted?: string
  fits?(value: unknown): boolean
  readonly values?: readonly string[]
  /** Rules of its fields by name. */
  readonly fields?: Fields
  /** The rule of every field. */
  readonly each?: Rule
}

type Fields = Readonly<Record<string, Rule>>

/** A rule for every field, so that none is reported as unknown. */
type Rules<Options> = Readonly<Record<keyof Options, Rule>>

const isText = (value: unknown) => typeof value === 'string'
const isTextList = (value: unknown) => Array.isArray(value) && value.every(isText)
const isDuration = (value: unknown) => typeof value === 'number' && value >= 0

const FLAG: Rule = { wanted: 'true or false', fits: value => typeof value === 'boolean' }
const TEXT: Rule = { wanted: 'a string', fits: isText }
const TEXTS: Rule = { wanted: 'an array of strings', fits: isTextList }
const COUNT: Rule = {
  wanted: 'an integer of at least 0, or Infinity',
  fits: value => isDuration(value) && (value === Infinity || Number.isInteger(value)),
}
const DURATION: Rule = { wanted: 'a non-negative number of milliseconds', fits: isDuration }
const DELAY: Rule = {
  wanted: 'a non-negative number of milliseconds',
  fits: value => isDuration(value) && Number.isFinite(value),
}

/** What is checked elsewhere. */
const UNCHECKED: Rule = { fits: () => true }

/** Every option. What is not in this table, and not in one of its `fields`, is reported as unknown. */
const RULES = {
  id: UNCHECKED,
  endpoint: UNCHECKED,
  auth: UNCHECKED,
  recorder: UNCHECKED,
  sessionId: UNCHECKED,
  scopes: UNCHECKED,
  authScheme: { values: ['popup', 'redirect'] },
  autoConnect: FLAG,
  connectOnSend: FLAG,
  maxQueueSize: COUNT,
  maxReconnectAttempts: COUNT,
  baseReconnectDelay: DELAY,
  maxReconnectDelay: DELAY,
  doubtAfterMs: DELAY,
  delivery: { values: ['at-most-once', 'at-least-once'] },
  retryInitialize: FLAG,
  logger: {
    wanted: 'a Logger of this library',
    fits: value => hasMethods(value, ['createChild', 'warn', 'error']),
  },
  logLevel: {
    wanted: 'one of the values of LogLevel',
    fits: value => Object.values<unknown>(LogLevel).includes(value),
  },
  enableLogging: FLAG,
  transcriptConfig: {
    fields: {
      enabled: FLAG,
      excludeRoles: TEXTS,
      excludePersonas: TEXTS,
      includeMessageTypes: TEXTS,
      maxEntries: COUNT,
      maxBytes: COUNT,
    } satisfies Rules<TranscriptConfig>,
  },
  cache: {
    fields: {
      enabled: FLAG,
      storageType: { values: ['session', 'local', 'memory'] },
      keyPrefix: TEXT,
      contextPrefix: TEXT,
      ttl: DURATION,
      adapter: {
        wanted: 'a CacheAdapter',
        fits: value => hasMethods(value, ['get', 'set', 'delete', 'clear', 'keys']),
      },
    } satisfies Rules<CacheConfig>,
  },
  masking: { fields: { required: FLAG } satisfies Rules<MaskingConfig> },
  resume: FLAG,
  tabs: { values: ['share'] },
  persistQueue: {
    wanted: 'true, false or an object',
    fits: value => typeof value === 'boolean' || isJsonObject(value),
    fields: { expiresAfterMs: DURATION } satisfies Rules<PersistQueueOptions>,
  },
  initParams: { wanted: 'an object of strings by name', each: TEXT },
  context: { wanted: 'an object of attributes by name' },
  connector: {
    fields: {
      connectorUrl: TEXT,
      environment: TEXT,
      integrity: TEXT,
      nonce: TEXT,
      allowedOrigins: { wanted: 'an array of origins', fits: isTextList },
      baseUrls: { wanted: 'an object of addresses by environment', each: TEXT },
    } satisfies Rules<AiAgentConnectorConfig>,
  },
} satisfies Rules<AiAgentConfig>

/**
 * Names the fields that no option has.
 *
 * @param path the field that holds the value; empty for the configuration
 * @throws {ConfigError} naming the first field of a value that breaks its rule
 */
function check(path: string, value: unknown, { wanted, fits = isJsonObject, values, fields, each }: Rule): string[] {
  if (value === undefined || value === null) return []
  if (values ? !values.includes(value as string) : !fits(value)) {
    const options = values?.map(each => `'${each}'`).join(' or ')
    throw new ConfigError(path, `\`${path}\` must be ${options ?? wanted ?? 'an object'}.`)
  }
  const given = Object(value) as Readonly<Record<string, unknown>>
  const start = path && `${path}.`
  if (each) for (const field of Object.keys(given)) check(start + field, given[field], each)
  if (!fields) return []
  const unknown = describeUnknownNames(start, given, fields)
  for (const [field, rule] of Object.entries(fields)) unknown.push(...check(start + field, given[field], rule))
  return unknown
}

function hasMethods(value: unknown, names: readonly string[]): boolean {
  return isJsonObject(value) && names.every(name => typeof value[name] === 'function')
}

// ── Required fields ───────────────────────────────────────────────────────────────────────────────────────────────────────

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

// ── Copies ────────────────────────────────────────────────────────────────────────────────────────────────────────────────

/** The fields that were given, with their lists, since the host may change its object. What is left out is one object for all agents. */
function copy<T extends object>(given: T | null | undefined): T {
  if (!given) return NOTHING as T
  const fields = Object.entries(given).filter(([, value]) => value !== undefined && value !== null)
  return Object.freeze(
    Object.fromEntries(fields.map(([name, value]) => [name, Array.isArray(value) ? [...value] : value])),
  ) as T
}

function copyAttributes(given: AiAgentConfig['context']): Readonly<Record<string, unknown>> {
  if (!given) return NOTHING
  try {
    return Object.freeze(JSON.parse(JSON.stringify(given)))
  } catch (cause) {
    throw new ConfigError(
      'context',
      '`context` cannot be encoded as JSON: it contains a circular reference or a BigInt.',
      { cause },
    )
  }
}

// ── Warnings ──────────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Options that have no effect in this configuration. */
function ignoredOptions({ auth, authScheme, scopes }: AiAgentConfig): string[] {
  const warnings: string[] = []
  if (scopes !== undefined)
    warnings.push(
      '`scopes` was removed in 0.3.0 and is ignored. Use `initParams.scopes`, or the scopes of a PKCE config.',
    )
  // The login that the host configures has a separate scheme, with another default.
  const { type, config } = Object(auth) as { type?: unknown; config?: { authScheme?: AuthScheme } }
  const decisive = config?.authScheme ?? 'redirect'
  if (type === 'pkce' && authScheme && authScheme !== decisive)
    warnings.push(
      `\`authScheme: '${authScheme}'\` (\`auth-scheme\` of the chat element) has no effect on the login that \`auth\` configures, ` +
        `which uses '${decisive}'. Set \`auth.config.authScheme\`.`,
    )
  return warnings
}
