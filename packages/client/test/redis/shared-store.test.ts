import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { type EmulatorServer, serveEmulator } from '@aiagent/emulator/node'
import { eventually, ManualClock } from '@aiagent/test-support'
import { bundleForNode, type NodeBundle } from '@aiagent/test-support/node-bundle'
import { hasRedis, type RedisServer, startRedis } from '@aiagent/test-support/redis'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { passing, payloadsOf, requestsTo, setUp } from '../agent-harness.ts'
import { openRedisStore } from './redis-store.ts'

const entry = (value: unknown) => ({ value, timestamp: 1 })

describe.skipIf(!hasRedis())('over a Redis server', () => {
  let redis: RedisServer
  const stores: { close(): void }[] = []
  const open: typeof openRedisStore = (path, options) => {
    const store = openRedisStore(path, options)
    stores.push(store)
    return store
  }

  beforeEach(async () => void (redis = await startRedis()))
  afterEach(async () => {
    for (const store of stores.splice(0)) store.close()
    await redis.close()
  })

  describe('an adapter of unstorage', () => {
    it('reads entries of another adapter, under any key', async () => {
      const [one, other] = [open(redis.path), open(redis.path)]
      const keys = ['a', 'a?x=1', 'a:b', 'a/b', 'a::b', '*', '[ab]', '..', 'é', 'x'.repeat(450)]
      for (const key of keys) await one.adapter.set(key, entry({ key }))
      for (const key of keys) expect(await other.adapter.get(key)).toEqual(entry({ key }))
      expect((await other.adapter.keys()).sort()).toEqual([...keys].sort())
      expect((await other.adapter.keys('a')).sort()).toEqual(['a', 'a/b', 'a::b', 'a:b', 'a?x=1'])
      await other.adapter.delete('a')
      expect(await one.adapter.get('a')).toBeNull()
    })

    it('leaves other entries of the store alone, also if a pattern matches them', async () => {
      const { adapter, client } = open(redis.path)
      const beside = open(redis.path, { base: 'aiagent_staging' })
      await client.mset('cart:1', 'mine', 'aiagent', 'mine', 'aiagentx:a', 'mine')
      await beside.adapter.set('a', entry('beside'))
      await adapter.set('a', entry(1))
      await adapter.clear()
      expect((await client.keys('*')).sort()).toEqual(['aiagent', 'aiagent_staging:a', 'aiagentx:a', 'cart:1'])
    })

    it('lets Redis expire entries if a time to live is given', async () => {
      const { adapter, client } = open(redis.path, { ttl: 60_000 })
      await adapter.set('a', entry(1))
      const left = await client.pttl('aiagent:a')
      expect(left).toBeGreaterThan(50_000)
      expect(left).toBeLessThanOrEqual(60_000)
      await open(redis.path).adapter.set('b', entry(1))
      expect(await client.pttl('aiagent:b')).toBe(-1)
    })

    it('waits two seconds for a server that hangs, warns once, and finds its entries again half a minute later', async () => {
      const clock = new ManualClock()
      const warnings: string[] = []
      const warn = (message: string) => void warnings.push(message)
      const { adapter } = open(redis.path, { environment: { clock }, warn })
      await adapter.set('a', entry('kept'))
      redis.freeze(true)
      const [read, written] = [adapter.get('a'), adapter.set('a', entry('lost'))]
      await clock.advance(2_000)
      expect(await read).toBeNull()
      await written
      expect(await adapter.get('a')).toBeNull()
      expect(warnings).toHaveLength(1)
      redis.freeze(false)
      await clock.advance(30_000)
      // Writes that were pending when the server froze have arrived.
      expect(await adapter.get('a')).toEqual(entry('lost'))
      expect(warnings).toHaveLength(1)
    })
  })

  describe('agents in two processes', () => {
    let service: EmulatorServer
    beforeEach(
      async () => void (service = await serveEmulator({ reply: ({ text }) => ({ content: `You said: ${text}` }) })),
    )
    afterEach(() => service.close())

    let program: NodeBundle
    beforeAll(async () => {
      program = await bundleForNode(fileURLToPath(new URL('./agent-process.ts', import.meta.url)))
    })
    afterAll(() => program.remove())

    /** Runs an agent in a separate process; returns its output and its requests. */
    async function converse(context: Record<string, unknown>) {
      const before = requestsTo(service.emulator).length
      const child = spawn(process.execPath, [program.file, service.url, redis.path, JSON.stringify(context)], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      let said = ''
      child.stdout.on('data', chunk => (said += chunk))
      const [code] = await once(child, 'close')
      expect(code).toBe(0)
      return { ...JSON.parse(said), asked: requestsTo(service.emulator).slice(before) }
    }

    it('share tokens, responses and context: the second one requests only its session', async () => {
      const first = await converse({ plan: 'gold' })
      expect(first).toMatchObject({ found: null, heard: 'You said: hello' })
      expect(first.asked).toEqual([
        'GET deploymentInfo',
        'GET deployment',
        'POST token',
        'GET help',
        'POST token',
        'POST session',
        'GET ',
      ])
      const second = await converse({ page: 'the basket' })
      expect(second).toEqual({ found: { plan: 'gold' }, heard: 'You said: hello', asked: ['POST session', 'GET '] })
      const sessions = [...service.emulator.world.sessions.values()]
      expect(sessions.map(({ context }) => context)).toEqual([{}, { plan: 'gold' }])
      expect((await converse({})).found).toEqual({ plan: 'gold', page: 'the basket' })
    })

    it('never store a token or a message under another base', async () => {
      await converse({ plan: 'gold' })
      const { client, storage } = open(redis.path)
      const keys: string[] = await client.keys('*')
      expect(keys.every(key => key.startsWith('aiagent:'))).toBe(true)
      expect(keys.filter(key => key.includes('visitor-1_'))).toEqual(['aiagent:visitor-1_context_help'])
      expect(await storage.getItem('aiagent:visitor-1_context_help')).toMatchObject({ value: { plan: 'gold' } })
    })
  })

  it('an agent continues with one warning when the server stops', async () => {
    const { clock, emulator, environment, printed, make } = setUp()
    const { adapter } = open(redis.path, { environment })
    const shared = { cache: { adapter }, auth: { type: 'anonymous', config: { cache: { adapter } } } } as const
    const { agent, told } = make({ ...shared, context: { plan: 'gold' }, enableLogging: false })
    await agent.initialize()
    expect(await adapter.keys('aiagent_context_')).toEqual(['aiagent_context_help'])
    await redis.stop()

    await passing(clock, agent.setContext({ page: 'the basket' }))
    expect(agent.getContext()).toEqual({ plan: 'gold', page: 'the basket' })
    await passing(clock, agent.connect())
    await passing(clock, agent.send('hello'))
    await eventually(() => payloadsOf(told, 'agentMessage').length, 'an answer')

    const another = make({ ...shared, enableLogging: false })
    await passing(clock, another.agent.initialize())
    expect(another.agent.getContext()).toBeNull()
    expect(requestsTo(emulator).filter(request => request === 'POST session')).toHaveLength(2)
    await passing(clock, agent.removeContext())
    expect(agent.getContext()).toBeNull()
    expect(printed).toEqual([[expect.stringContaining('cache adapter failed'), expect.anything()]])

    await redis.start()
    await clock.advance(30_000)
    await passing(clock, another.agent.setContext({ plan: 'silver' }))
    await eventually(() => another.agent.getContext(), 'a context')
    await another.agent.destroy()
    await agent.destroy()
  })
})
