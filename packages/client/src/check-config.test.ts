import { eventually } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { pageWithWindow } from '../test/fake-login-page.ts'
import { AiAgent } from './ai-agent.ts'
import { resolveConfig } from './check-config.ts'
import { type AiAgentConfig, DEFAULTS } from './config.ts'
import { ConfigError, SDKError } from './errors.ts'
import { type LogEntry, Logger, LogLevel } from './logger.ts'
import { requireSessionId } from './session-id.ts'
import { MemoryCacheAdapter } from './storage/memory-cache-adapter.ts'

const config = (fields: object = {}) =>
  ({ id: 'help', endpoint: 'https://agents.example.test', ...fields }) as AiAgentConfig

const thrownBy = (work: () => unknown): unknown => {
  try {
    work()
  } catch (error) {
    return error
  }
  throw new Error('It should have thrown.')
}

const LOGIN = {
  clientId: 'app',
  redirectUri: 'https://app.example.test/',
  knownAuthorities: ['login.example.test'],
}

const circular: Record<string, unknown> = {}
circular.self = circular

const sink = () => {
  const lines: string[] = []
  const print = (text: string) => void lines.push(text)
  return { lines, console: { debug: print, info: print, warn: print, error: print } }
}

describe('required fields', () => {
  it.each([
    ['undefined', undefined, 'config'],
    ['null', null, 'config'],
    ['a string', 'help', 'config'],
    ['an array', [], 'config'],
    ['an empty object', {}, 'id'],
    ['an id alone', { id: 'help' }, 'endpoint'],
    ['an endpoint alone', { endpoint: 'https://agents.example.test' }, 'id'],
  ])('[CFG-01] rejects a configuration of %s and names the field', (_case, given, field) => {
    const error = thrownBy(() => new AiAgent(given as never))
    expect(error).toBeInstanceOf(ConfigError)
    expect(error).toBeInstanceOf(SDKError)
    expect(error).toMatchObject({ name: 'ConfigError', code: 'CONFIG_INVALID', field })
  })

  it.each([
    [undefined, 'The configuration is missing. Pass an object with `id` and `endpoint`.'],
    [{}, '`id` is missing.'],
    [{ id: 7 }, '`id` is not a non-empty string.'],
    [{ id: 'help', endpoint: ' ' }, '`endpoint` is not a non-empty string.'],
  ])('[CFG-01] the error for %j says: %s', (given, message) => {
    expect(thrownBy(() => resolveConfig(given as never))).toMatchObject({ message })
  })

  it.each([
    ['id', undefined],
    ['id', null],
    ['id', ''],
    ['id', '  '],
    ['id', 7],
    ['id', {}],
    ['endpoint', undefined],
    ['endpoint', null],
    ['endpoint', ''],
    ['endpoint', ' \t'],
    ['endpoint', 8600],
    ['endpoint', 'ftp://agents.example.test'],
    ['endpoint', 'javascript:alert(1)'],
    ['endpoint', 'https://'],
    ['endpoint', 'https://?x'],
    ['endpoint', 'agents example test'],
    ['endpoint', 'https://agents.example.test/a b'],
    ['endpoint', 'agents.example.test:port'],
    ['endpoint', 'agents.example.test:99999'],
    ['endpoint', 'https://agents.example.test?tenant=1'],
    ['endpoint', 'https://agents.example.test/#/chat'],
    ['endpoint', 'https://user:secret@agents.example.test'],
  ])('[CFG-01] %s: rejects %j and names the field', (field, value) => {
    const error = thrownBy(() => new AiAgent(config({ [field]: value })))
    expect(error).toMatchObject({ name: 'ConfigError', code: 'CONFIG_INVALID', field })
    expect((error as Error).message).toContain(`\`${field}\``)
    expect((error as Error).message).not.toContain('secret')
  })

  it.each([
    ['http://127.0.0.1:8600', 'http://127.0.0.1:8600'],
    ['https://agents.example.test', 'https://agents.example.test'],
    ['https://agents.example.test/', 'https://agents.example.test'],
    ['https://agents.example.test:8443/tenants/acme/', 'https://agents.example.test:8443/tenants/acme'],
    ['ws://localhost:8600', 'http://localhost:8600'],
    ['wss://agents.example.test', 'https://agents.example.test'],
    ['WSS://Agents.Example.Test', 'https://Agents.Example.Test'],
    ['agents.example.test', 'https://agents.example.test'],
    ['localhost:8600', 'https://localhost:8600'],
    ['agents.example.test/tenants/acme', 'https://agents.example.test/tenants/acme'],
    ['[::1]:8600', 'https://[::1]:8600'],
    ['  agents.example.test ', 'https://agents.example.test'],
  ])('[CFG-01] accepts the endpoint %s, for stored data in one spelling', (endpoint, base) => {
    expect(resolveConfig(config({ endpoint })).endpoint).toBe(base)
  })
})

