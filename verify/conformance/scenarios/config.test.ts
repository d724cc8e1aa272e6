import { type AiAgentConfig, ConfigError, DEFAULTS, Logger, LogLevel } from '@aiagent/client'
import { paths } from '@aiagent/protocol'
import { eventually } from '@aiagent/test-support'
import { expect } from 'vitest'
import { Journal } from '../journal.ts'
import { verifies } from '../verifies.ts'

verifies('CFG-01', 'the constructor rejects a missing or malformed id or endpoint and names the field', service => {
  const refused: [unknown, 'id' | 'endpoint'][] = [
    [{ endpoint: service.endpoint }, 'id'],
    [{ id: '', endpoint: service.endpoint }, 'id'],
    [{ id: '  ', endpoint: service.endpoint }, 'id'],
    [{ id: 7, endpoint: service.endpoint }, 'id'],
    [{ id: 'help' }, 'endpoint'],
    [{ id: 'help', endpoint: '' }, 'endpoint'],
    [{ id: 'help', endpoint: null }, 'endpoint'],
    [{ id: 'help', endpoint: 'ftp://agents.example.test' }, 'endpoint'],
    [{ id: 'help', endpoint: 'https://' }, 'endpoint'],
    [{ id: 'help', endpoint: 'two words' }, 'endpoint'],
  ]
  for (const [config, field] of refused) {
    const create = () => service.newAgent({ id: undefined, endpoint: undefined, ...(config as object) } as never)
    expect(create, JSON.stringify(config)).toThrow(ConfigError)
    expect(create, JSON.stringify(config)).toThrow(`\`${field}\``)
    expect(create, JSON.stringify(config)).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID', field }))
  }
  expect(service.control.requests()).toEqual([])
})

