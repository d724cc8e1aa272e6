const ENDPOINT = 'https://agents.example.test'
const ON_REFRESH = { onRefreshRequired() {} }
const LOGIN = { clientId: 'id', redirectUri: `${ENDPOINT}/callback`, knownAuthorities: ['login.example.test'] }

/** Arguments of each public class that takes some. */
const ARGUMENTS = {
  AiAgent: [{ id: 'help', endpoint: ENDPOINT, enableLogging: false }],
  ApiError: ['Refused.', { reason: 'status', method: 'GET', path: '/' }],
  ApiHelper: [{ apiDomain: ENDPOINT }],
  AuthenticationService: [{ type: 'pre-auth', accessToken: 'token' }],
  AuthError: ['No token.', 'token_missing'],
  ClientCredentialsAuthStrategy: [
    { tokenUrl: `${ENDPOINT}/token`, clientId: 'id', clientSecret: 'secret', allowInBrowser: true },
  ],
  CodeLogin: [{}, {}, {}],
  ConfigError: ['id', 'Missing.'],
  ConnectionError: ['Closed.', 'closed'],
  ConnectorError: ['Failed.', `${ENDPOINT}/connector.js`],
  EventEmitter: [() => {}],
  InitializationPipelineError: ['No portals.', 'NO_PORTALS', { stage: 'portal' }],
  MemoryCacheAdapter: [{ maxEntries: 1 }],
  Message: ['agent', 'human', 'Hello'],
  MessageError: ['Full.', 'queue_full'],
  MessageProcessor: [ON_REFRESH],
  PKCEAuthStrategy: [LOGIN, { page: {} }],
  PreAuthStrategy: [{ accessToken: 'token' }],
  SDKError: ['Aborted.', 'ABORTED'],
  StorageCacheAdapter: ['session'],
  TokenRefreshHandler: [ON_REFRESH],
}

const isClass = value => typeof value === 'function' && /^class\b/.test(Function.prototype.toString.call(value))

/**
 * Constructs every class that a build of the client exports, and checks that an agent uses those classes.
 *
 * @param {Record<string, Record<string, unknown>>} entries what each entry exports
 * @param {Record<string, Record<string, string>>} [expected] what another build gave; without it every class has its arguments
 * @returns {Promise<Record<string, Record<string, string>>>} by entry, what each export is
 */
export async function checkBuild(entries, expected) {
  const kinds = {}
  for (const [entry, exported] of Object.entries(entries)) {
    const named = Object.entries(exported)
    kinds[entry] = Object.fromEntries(named.map(([name, value]) => [name, isClass(value) ? 'class' : typeof value]))
    const wanted = expected?.[entry] ?? kinds[entry]
    for (const name of new Set([...Object.keys(wanted), ...Object.keys(kinds[entry])]))
      if (kinds[entry][name] !== wanted[name])
        throw new Error(`${entry} exports ${name} as ${kinds[entry][name]}, and another build as ${wanted[name]}.`)
    for (const [name, value] of named) if (isClass(value)) construct(name, value)
  }
  const classes = Object.values(expected ?? kinds).flatMap(Object.keys)
  const stale = Object.keys(ARGUMENTS).find(name => !classes.includes(name))
  if (stale) throw new Error(`whole-build.mjs has arguments of ${stale}, which no entry exports.`)
  checkAgent(entries['@aiagent/client'], entries['@aiagent/client/react-native'])
  await checkAuth(entries['@aiagent/client'])
  return kinds
}

function construct(name, Class) {
  if (Class.length > 0 && !(name in ARGUMENTS))
    throw new Error(`whole-build.mjs has no arguments of the class ${name}.`)
  if (!(new Class(...(ARGUMENTS[name] ?? [])) instanceof Class)) throw new Error(`${name} cannot be constructed.`)
}

/** The exported classes are those of an agent, also of one in React Native. */
function checkAgent(client, native) {
  const appState = { currentState: 'active', addEventListener: () => ({ remove() {} }) }
  const environment = native?.nativeEnvironment({ appState, getRandomValues: bytes => crypto.getRandomValues(bytes) })
  const agent = new client.AiAgent(...ARGUMENTS.AiAgent, environment)
  const used = {
    MessageProcessor: agent.getMessageProcessor(),
    Logger: agent.logger,
    MemoryCacheAdapter: client.createCacheAdapter({ storage: 'memory' }),
    ConfigError: thrown(() => new client.AiAgent({})),
    SDKError: thrown(() => new client.AiAgent({})),
  }
  for (const [name, instance] of Object.entries(used))
    if (!(instance instanceof client[name]))
      throw new Error(`An agent uses another class ${name} than the exported one.`)
}

/** The exported strategies are those that a service loads on demand. */
async function checkAuth(client) {
  const [credentials] = ARGUMENTS.ClientCredentialsAuthStrategy
  for (const [name, input] of [
    ['PreAuthStrategy', { type: 'pre-auth', accessToken: 'token' }],
    ['ClientCredentialsAuthStrategy', { type: 'client-credentials', config: credentials }],
  ]) {
    const service = new client.AuthenticationService(input)
    await service.initialize({ deploymentInfo: { apiDomain: ENDPOINT } })
    if (!(service.getStrategy() instanceof client[name]))
      throw new Error(`A service uses another class ${name} than the exported one.`)
    await service.cleanup()
  }
}

function thrown(work) {
  try {
    work()
  } catch (error) {
    return error
  }
}