/** Expected value of each field, as the error message words it. */
const WANTED: Readonly<Record<string, string>> = {
  autoConnect: 'true or false',
  enableLogging: 'true or false',
  resume: 'true or false',
  retryInitialize: 'true or false',
  authScheme: "'popup' or 'redirect'",
  maxQueueSize: 'an integer of at least 0, or Infinity',
  maxReconnectAttempts: 'an integer of at least 0, or Infinity',
  baseReconnectDelay: 'a non-negative number of milliseconds',
  maxReconnectDelay: 'a non-negative number of milliseconds',
  logLevel: 'one of the values of LogLevel',
  logger: 'a Logger of this library',
  transcriptConfig: 'an object',
  'transcriptConfig.enabled': 'true or false',
  'transcriptConfig.excludeRoles': 'an array of strings',
  'transcriptConfig.excludePersonas': 'an array of strings',
  'transcriptConfig.includeMessageTypes': 'an array of strings',
  'transcriptConfig.maxEntries': 'an integer of at least 0, or Infinity',
  'transcriptConfig.maxBytes': 'an integer of at least 0, or Infinity',
  cache: 'an object',
  'cache.enabled': 'true or false',
  'cache.storageType': "'session' or 'local' or 'memory'",
  'cache.keyPrefix': 'a string',
  'cache.contextPrefix': 'a string',
  'cache.ttl': 'a non-negative number of milliseconds',
  'cache.adapter': 'a CacheAdapter',
  masking: 'an object',
  'masking.required': 'true or false',
  initParams: 'an object of strings by name',
  'initParams.isDefaultAgent': 'a string',
  context: 'an object of attributes by name',
  connector: 'an object',
  'connector.connectorUrl': 'a string',
  'connector.environment': 'a string',
  'connector.integrity': 'a string',
  'connector.nonce': 'a string',
  'connector.allowedOrigins': 'an array of origins',
  'connector.baseUrls': 'an object of addresses by environment',
  'connector.baseUrls.prod': 'a string',
}

