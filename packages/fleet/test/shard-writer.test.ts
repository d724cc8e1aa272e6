import { hasRedis, type RedisServer, startRedis } from '@aiagent/test-support/redis'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { messageField, ShardKeys } from '../src/keys.ts'
import { type Connection, runScript } from '../src/redis.ts'
import { SEND } from '../src/scripts.ts'
import { eventOperation, ShardWriter } from '../src/shard-writer.ts'

/** A writer whose commits are kept. */
function create() {
  const commits: unknown[][] = []
  const evalsha = async (_hash: string, _keys: number, ...rest: unknown[]) => {
    commits.push(JSON.parse(String(rest.at(-1)))[1])
    return 1
  }
  const writer = new ShardWriter({
    connection: { evalsha } as unknown as Connection,
    keys: new ShardKeys('test', 0),
    worker: 'worker',
    number: 1,
    keepEvents: 10,
    isHeld: () => true,
    onRefused: () => {},
    onFailed: () => {},
    onCommit: () => {},
  })
  return { writer, commits }
}

describe('the writer of a shard', () => {
  it('[REL-139] stores the end of a message and its event in one step, however much waits', async () => {
    const { writer, commits } = create()
    // Sizes that no limit of a commit is a multiple of.
    for (let message = 0; message < 997; message++)
      writer.add(
        ['done', `${message}`],
        ['settle', 'a', `${message}`],
        eventOperation('deliveryUpdate', { conversationId: 'a', id: `${message}`, state: 'acknowledged' }),
      )
    expect(await writer.flush()).toBe(true)
    expect(commits.length).toBeGreaterThan(1)
    for (const commit of commits) expect(commit.length % 3).toBe(0)
    expect(commits.flat()).toHaveLength(2_991)
  })

  it('[REL-141] stores no more than some megabytes in one step', async () => {
    const { writer, commits } = create()
    const text = 'x'.repeat(3_000_000)
    for (let event = 0; event < 5; event++) writer.add(['event', 'a', 'agentMessage', text])
    expect(await writer.flush()).toBe(true)
    expect(commits.map(commit => commit.length)).toEqual([1, 1, 1, 1, 1])
  })
})

describe.skipIf(!hasRedis())('the writer of a shard over Redis', () => {
  let server: RedisServer | undefined
  let shards = 0
  beforeAll(async () => {
    server = await startRedis()
  })
  afterAll(() => server?.close())

  /** A writer with the lease of a shard, in which the conversations c1 and c2 have one unsettled message each. */
  async function createOwner() {
    const redis = new Redis(server?.path ?? '')
    const keys = new ShardKeys('test', ++shards)
    await redis.set(keys.owner, 'worker:1')
    for (const id of ['c1', 'c2']) {
      await redis.sadd(keys.open, id)
      const all = [keys.in, keys.open, keys.ending, keys.pending, keys.counts, keys.done(id)]
      await runScript(redis, SEND, all, [id, messageField(id, 'm'), 'm', 'Hello', 10, 0])
    }
    const failures: unknown[] = []
    let refusals = 0
    const writer = new ShardWriter({
      connection: redis,
      keys,
      worker: 'worker',
      number: 1,
      keepEvents: 10,
      isHeld: () => true,
      onRefused: () => void refusals++,
      onFailed: error => void failures.push(error),
      onCommit: () => {},
    })
    return { redis, keys, writer, failures, refusals: () => refusals }
  }

  it.each([
    ['a counter with text', ({ keys, redis }) => redis.hset(keys.counts, 'c2', 'many')],
    ['a key of another type', ({ keys, redis }) => redis.set(keys.done('c2'), 'text')],
  ] satisfies [string, (owner: Awaited<ReturnType<typeof createOwner>>) => Promise<unknown>][])(
    '[REL-141] stores nothing of a commit that the store refuses, and reports it: %s',
    async (_, spoil) => {
      const owner = await createOwner()
      const { keys, redis, writer, failures, refusals } = owner
      await spoil(owner)
      writer.add(['event', 'c1', 'agentMessage', '{}'])
      writer.add(['settle', 'c1', 'm'], ['settle', 'c2', 'm'])
      expect(await writer.flush()).toBe(false)
      expect(failures).toMatchObject([{ message: expect.stringContaining(`{test:s${shards}}`) }])
      expect(refusals()).toBe(0)
      expect(await redis.xlen(keys.out)).toBe(0)
      expect(await redis.hkeys(keys.pending)).toEqual([messageField('c1', 'm'), messageField('c2', 'm')])
      expect(await redis.hget(keys.counts, 'c1')).toBe('1')
      expect(await redis.exists(keys.commit)).toBe(0)
      // Nothing more is written.
      writer.add(['event', 'c1', 'agentMessage', '{}'])
      expect(await writer.flush()).toBe(false)
      expect(await redis.xlen(keys.out)).toBe(0)
      redis.disconnect()
    },
  )

  it('[REL-141] stores a commit with half a surrogate pair in ids', async () => {
    const { keys, redis, writer, failures } = await createOwner()
    writer.add(['event', 'c1', 'agentMessage', '{}'], ['set', 'c1', 'field\ud83d', 'value\ude00'])
    writer.add(['settle', 'c1', 'm'], ['mark', 'c2', 'm', 'S1\ud83d'])
    expect(await writer.flush()).toBe(true)
    expect(failures).toEqual([])
    expect(await redis.xlen(keys.out)).toBe(1)
    expect(await redis.hgetall(keys.conversation('c1'))).toEqual({ 'field\ufffd': 'value\ufffd' })
    expect(await redis.hgetall(keys.pending)).toEqual({ [messageField('c2', 'm')]: 'S1\ufffd' })
    redis.disconnect()
  })

  it('[REL-142] settles a message of one conversation, and not the one with the same id of another', async () => {
    const { keys, redis, writer } = await createOwner()
    writer.add(['mark', 'c2', 'm', 'S2'], ['settle', 'c1', 'm'])
    expect(await writer.flush()).toBe(true)
    expect(await redis.hgetall(keys.pending)).toEqual({ [messageField('c2', 'm')]: 'S2' })
    expect(await redis.hgetall(keys.counts)).toEqual({ c2: '1' })
    expect(await redis.exists(keys.done('c1'), keys.done('c2'))).toBe(1)
    redis.disconnect()
  })
})
