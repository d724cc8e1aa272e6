import { setTimeout as pause } from 'node:timers/promises'
import { serveEmulator } from '@aiagent/emulator/node'
import { Fleet } from '@aiagent/fleet'
import type { RedisServer } from '@aiagent/test-support/redis'
import { WorkerPool } from './worker-pool.ts'

const CONVERSATIONS = 30
const ROUNDS = 3

/** Shows a fleet: three workers, a table, a worker that is killed, and the table again. Returns whether every message was answered. */
export async function showFleet(redis: RedisServer): Promise<boolean> {
  const service = await serveEmulator({
    reply: ({ text }) => ({ content: `You said: ${text}` }),
    settings: { capabilities: ['receipts', 'resume'] },
    offersLogin: false,
  })
  const base = { redis: redis.path, name: 'demo', endpoint: service.url, shards: 12 }
  const pool = await WorkerPool.create({ ...base, worker: { leaseMs: 4_000, renewEveryMs: 1_000, marginMs: 500 } })
  const fleet = new Fleet({ ...base, mask: false, agent: { id: 'help', endpoint: service.url }, worker: false })
  let answers = 0
  fleet.on('agentMessage', () => void answers++)
  try {
    await fleet.start()
    console.log('Starting three workers.')
    await Promise.all([pool.add(), pool.add(), pool.add()])
    const ids = await Promise.all(Array.from({ length: CONVERSATIONS }, () => fleet.open()))
    for (let round = 1; round <= ROUNDS; round++) {
      const victim = round === ROUNDS ? pool.workers[0] : undefined
      if (victim) {
        console.log('\nA worker is killed. The others have its conversations when its leases end, in 4 seconds.')
        await victim.end('SIGKILL')
      }
      const started = performance.now()
      await Promise.all(ids.map(id => fleet.send(id, `Round ${round}`)))
      while (answers < round * CONVERSATIONS && performance.now() - started < 60_000) await pause(20)
      const reports = await pool.reports()
      const rows = reports.map(({ metrics: { worker }, memory }) => ({
        worker: worker.id,
        shards: worker.shards,
        conversations: worker.running,
        acknowledged: worker.settled.acknowledged,
        answers: worker.agentMessages,
        MB: Math.round(memory.rss / 1e6),
      }))
      console.log(
        `\nRound ${round}: ${CONVERSATIONS} messages answered in ${Math.round(performance.now() - started)} ms.`,
      )
      console.table(rows)
    }
    return answers === ROUNDS * CONVERSATIONS
  } finally {
    await pool.close()
    await fleet.close()
    await service.close()
  }
}