describe('optional fields', () => {
  it.each([
    ['autoConnect', 'false', 'autoConnect'],
    ['enableLogging', 1, 'enableLogging'],
    ['resume', 'yes', 'resume'],
    ['retryInitialize', 'yes', 'retryInitialize'],
    ['authScheme', 'window', 'authScheme'],
    ['maxQueueSize', -1, 'maxQueueSize'],
    ['maxQueueSize', 1.5, 'maxQueueSize'],
    ['maxQueueSize', Number.NaN, 'maxQueueSize'],
    ['maxQueueSize', '10', 'maxQueueSize'],
    ['maxReconnectAttempts', -1, 'maxReconnectAttempts'],
    ['maxReconnectAttempts', 0.5, 'maxReconnectAttempts'],
    ['maxReconnectAttempts', -Infinity, 'maxReconnectAttempts'],
    ['baseReconnectDelay', -1, 'baseReconnectDelay'],
    ['baseReconnectDelay', Number.NaN, 'baseReconnectDelay'],
    ['baseReconnectDelay', Infinity, 'baseReconnectDelay'],
    ['maxReconnectDelay', Infinity, 'maxReconnectDelay'],
    ['maxReconnectDelay', '30s', 'maxReconnectDelay'],
    ['logLevel', 'DEBUG', 'logLevel'],
    ['logLevel', 6, 'logLevel'],
    ['logger', {}, 'logger'],
    ['logger', console, 'logger'],
    ['transcriptConfig', 'off', 'transcriptConfig'],
    ['transcriptConfig', { enabled: 'no' }, 'transcriptConfig.enabled'],
    ['transcriptConfig', { excludeRoles: 'heartbeat' }, 'transcriptConfig.excludeRoles'],
    ['transcriptConfig', { excludePersonas: ['agent', 1] }, 'transcriptConfig.excludePersonas'],
    ['transcriptConfig', { includeMessageTypes: {} }, 'transcriptConfig.includeMessageTypes'],
    ['transcriptConfig', { maxEntries: -1 }, 'transcriptConfig.maxEntries'],
    ['transcriptConfig', { maxEntries: 2.5 }, 'transcriptConfig.maxEntries'],
    ['transcriptConfig', { maxEntries: Number.NaN }, 'transcriptConfig.maxEntries'],
    ['transcriptConfig', { maxBytes: -1 }, 'transcriptConfig.maxBytes'],
    ['cache', true, 'cache'],
    ['cache', { enabled: 'false' }, 'cache.enabled'],
    ['cache', { storageType: 'disk' }, 'cache.storageType'],
    ['cache', { keyPrefix: 7 }, 'cache.keyPrefix'],
    ['cache', { contextPrefix: 7 }, 'cache.contextPrefix'],
    ['cache', { ttl: -1 }, 'cache.ttl'],
    ['cache', { ttl: Number.NaN }, 'cache.ttl'],
    ['cache', { ttl: '5' }, 'cache.ttl'],
    ['cache', { adapter: 'disk' }, 'cache.adapter'],
    ['cache', { adapter: { get: () => null } }, 'cache.adapter'],
    ['masking', true, 'masking'],
    ['masking', { required: 'yes' }, 'masking.required'],
    ['initParams', 'portalIds=1', 'initParams'],
    ['initParams', ['a'], 'initParams'],
    ['initParams', { isDefaultAgent: true }, 'initParams.isDefaultAgent'],
    ['context', 'name', 'context'],
    ['context', ['name'], 'context'],
    ['connector', 'desk', 'connector'],
    ['connector', { connectorUrl: 7 }, 'connector.connectorUrl'],
    ['connector', { environment: 7 }, 'connector.environment'],
    ['connector', { integrity: 7 }, 'connector.integrity'],
    ['connector', { nonce: 7 }, 'connector.nonce'],
    ['connector', { allowedOrigins: 'https://a.example' }, 'connector.allowedOrigins'],
    ['connector', { baseUrls: 'https://a.example' }, 'connector.baseUrls'],
    ['connector', { baseUrls: { prod: 7 } }, 'connector.baseUrls.prod'],
  ])('%s: rejects %j and names the field', (field, value, named) => {
    expect(thrownBy(() => new AiAgent(config({ [field]: value })))).toMatchObject({
      name: 'ConfigError',
      code: 'CONFIG_INVALID',
      field: named,
      message: `\`${named}\` must be ${WANTED[named]}.`,
    })
  })

  it.each([circular, { n: 1n }])('rejects a context that cannot be encoded as JSON, with the reason', context => {
    expect(thrownBy(() => new AiAgent(config({ context })))).toMatchObject({
      name: 'ConfigError',
      field: 'context',
      message: expect.stringContaining('cannot be encoded as JSON'),
      cause: expect.any(TypeError),
    })
  })

  it.each<[string, object, string, unknown]>([
    ['a login by popup', { authScheme: 'popup' }, 'authScheme', 'popup'],
    ['a login by redirect', { authScheme: 'redirect' }, 'authScheme', 'redirect'],
    ['session storage', { cache: { storageType: 'session' } }, 'cache', { storageType: 'session' }],
    ['local storage', { cache: { storageType: 'local' } }, 'cache', { storageType: 'local' }],
    ['memory storage', { cache: { storageType: 'memory', ttl: 0 } }, 'cache', { storageType: 'memory', ttl: 0 }],
    ['a transcript limit', { transcriptConfig: { maxEntries: 2 } }, 'transcript', { maxEntries: 2 }],
    ['a transcript size', { transcriptConfig: { maxBytes: Infinity } }, 'transcript', { maxBytes: Infinity }],
    ['null as the default limits', { transcriptConfig: { maxEntries: null, maxBytes: null } }, 'transcript', {}],
    ['a filter without a limit', { transcriptConfig: { excludeRoles: ['x'] } }, 'transcript', { excludeRoles: ['x'] }],
    ['required masking', { masking: { required: true } }, 'masking', { required: true }],
    ['a connector', { connector: { environment: 'qa' } }, 'connector', { environment: 'qa' }],
  ])('accepts %s', (_case, fields, name, expected) => {
    expect(Reflect.get(resolveConfig(config(fields)), name)).toStrictEqual(expected)
  })

  it('[CFG-04] maxQueueSize defaults to 1000', () => {
    expect(resolveConfig(config()).maxQueueSize).toBe(1000)
    expect(resolveConfig(config({ maxQueueSize: 0 })).maxQueueSize).toBe(0)
    expect(resolveConfig(config({ maxQueueSize: Infinity })).maxQueueSize).toBe(Infinity)
  })

  it('maxReconnectAttempts defaults to Infinity', () => {
    expect(resolveConfig(config()).maxReconnectAttempts).toBe(Infinity)
    expect(resolveConfig(config({ maxReconnectAttempts: 0 })).maxReconnectAttempts).toBe(0)
  })

  it('[CFG-06] reconnect delays default to 1000 and 30000 ms', () => {
    expect(resolveConfig(config())).toMatchObject({ baseReconnectDelay: 1000, maxReconnectDelay: 30_000 })
    expect(resolveConfig(config({ baseReconnectDelay: 5, maxReconnectDelay: 50 }))).toMatchObject({
      baseReconnectDelay: 5,
      maxReconnectDelay: 50,
    })
  })

  it('lowers baseReconnectDelay to maxReconnectDelay', () => {
    expect(resolveConfig(config({ maxReconnectDelay: 200 }))).toMatchObject({
      baseReconnectDelay: 200,
      maxReconnectDelay: 200,
    })
  })

  it('applies all defaults, also for null', () => {
    const nothing = Object.fromEntries(
      Object.keys(DEFAULTS)
        .concat('auth', 'logger', 'transcriptConfig', 'cache', 'masking', 'initParams', 'context')
        .map(name => [name, null]),
    )
    for (const given of [config(), config(nothing)])
      expect(resolveConfig(given)).toEqual({
        id: 'help',
        endpoint: 'https://agents.example.test',
        ...DEFAULTS,
        auth: undefined,
        logger: undefined,
        transcript: {},
        cache: {},
        masking: {},
        sessionId: undefined,
        initParams: {},
        context: {},
        connector: {},
        warnings: [],
      })
  })

  it('is frozen and independent of later changes to the input', () => {
    const context = { user: { name: 'Customer' } }
    const excludeRoles = ['heartbeat']
    const initParams: Record<string, string> = { userid: '7' }
    const resolved = resolveConfig(config({ context, initParams, transcriptConfig: { excludeRoles } }))
    context.user.name = 'Another customer'
    excludeRoles.push('human')
    initParams.userid = '8'
    expect(Object.isFrozen(resolved)).toBe(true)
    expect(resolved.context).toEqual({ user: { name: 'Customer' } })
    expect(resolved.transcript.excludeRoles).toEqual(['heartbeat'])
    expect(resolved.initParams).toEqual({ userid: '7' })
  })

  it("keeps the host's adapter object", () => {
    const adapter = new MemoryCacheAdapter()
    expect(resolveConfig(config({ cache: { adapter } })).cache.adapter).toBe(adapter)
  })

  it('returns a copy of all init parameters from getInitParams() and getQueryParams()', () => {
    const agent = new AiAgent(config({ initParams: { portalIds: '1,2', 'host parameter': 'x' } }))
    expect(agent.getInitParams()).toEqual({ portalIds: '1,2', 'host parameter': 'x' })
    expect(agent.getQueryParams()).toEqual(agent.getInitParams())
    agent.getInitParams().portalIds = '3'
    expect(agent.getInitParams().portalIds).toBe('1,2')
  })
})

