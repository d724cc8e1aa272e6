import { setTimeout as pause } from 'node:timers/promises'
import { Fleet, type FleetEvents, type WorkerOptions } from '@aiagent/fleet'
import type { RedisServer } from '@aiagent/test-support/redis'
import { Random } from '../schedule/random.ts'
import { acceptedTexts, judge, readLeases, type Verdict } from './judge.ts'
import { serveWatched } from './watched-service.ts'
import { WorkerPool } from './worker-pool.ts'

/** A campaign of kills over a fleet. Times are in milliseconds. */
export interface CampaignOptions {
  readonly seed: number
  readonly conversations: number
  readonly workers: number
  readonly shards: number
  readonly durationMs: number
  readonly messagesPerSecond: number
  /** Bounds of the time between two kills. */
  readonly killEveryMs: readonly [number, number]
  /** How long Redis is suspended, once, in the middle. 0 for never. */
  readonly freezeRedisMs: number
  /** How long a worker is suspended, once, after a quarter. 0 for never. */
  readonly freezeWorkerMs: number
  readonly worker: WorkerOptions
  readonly capabilities: readonly ('receipts' | 'resume' | 'fencing')[]
  /** How long unsettled messages are waited for at the end. */
  readonly settleMs: number
  readonly log: (text: string) => void
}

/** What a campaign found. */
export interface CampaignResult extends Verdict {
  readonly kills: number
  /** How long the end took until everything was settled. */
  readonly settledAfterMs: number
}

export async function runCampaign(redis: RedisServer, options: CampaignOptions): Promise<CampaignResult> {
  const { seed, conversations, workers, shards, capabilities, log, worker } = options
  const random = new Random(seed).next
  const name = `campaign-${seed}-${Date.now()}`
  const service = await serveWatched({
    reply: ({ text }) => ({ content: `re: ${text}` }),
    settings: { capabilities, recordingLimit: 100_000, heartbeatBeforeReply: false },
    offersLogin: false,
  })
  const endpoint = service.server.url
  const pool = await WorkerPool.create({ redis: redis.path, name, endpoint, shards, worker })
  const fleet = new Fleet({
    redis: redis.path,
    name,
    shards,
    mask: false,
    agent: { id: 'help', endpoint },
    worker: false,
  })
  const updates: FleetEvents['deliveryUpdate'][] = []
  const said: FleetEvents['agentMessage'][] = []
  const settled = new Set<string>()
  fleet.on('deliveryUpdate', update => {
    updates.push(update)
    settled.add(update.id)
  })
  fleet.on('agentMessage', message => void said.push(message))
  try {
    await fleet.start()
    await Promise.all(Array.from({ length: workers }, () => pool.add()))
    const ids = Array.from({ length: conversations }, (_, index) => `c${index}`)
    const started = performance.now()
    const opened = new Set<string>()
    fleet.on('opened', ({ conversationId }) => void opened.add(conversationId))
    await Promise.all(ids.map(id => fleet.open(id)))
    while (opened.size < conversations && performance.now() - started < 300_000) await pause(100)
    log(`${opened.size} conversations opened in ${Math.round(performance.now() - started)} ms.`)

    const sent = new Map<string, string>()
    const end = performance.now() + options.durationMs
    let kills = 0
    const send = async () => {
      let next = 0
      const from = performance.now()
      const pending = new Set<Promise<void>>()
      while (performance.now() < end) {
        const due = ((performance.now() - from) / 1_000) * options.messagesPerSecond
        for (; next < due; next++) {
          const conversation = ids[Math.floor(random() * ids.length)] ?? ''
          const id = `m${next}`
          const text = `${conversation}#${next}`
          const sending = fleet.send(conversation, text, { id }).then(
            () => void sent.set(id, text),
            // Told to the caller: the message may be sent or not.
            () => {},
          )
          pending.add(sending)
          void sending.then(() => pending.delete(sending))
        }
        await pause(5)
      }
      await Promise.all(pending)
    }
    const [least, most] = options.killEveryMs
    const kill = async () => {
      for (;;) {
        await pause(least + random() * (most - least))
        if (performance.now() >= end) return
        const victims = pool.workers.filter(({ process: { connected } }) => connected)
        const victim = victims[Math.floor(random() * victims.length)]
        if (!victim) continue
        await victim.end('SIGKILL')
        // It may be killed before it has begun.
        pool.add().catch(() => {})
        kills++
      }
    }
    const freezeRedis = async () => {
      if (options.freezeRedisMs === 0) return
      await pause(options.durationMs / 2)
      redis.freeze(true)
      await pause(options.freezeRedisMs)
      redis.freeze(false)
      log(`Redis was suspended for ${options.freezeRedisMs} ms.`)
    }
    const freezeWorker = async () => {
      if (options.freezeWorkerMs === 0) return
      await pause(options.durationMs / 4)
      const [victim] = pool.workers
      victim?.process.kill('SIGSTOP')
      await pause(options.freezeWorkerMs)
      victim?.process.kill('SIGCONT')
      log(`A worker was suspended for ${options.freezeWorkerMs} ms.`)
    }
    await Promise.all([send(), kill(), freezeRedis(), freezeWorker()])

    const endedAt = performance.now()
    // What a message of the plain wire is told as does not say whether the service has it, and answers it.
    const isOver = () =>
      [...sent.keys()].every(id => settled.has(id)) && said.length >= acceptedTexts(service.server.emulator).size
    while (!isOver() && performance.now() - endedAt < options.settleMs) await pause(100)
    const settledAfterMs = Math.round(performance.now() - endedAt)
    const leases = await readLeases(redis.path, name, shards)
    const verdict = judge({ sent, updates, said }, service.server.emulator, service.frames, leases)
    return { ...verdict, kills, settledAfterMs }
  } finally {
    await pool.close()
    await fleet.close()
    await service.server.close()
  }
}
