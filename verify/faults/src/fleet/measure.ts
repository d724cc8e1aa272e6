import { setTimeout as pause } from 'node:timers/promises'
import { serveEmulator } from '@aiagent/emulator/node'
import { Fleet } from '@aiagent/fleet'
import type { RedisServer } from '@aiagent/test-support/redis'
import { Redis } from 'ioredis'
import { WorkerPool } from './worker-pool.ts'

/** Costs of a fleet, from a run on this machine. Times of the processor do not depend on what else the machine does. */
export interface Costs {
  readonly processes: number
  readonly conversations: number
  readonly messagesPerSecond: number
  /** Processor time of the workers for one message and its answer, in microseconds. */
  readonly workerMicrosecondsPerMessage: number
  /** The same of the process that sends, listens and holds the emulator. */
  readonly otherMicrosecondsPerMessage: number
  readonly redisMicrosecondsPerMessage: number
  readonly redisCommandsPerMessage: number
  /** Processor time of a worker for one idle conversation, in microseconds per second. */
  readonly idleMicrosecondsPerConversation: number
  readonly idleRedisCommandsPerSecond: number
  /** Processor time for the start of a conversation, in milliseconds. */
  readonly startMilliseconds: number
  readonly kilobytesPerConversation: number
  /** From the death of a worker to the answer to a message in one of its conversations, in milliseconds: the longest. */
  readonly takeOverMilliseconds: number
}

export interface MeasureOptions {
  readonly processes: number
  readonly conversations: number
  readonly shards: number
  readonly messages: number
  readonly idleMs: number
}

export async function measure(redis: RedisServer, options: MeasureOptions): Promise<Costs> {
  const { processes, conversations, shards, messages, idleMs } = options
  const name = `measure-${processes}-${Date.now()}`
  const settings = { capabilities: ['receipts', 'resume'] as const, heartbeatBeforeReply: false }
  const service = await serveEmulator({ reply: ({ text }) => ({ content: text }), settings, offersLogin: false })
  const base = { redis: redis.path, name, endpoint: service.url, shards }
  const pool = await WorkerPool.create({ ...base, worker: {} })
  const fleet = new Fleet({ ...base, mask: false, agent: { id: 'help', endpoint: service.url }, worker: false })
  const connection = new Redis(redis.path)
  let opened = 0
  let answered = 0
  const answers = new Set<string>()
  fleet.on('opened', () => void opened++)
  fleet.on('agentMessage', ({ message }) => {
    answered++
    answers.add(message.content ?? '')
  })
  try {
    await fleet.start()
    await Promise.all(Array.from({ length: processes }, () => pool.add()))
    await waitUntil(async () => (await fleet.metrics()).fleet.orphanedShards === 0)
    await evenShares(pool, shards)
    const ids = Array.from({ length: conversations }, (_, index) => `c${index}`)
    const empty = await usage(pool, connection)
    await Promise.all(ids.map(id => fleet.open(id)))
    await waitUntil(async () => opened >= conversations)
    const full = await usage(pool, connection)
    await pause(idleMs)
    const idle = await usage(pool, connection)

    const own = process.cpuUsage()
    const started = performance.now()
    const before = await usage(pool, connection)
    let next = 0
    // As many are under way as there are conversations, at most 50.
    const send = async () => {
      while (next < messages) {
        const index = next++
        await fleet.send(ids[index % ids.length] ?? '', `m${index}`)
        await waitUntil(async () => answers.has(`m${index}`), 2)
      }
    }
    await Promise.all(Array.from({ length: Math.min(50, conversations) }, send))
    const seconds = (performance.now() - started) / 1_000
    const after = await usage(pool, connection)
    const { user, system } = process.cpuUsage(own)
    return {
      processes,
      conversations,
      messagesPerSecond: Math.round(answered / seconds),
      workerMicrosecondsPerMessage: Math.round((after.cpuUs - before.cpuUs) / messages),
      otherMicrosecondsPerMessage: Math.round((user + system) / messages),
      redisMicrosecondsPerMessage: Math.round((after.redisUs - before.redisUs) / messages),
      redisCommandsPerMessage: round((after.commands - before.commands) / messages),
      idleMicrosecondsPerConversation: Math.round((idle.cpuUs - full.cpuUs) / conversations / (idleMs / 1_000)),
      idleRedisCommandsPerSecond: Math.round((idle.commands - full.commands) / (idleMs / 1_000)),
      startMilliseconds: round((full.cpuUs - empty.cpuUs) / conversations / 1_000),
      kilobytesPerConversation: Math.round((full.rss - empty.rss) / conversations / 1_000),
      takeOverMilliseconds: processes > 1 ? await takeOver(pool, fleet, ids, answers) : 0,
    }
  } finally {
    connection.disconnect()
    await pool.close()
    await fleet.close()
    await service.close()
  }
}

/** Kills a worker, and sends a message in every conversation. */
async function takeOver(pool: WorkerPool, fleet: Fleet, ids: readonly string[], answers: ReadonlySet<string>) {
  const [victim] = pool.workers
  if (!victim) return 0
  await victim.end('SIGKILL')
  const killed = performance.now()
  await Promise.all(ids.map(id => fleet.send(id, `again ${id}`)))
  await waitUntil(async () => ids.every(id => answers.has(`again ${id}`)))
  return Math.round(performance.now() - killed)
}

async function evenShares(pool: WorkerPool, shards: number): Promise<void> {
  const target = Math.ceil(shards / pool.workers.length)
  await waitUntil(async () => (await pool.reports()).every(({ metrics }) => metrics.worker.shards <= target), 500)
}

/** What the workers and Redis have used so far. */
async function usage(pool: WorkerPool, connection: Redis) {
  const reports = await pool.reports()
  const info = `${await connection.info('cpu')}\n${await connection.info('stats')}`
  const read = (field: string) => Number(new RegExp(`^${field}:(.+)$`, 'm').exec(info)?.[1] ?? 0)
  return {
    cpuUs: reports.reduce((sum, { cpu }) => sum + cpu.user + cpu.system, 0),
    rss: reports.reduce((sum, { memory }) => sum + memory.rss, 0),
    redisUs: (read('used_cpu_user') + read('used_cpu_sys')) * 1_000_000,
    commands: read('total_commands_processed'),
  }
}

async function waitUntil(isTrue: () => Promise<boolean>, everyMs = 20): Promise<void> {
  while (!(await isTrue())) await pause(everyMs)
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