describe('sessionId', () => {
  it.each([
    ['s-1', 's-1'],
    [' s-1 ', 's-1'],
    [0, '0'],
    [42, '42'],
  ])('accepts %j', (given, id) => {
    expect(resolveConfig(config({ sessionId: given })).sessionId).toBe(id)
  })

  it.each(['', '  ', 'undefined', 'null', 'NULL', ' Undefined ', 'NaN', Number.NaN, Infinity, null, {}, [], true])(
    'rejects %j in the constructor',
    given => {
      expect(thrownBy(() => new AiAgent(config({ sessionId: given })))).toMatchObject({
        name: 'SDKError',
        code: 'SESSION_ID_INVALID',
        message: expect.stringContaining('config.sessionId'),
      })
    },
  )

  it('is undefined when not given', () => {
    expect(resolveConfig(config({ sessionId: undefined })).sessionId).toBeUndefined()
  })

  it('requireSessionId rejects undefined', () => {
    expect(thrownBy(() => requireSessionId(undefined, 'It'))).toMatchObject({ code: 'SESSION_ID_INVALID' })
  })
})

describe('logging', () => {
  it('[CFG-07] creates a logger at INFO that prints', () => {
    const { lines, console } = sink()
    const { logger } = new AiAgent(config(), { console })
    logger.debug('below')
    logger.info('printed')
    expect(logger).toBeInstanceOf(Logger)
    expect(lines).toEqual(['[INFO] [AiAgent:help] printed'])
  })

  it('[CFG-07] logLevel DEBUG prints more; enableLogging false prints nothing but still notifies listeners', () => {
    const { lines, console } = sink()
    new AiAgent(config({ logLevel: LogLevel.DEBUG }), { console }).logger.debug('detail')
    expect(lines).toEqual(['[DEBUG] [AiAgent:help] detail'])
    const { logger } = new AiAgent(config({ enableLogging: false }), { console })
    const entries: LogEntry[] = []
    logger.on('log', entry => entries.push(entry))
    logger.error('quiet')
    expect(lines).toHaveLength(1)
    expect(entries).toMatchObject([{ message: 'quiet', level: LogLevel.ERROR }])
  })

  it("[CFG-07] uses the host's logger if given", () => {
    const logger = new Logger({ enableConsole: false })
    expect(new AiAgent(config({ logger })).logger).toBe(logger)
  })

  it('[CFG-14] says that authScheme has no effect on a login that the host configures, and what to set', () => {
    const pkce = (own?: 'popup' | 'redirect') =>
      ({ type: 'pkce', config: { ...LOGIN, ...(own && { authScheme: own }) } }) as const
    const agree = [
      { auth: pkce() },
      { auth: pkce(), authScheme: 'redirect' },
      { auth: pkce('popup'), authScheme: 'popup' },
      { authScheme: 'popup' },
      { auth: { type: 'pre-auth', accessToken: 'x' }, authScheme: 'redirect' },
    ] as const
    expect(agree.flatMap(given => resolveConfig(config(given)).warnings)).toEqual([])
    const ignored = [
      { auth: pkce(), authScheme: 'popup' },
      { auth: pkce('popup'), authScheme: 'redirect' },
    ] as const
    expect(ignored.flatMap(given => resolveConfig(config(given)).warnings)).toEqual([
      expect.stringMatching(/^`authScheme: 'popup'`.*`auth-scheme`.*'redirect'.*`auth\.config\.authScheme`/),
      expect.stringMatching(/^`authScheme: 'redirect'`.*'popup'.*`auth\.config\.authScheme`/),
    ])
  })

  it('[CFG-15] ignores scopes with one warning that names the replacement', () => {
    const { lines, console } = sink()
    new AiAgent(config({ scopes: ['a.b'] }), { console })
    expect(lines).toHaveLength(1)
    expect(lines[0]).toMatch(/^\[WARN\].*`scopes` was removed.*initParams\.scopes/)
    new AiAgent(config({ scopes: undefined }), { console })
    new AiAgent(config(), { console })
    expect(lines).toHaveLength(1)
  })
})

