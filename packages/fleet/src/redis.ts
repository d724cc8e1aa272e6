import { createHash } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { type Cluster, Redis, type RedisOptions } from 'ioredis'

/** A connection to one server, or to a cluster. */
export type Connection = Redis | Cluster

/** A `Redis` or a `Cluster` of `ioredis` 5 or 6, also from another copy of that package. */
export interface RedisConnection {
  /** Whether it leads to a cluster. */
  readonly isCluster: boolean
  /** Creates a connection with the same options. */
  duplicate(...options: never[]): unknown
}

/** Where the store is: an address, or a connection of `ioredis`, which the fleet duplicates where it needs more. */
export type RedisSource = string | RedisConnection

/** Longest time that a read waits for entries, in milliseconds. */
export const BLOCK_MS = 1_000

/** What the fleet depends on, whatever the host has set: a read may block, a number is a number. */
const REPLIES = {
  stringNumbers: false,
  monitor: false,
  readOnly: false,
  commandTimeout: undefined,
  blockingTimeout: 0,
} as object as RedisOptions

/** Waits as long as a server is away: every command of the fleet may be repeated. */
const WAITING = {
  ...REPLIES,
  maxRetriesPerRequest: null,
  enableAutoPipelining: true,
  enableOfflineQueue: true,
  autoResendUnfulfilledCommands: true,
  lazyConnect: false,
  // Of the servers behind a sentinel, the one that takes writes.
  role: 'master',
} as const

type Retry = ((times: number, reason?: Error) => unknown) | undefined

/** The waits of the host. A strategy that gives up would leave a fleet that never works again. */
const retry = (host: Retry) => (times: number, reason?: Error) => {
  const wait = host?.(times, reason)
  return typeof wait === 'number' ? wait : Math.min(times * 50, 2_000)
}

/** A socket that is silent for as long as a read blocks is not broken. */
const limit = ({ socketTimeout }: RedisOptions) =>
  socketTimeout && { socketTimeout: Math.max(socketTimeout, 2 * BLOCK_MS) }

/**
 * What is wrong with a source of the host, if anything: an option that the fleet can neither use nor replace, or a client of
 * another package.
 */
export function findRefusal(source: unknown): string | undefined {
  if (typeof source === 'string') return source === '' ? 'empty' : findRefusal(hostConnection(source))
  const { isCluster: inCluster, duplicate, options } = Object(source)
  if (typeof inCluster !== 'boolean' || typeof duplicate !== 'function' || !options) return 'no connection of ioredis'
  if (options.keyPrefix || options.redisOptions?.keyPrefix) return 'a connection with `keyPrefix`'
  return undefined
}

/** Opens a further connection to a store. */
export function openConnection(source: RedisSource): Connection {
  const connection = connect(hostConnection(source))
  // Failures reject commands, or are repeated; without a listener they would end the process.
  connection.on('error', () => {})
  return connection
}

/** An address may hold options too, which would win over those of the fleet. This connection is never opened. */
function hostConnection(source: RedisSource): Connection {
  return typeof source === 'string' ? new Redis(source, { lazyConnect: true }) : (source as Connection)
}

function connect(host: Connection): Connection {
  if (isCluster(host)) {
    const { redisOptions = {}, clusterRetryStrategy } = host.options
    return host.duplicate([], {
      // A pipeline of a cluster takes the first argument of a command for its key, which that of a script is not.
      enableAutoPipelining: false,
      enableOfflineQueue: true,
      lazyConnect: false,
      // A replica may not know yet what was just written.
      scaleReads: 'master',
      clusterRetryStrategy: retry(clusterRetryStrategy),
      redisOptions: { ...redisOptions, ...REPLIES, ...limit(redisOptions) },
    })
  }
  const { reconnectOnError, retryStrategy } = host.options
  return host.duplicate({
    ...WAITING,
    retryStrategy: retry(retryStrategy),
    ...limit(host.options),
    // After a failover the address leads to another server, and the connection to one that takes no writes any more.
    reconnectOnError: error => reconnectOnError?.(error) || error.message.startsWith('READONLY'),
  })
}

/** How the servers of a store choose what they remove when their memory is full. Empty where that cannot be read. */
export async function readEvictionPolicies(connection: Connection): Promise<string[]> {
  const servers = isCluster(connection) ? connection.nodes('master') : [connection]
  const answers = await Promise.allSettled(servers.map(server => server.info('memory')))
  const policies = answers.map(
    answer => answer.status === 'fulfilled' && /^maxmemory_policy:(\S+)/m.exec(answer.value)?.[1],
  )
  return [...new Set(policies.filter(policy => typeof policy === 'string'))]
}

/** Whether keys are in different slots, so that one command reads one shard. */
export function isCluster(connection: Connection): connection is Cluster {
  return connection.isCluster
}

const hashes = new Map<string, string>()

/** Runs a script by its hash, and by its text where the server does not know it yet. */
export async function runScript(
  connection: Connection,
  script: string,
  keys: readonly string[],
  args: readonly (string | number)[],
): Promise<unknown> {
  const hash = hashes.get(script) ?? createHash('sha1').update(script).digest('hex')
  hashes.set(script, hash)
  try {
    return await connection.evalsha(hash, keys.length, ...keys, ...args)
  } catch (error) {
    if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error
    return connection.eval(script, keys.length, ...keys, ...args)
  }
}

/** Ends a connection without waiting for a server that does not answer. */
export function closeConnection(connection: Connection): void {
  connection.disconnect()
}

/** How long loops that read are waited for when their connection has been closed, in milliseconds. */
const LOOP_LIMIT_MS = 2_500

/** Waits for work on a closed connection. A command that was waiting for a server to come back never ends. */
export async function settled(work: Promise<unknown>): Promise<void> {
  const ended = new AbortController()
  const limit = pause(LOOP_LIMIT_MS, undefined, { signal: ended.signal }).catch(() => {})
  await Promise.race([work, limit])
  ended.abort()
}

/** One entry of a stream, with its fields by name. */
export interface StreamEntry {
  readonly id: string
  readonly fields: Readonly<Record<string, string>>
}

/** The answer of a read of streams: pairs with RESP2, and with RESP3, the default of `ioredis` 6, a flat list or an object. */
export function readStreams(answer: unknown): { key: string; entries: StreamEntry[] }[] {
  const isFlat = Array.isArray(answer) && typeof answer[0] === 'string'
  const streams = Array.isArray(answer) && !isFlat ? Object.fromEntries(answer) : isFlat ? toRecord(answer) : answer
  return Object.entries(streams ?? {}).map(([key, list]) => ({ key, entries: readEntries(list) }))
}

/** A list of entries. */
export function readEntries(list: unknown): StreamEntry[] {
  if (!Array.isArray(list)) return []
  // An entry that was deleted has no fields.
  return list.flatMap(([id, flat]: [string, string[] | null]) => (flat ? [{ id, fields: toRecord(flat) }] : []))
}

function toRecord<Value>(flat: readonly (string | Value)[]): Record<string, Value> {
  const fields: Record<string, Value> = {}
  for (let index = 0; index + 1 < flat.length; index += 2) fields[flat[index] as string] = flat[index + 1] as Value
  return fields
}
