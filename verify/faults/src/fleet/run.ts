// A fleet against a Redis server that it starts: `npm run fleet`, or with `--campaign` or `--measure`. See docs/fleets.md.
import { writeFileSync } from 'node:fs'
import { HOW_TO_GET_REDIS, hasRedis, startRedis } from '@aiagent/test-support/redis'
import { readCommandLine, UsageError, wholeNumber } from '../../../../scripts/command-line.ts'
import { markdownTable, writeTable } from '../table.ts'
import { runCampaign } from './campaign.ts'
import { showFleet } from './demo.ts'
import { measure } from './measure.ts'
import { drawNeeds, simulate } from './simulate.ts'

const options = readCommandLine(
  {
    name: 'fleet',
    about: 'Shows a fleet at work over a Redis server that it starts. See docs/fleets.md.',
    options: {
      campaign: { type: 'boolean', help: 'kills and suspends workers instead, and judges what became of the messages' },
      measure: { type: 'boolean', help: 'measures the costs of a conversation instead' },
      conversations: { type: 'string', help: 'conversations. Default: 2000 in a campaign, 400 when measured' },
      minutes: { type: 'string', default: '5', help: 'length of the campaign' },
      seed: { type: 'string', default: '1', help: 'seed of the campaign' },
      'per-second': { type: 'string', default: '40', help: 'messages per second in the campaign' },
      messages: { type: 'string', default: '4000', help: 'messages of a measurement' },
      plain: { type: 'boolean', help: 'a service without receipts, resume and fencing' },
      write: { type: 'string', value: 'FILE', help: 'writes the tables into this document' },
    },
  },
  ({ values }) => {
    const minutes = Number(values.minutes)
    if (!(minutes > 0)) throw new UsageError(`--minutes must be a number above 0, not "${values.minutes}".`)
    const { conversations } = values
    return {
      ...values,
      conversations: conversations === undefined ? undefined : wholeNumber('conversations', conversations, 1),
      minutes,
      seed: wholeNumber('seed', values.seed),
      perSecond: wholeNumber('per-second', values['per-second'], 1),
      messages: wholeNumber('messages', values.messages, 1),
    }
  },
)

if (!hasRedis()) {
  console.error(`The fleet needs a Redis server. ${HOW_TO_GET_REDIS}`)
  process.exitCode = 1
} else {
  const redis = await startRedis()
  try {
    const work = options.campaign ? campaign : options.measure ? measurements : () => showFleet(redis)
    process.exitCode = (await work()) ? 0 : 1
  } finally {
    await redis.close()
  }

  /** Kills and suspends workers for some minutes. Returns whether the judge found nothing. */
  async function campaign(): Promise<boolean> {
    const durationMs = options.minutes * 60_000
    // A short campaign has short leases, so that they end in it.
    const isShort = durationMs < 120_000
    const conversations = options.conversations ?? 2_000
    const result = await runCampaign(redis, {
      seed: options.seed,
      conversations,
      workers: 3,
      shards: isShort ? 16 : 64,
      durationMs,
      messagesPerSecond: options.perSecond,
      killEveryMs: isShort ? [2_000, 4_000] : [4_000, 10_000],
      freezeRedisMs: isShort ? 1_000 : 10_000,
      freezeWorkerMs: isShort ? 4_000 : 30_000,
      worker: isShort ? { leaseMs: 3_000, renewEveryMs: 700, marginMs: 500 } : {},
      capabilities: options.plain ? [] : ['receipts', 'resume', 'fencing'],
      settleMs: 600_000,
      log: console.log,
    })
    const { violations, ...counts } = result
    const wire = options.plain ? 'plain' : 'receipts, resume, fencing'
    const table = markdownTable([
      { Wire: wire, Conversations: conversations, Minutes: options.minutes, ...titled(counts) },
    ])
    const found = markdownTable([titled(violations)])
    console.log(`\n${table}\n\n${found}`)
    const mark = options.plain ? 'campaign-plain' : 'campaign'
    if (options.write) writeTable(options.write, mark, `${table}\n\n${found}`)
    return Object.values(violations).every(count => count === 0)
  }

  /** Measures the costs with 1, 2 and 4 processes, and what they mean for a million conversations. */
  async function measurements(): Promise<boolean> {
    const rows = []
    for (const processes of [1, 2, 4])
      rows.push(
        await measure(redis, {
          processes,
          conversations: options.conversations ?? 400,
          shards: 64,
          messages: options.messages,
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
    if (options.write) {
      writeTable(options.write, 'costs', costs)
      writeTable(options.write, 'simulation', table)
      writeFileSync(options.write.replace(/\.md$/, '.svg'), drawNeeds(needs))
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