describe('a misspelt option', () => {
  const warningsFor = (fields: object) => resolveConfig(config(fields)).warnings

  it.each<[object, string, string]>([
    [{ retryInitialise: true }, 'retryInitialise', 'retryInitialize'],
    [{ autoconnect: true }, 'autoconnect', 'autoConnect'],
    [{ maxQueSize: 10 }, 'maxQueSize', 'maxQueueSize'],
    [{ reconnectDelay: 10 }, 'reconnectDelay', 'maxReconnectDelay'],
    [{ tab: 'share' }, 'tab', 'tabs'],
    [{ auht: {} }, 'auht', 'auth'],
    [{ cache: { keyPrefex: 'a' } }, 'cache.keyPrefex', 'cache.keyPrefix'],
    [{ transcriptConfig: { maxEntires: 1 } }, 'transcriptConfig.maxEntires', 'transcriptConfig.maxEntries'],
    [{ masking: { require: true } }, 'masking.require', 'masking.required'],
    [{ persistQueue: { expireAfterMs: 1 } }, 'persistQueue.expireAfterMs', 'persistQueue.expiresAfterMs'],
    [{ connector: { baseUrl: {} } }, 'connector.baseUrl', 'connector.baseUrls'],
  ])('[REL-41] %j is ignored: a warning names %s, and %s', (fields, name, near) => {
    expect(warningsFor(fields)).toEqual([`\`${name}\` is not an option and is ignored. Did you mean \`${near}\`?`])
  })

  it('[REL-41] is reported without a name where none is near, and not at all for names that the host chooses and undefined values', () => {
    expect(warningsFor({ colour: 'blue', cache: { x: 1 } })).toEqual([
      '`colour` is not an option and is ignored.',
      '`cache.x` is not an option and is ignored.',
    ])
    const chosen = {
      initParams: { colour: 'blue' },
      context: { colour: { value: 'blue', shade: 'dark' } },
      connector: { baseUrls: { dev: 'https://dev.example.test' } },
      auth: { getToken: () => 'token', colour: 'blue' },
      cache: { adapter: new MemoryCacheAdapter() },
      persistQueue: true,
      colour: undefined,
    }
    expect(warningsFor(chosen)).toEqual([])
  })

  it('[REL-41] is logged once, and the agent works', async () => {
    const { lines, console } = sink()
    const agent = new AiAgent(config({ logLvl: LogLevel.DEBUG, resumes: true }), { console })
    expect(lines).toEqual([
      '[WARN] [AiAgent:help] `logLvl` is not an option and is ignored. Did you mean `logLevel`?',
      '[WARN] [AiAgent:help] `resumes` is not an option and is ignored. Did you mean `resume`?',
    ])
    expect(agent.status.phase).toEqual({ at: 'idle' })
    await agent.destroy()
    expect(lines).toHaveLength(2)
  })

  it.each<[string, AiAgentConfig['auth'], string]>([
    [
      'pre-auth',
      { type: 'pre-auth', accessToken: 'x', refreshTokenFunction: () => 'y' } as AiAgentConfig['auth'],
      '`auth.refreshTokenFunction` is not an option and is ignored. Did you mean `auth.refreshTokenFn`?',
    ],
    [
      'client-credentials',
      {
        type: 'client-credentials',
        config: { tokenUrl: 'https://login.example.test/token', clientId: 'a', clientSecret: 'b', scope: ['c'] },
      } as AiAgentConfig['auth'],
      '`auth.config.scope` is not an option and is ignored. Did you mean `auth.config.scopes`?',
    ],
    [
      'pkce',
      {
        type: 'pkce',
        config: { ...LOGIN, localLogIns: true },
      } as AiAgentConfig['auth'],
      '`auth.config.localLogIns` is not an option and is ignored. Did you mean `auth.config.localLogin`?',
    ],
  ])('[REL-41] of `auth` with type %s is named too', async (type, auth, warning) => {
    const { lines, console } = sink()
    const page = pageWithWindow({ location: { href: 'https://app.example.test/' } })
    const agent = new AiAgent(config({ auth }), { console, ...(type === 'pkce' && { page }) })
    await eventually(() => lines.length > 0)
    expect(lines).toEqual([`[WARN] [AiAgent:help] ${warning}`])
    await agent.destroy()
  })
})