for (const [form, scheme] of [
  ['http://', 'http:'],
  ['https://', 'https:'],
  ['ws://', 'http:'],
  ['wss://', 'https:'],
  ['', 'https:'],
] as const) {
  verifies(
    'CFG-01',
    `an endpoint ${form ? `with ${form}` : 'that is a bare host'} is requested by ${scheme}`,
    async service => {
      const { host } = new URL(service.endpoint)
      const environment = service.environment()
      const { fetch = globalThis.fetch, WebSocket } = environment
      const called: string[] = []
      // Acts as a TLS terminator: the service itself listens without TLS. On a port it is this machine's own address,
      // which needs no encryption.
      const isEncrypted = scheme === 'https:' && WebSocket !== undefined
      environment.fetch = async (address, init) => {
        called.push(address)
        const response = await fetch(address.replace(/^https:/, 'http:'), init)
        const body = await response.text()
        return new Response(isEncrypted ? body.replace(/"(http|ws):/g, '"$1s:') : body, response)
      }
      const sockets = isEncrypted
        ? {
            WebSocket: class extends WebSocket {
              constructor(address: string) {
                super(address.replace(/^wss:/, 'ws:'))
              }
            },
          }
        : {}
      const agent = service.newAgent({ endpoint: form + host }, { ...environment, ...sockets })
      await agent.initialize()
      await agent.connect()
      expect(called[0]).toBe(`${scheme}//${host}${paths.deploymentInfo()}`)
      expect(agent.isConnected()).toBe(true)
    },
  )
}

verifies('CFG-07', 'without a logger the agent creates one that prints from INFO up', async service => {
  const agent = service.newAgent()
  expect(agent.logger.getLevel()).toBe(LogLevel.INFO)
  agent.logger.debug('details')
  agent.logger.info('a fact')
  await agent.initialize()
  expect(service.printed.filter(line => line.includes('details'))).toEqual([])
  expect(service.printed.filter(line => line.includes('a fact'))).toHaveLength(1)
  expect(service.printed.find(line => line.includes('a fact'))).toContain('AiAgent:help')
})

verifies('CFG-07', 'logLevel DEBUG prints more, and enableLogging false prints nothing', async service => {
  const talkative = service.newAgent({ logLevel: LogLevel.DEBUG })
  talkative.logger.debug('details')
  expect(service.printed.filter(line => line.includes('details'))).toHaveLength(1)

  service.printed.length = 0
  const silent = service.newAgent({ enableLogging: false, logLevel: LogLevel.DEBUG })
  const entries: string[] = []
  silent.logger.on('log', entry => entries.push(entry.message))
  silent.logger.error('trouble')
  await silent.initialize()
  await silent.connect()
  expect(service.printed).toEqual([])
  expect(entries).toContain('trouble')
  // Only the console is off: listeners still receive the entry.
  expect(entries.length).toBeGreaterThan(1)
})

verifies('CFG-07', 'uses the logger of the host', async service => {
  const messages: string[] = []
  const logger = new Logger({ name: 'host', level: LogLevel.DEBUG, enableConsole: false })
  logger.on('log', entry => messages.push(entry.message))
  const agent = service.newAgent({ logger })
  expect(agent.logger).toBe(logger)
  await agent.initialize()
  await agent.connect()
  expect(messages.length).toBeGreaterThan(0)
  expect(service.printed).toEqual([])
})

verifies('CFG-11', 'getInitParams() and its alias return all keys, well-known or not, as a copy', async service => {
  const initParams = { userid: 'u-1', env: 'qa', theme: 'dark', 'x-own': '' }
  const agent = service.newAgent({ initParams })
  expect(agent.getInitParams()).toEqual(initParams)
  expect(agent.getQueryParams()).toEqual(initParams)
  agent.getInitParams()['theme'] = 'light'
  await agent.initialize()
  expect(agent.getInitParams()).toEqual({ userid: 'u-1', env: 'qa', theme: 'dark', 'x-own': '' })
  expect(service.newAgent().getInitParams()).toEqual({})
})

verifies('CFG-15', '`scopes` is a type error, and ignored at run time with one warning', async service => {
  // @ts-expect-error `scopes` is not a field of the configuration
  const typed: AiAgentConfig = { id: 'help', endpoint: service.endpoint, scopes: ['core.everything.write'] }
  const tokenRequests = () => service.control.requests().filter(({ body }) => body?.includes('grant_type'))

  await service.newAgent().initialize()
  const agent = service.newAgent(typed)
  const warnings = service.printed.filter(line => line.includes('scopes'))
  expect(warnings).toHaveLength(1)
  expect(warnings[0]).toContain('initParams.scopes')
  await agent.initialize()
  expect(agent.getIsInitialized()).toBe(true)
  // The same token requests as without scopes: one for the agent details, and one with the agent's scopes.
  const bodies = tokenRequests().map(({ body }) => body)
  expect(bodies).toHaveLength(4)
  expect(bodies.slice(2)).toEqual(bodies.slice(0, 2))
})

verifies('CFG-04', 'by default the queue holds 1000 messages, and maxQueueSize changes that', async service => {
  expect(DEFAULTS.maxQueueSize).toBe(1000)
  for (const maxQueueSize of [undefined, 3]) {
    const agent = service.newAgent({ ...(maxQueueSize && { maxQueueSize }) })
    await agent.initialize()
    const limit = maxQueueSize ?? 1000
    for (let index = 0; index < limit; index++) await agent.send(`message ${index}`)
    await expect(agent.send('one more')).rejects.toMatchObject({ code: 'MESSAGE_ERROR', reason: 'queue_full' })
    expect(agent.getQueueSize()).toBe(limit)
  }
})

verifies('CFG-08', 'transcriptConfig.enabled turns storing on and off', async service => {
  const agent = await service.connectedAgent({ transcriptConfig: { enabled: false } })
  const journal = new Journal(agent)
  await agent.send('hello')
  await eventually(() => journal.answers.length)
  expect(agent.getTranscript()).toEqual([])
  expect(agent.getTranscriptSize()).toBe(0)
  expect(journal.of('transcriptUpdate').length).toBeGreaterThanOrEqual(2)
})

for (const [title, transcriptConfig, kept] of [
  ['all messages by default', {}, ['human', 'context', 'heartbeat', 'customer support agent']],
  ['no messages of excluded roles', { excludeRoles: ['heartbeat', 'context'] }, ['human', 'customer support agent']],
  ['no messages of excluded personas', { excludePersonas: ['system'] }, ['human', 'customer support agent']],
  [
    'only messages of included types',
    { includeMessageTypes: ['customer_message', 'heartbeat_processed'] },
    ['human', 'heartbeat'],
  ],
  ['the newest maxEntries messages', { maxEntries: 2 }, ['heartbeat', 'customer support agent']],
] as const) {
  verifies('CFG-08', `transcriptConfig filters the stored messages: ${title}`, async service => {
    const agent = await service.connectedAgent({
      transcriptConfig: transcriptConfig as AiAgentConfig['transcriptConfig'] & object,
    })
    const journal = new Journal(agent)
    // Without awaiting, so that no answer comes in between.
    await Promise.all([agent.send('hello'), agent.setContext({ plan: 'gold' }, { sendImmediately: true })])
    await eventually(() => journal.answers.length)
    const roles = agent.getTranscript().map(entry => entry.message.role)
    expect(roles).toEqual(kept)
  })
}
