// A fleet against a Redis server that it starts: `npm run fleet`, or with `--campaign` or `--measure`. See docs/fleets.md.
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { HOW_TO_GET_REDIS, hasRedis, startRedis } from '@aiagent/test-support/redis'
import { markdownTable, writeTable } from '../table.ts'
import { runCampaign } from './campaign.ts'
import { showFleet } from './demo.ts'
import { measure } from './measure.ts'
import { drawNeeds, simulate } from './simulate.ts'

const { values } = parseArgs({
  options: {
    campaign: { type: 'boolean' },
    measure: { type: 'boolean' },
    conversations: { type: 'string' },
    minutes: { type: 'string', default: '5' },
    seed: { type: 'string', default: '1' },
    'per-second': { type: 'string', default: '40' },
    messages: { type: 'string', default: '4000' },
    plain: { type: 'boolean' },
    write: { type: 'string' },
  },
})

if (!hasRedis()) {
  console.error(`The fleet needs a Redis server. ${HOW_TO_GET_REDIS}`)
  process.exitCode = 1
} else {
  const redis = await startRedis()
  try {
    const work = values.campaign ? campaign : values.measure ? measurements : () => showFleet(redis)
    process.exitCode = (await work()) ? 0 : 1
  } finally {
    await redis.close()
  }

  /** Kills and suspends workers for some minutes. Returns whether the judge found nothing. */
  async function campaign(): Promise<boolean> {
    const durationMs = Number(values.minutes) * 60_000
    // A short campaign has short leases, so that they end in it.
    const isShort = durationMs < 120_000
    const conversations = Number(values.conversations ?? 2_000)
    const result = await runCampaign(redis, {
      seed: Number(values.seed),
      conversations,
      workers: 3,
      shards: isShort ? 16 : 64,
      durationMs,
      messagesPerSecond: Number(values['per-second']),
      killEveryMs: isShort ? [2_000, 4_000] : [4_000, 10_000],
      freezeRedisMs: isShort ? 1_000 : 10_000,
      freezeWorkerMs: isShort ? 4_000 : 30_000,
      worker: isShort ? { leaseMs: 3_000, renewEveryMs: 700, marginMs: 500 } : {},
      capabilities: values.plain ? [] : ['receipts', 'resume', 'fencing'],
      settleMs: 600_000,
      log: console.log,
    })
    const { violations, ...counts } = result
    const wire = values.plain ? 'plain' : 'receipts, resume, fencing'
    const table = markdownTable([
      { Wire: wire, Conversations: conversations, Minutes: Number(values.minutes), ...titled(counts) },
    ])
    const found = markdownTable([titled(violations)])
    console.log(`\n${table}\n\n${found}`)
    const mark = values.plain ? 'campaign-plain' : 'campaign'
    if (values.write) writeTable(values.write, mark, `${table}\n\n${found}`)
    return Object.values(violations).every(count => count === 0)
  }

  /** Measures the costs with 1, 2 and 4 processes, and what they mean for a million conversations. */
  async function measurements(): Promise<boolean> {
    const rows = []
    for (const processes of [1, 2, 4])
      rows.push(
        await measure(redis, {
          processes,
          conversations: Number(values.conversations ?? 400),
          shards: 64,
          messages: Number(values.messages),
          idleMs: 10_000,
        }),
      )
    const costs = markdownTable(rows.map(row => titled(row)))
    const sizes = [1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000]
    const [first] = rows
    if (!first) return false
    const needs = sizes.map(size => simulate(size, first))
    const table = markdownTable(
      needs.map(({ processes, first: limit, ...need }) => ({
        ...titled(need),
        'Processes by CPU': processes.cpu,
        'by memory': processes.memory,
        'by sockets': processes.sockets,
        'Used up first': limit,
      })),
    )
    console.log(`\n${costs}\n\n${table}`)
    if (values.write) {
      writeTable(values.write, 'costs', costs)
      writeTable(values.write, 'simulation', table)
      writeFileSync(values.write.replace(/\.md$/, '.svg'), drawNeeds(needs))
    }
    return true
  }
}

/** Names of fields as headings: `kilobytesPerConversation` as `kB per conversation`. */
function titled<Value>(row: Readonly<Record<string, Value>> | object): Record<string, Value> {
  const words = (name: string) =>
    name.replaceAll(/([a-z])([A-Z])/g, (_, one: string, two: string) => `${one} ${two.toLowerCase()}`)
  const entries = Object.entries(row as Record<string, Value>)
  return Object.fromEntries(
    entries.map(([name, value]) => [words(name).replace(/^[a-z]/, first => first.toUpperCase()), value]),
  )
}
