import type { AiAgentConfig, Environment } from '@aiagent/client'
import { FleetError } from './errors.ts'
import { findRefusal, type RedisSource } from './redis.ts'

/** Where the fleet reports what needs attention. */
export type FleetLog = (level: 'info' | 'warn' | 'error', text: string, details?: Record<string, unknown>) => void

/** How a process holds conversations. All times are in milliseconds. */
export interface WorkerOptions {
  /** How long a lease of a shard lasts without a renewal. Also how long a killed worker's conversations rest. @default 20_000 */
  leaseMs?: number
  /** Time between two renewals. @default 5_000 */
  renewEveryMs?: number
  /** How long before the end of its lease a worker stops to send. @default 2_000 */
  marginMs?: number
  /** How many conversations start at the same time. @default 50 */
  concurrentStarts?: number
  /** How long a drain waits for receipts of what was just sent. What has none by then is sent again by the next worker. @default 1_000 */
  drainMs?: number
  /**
   * Signals that drain and close the fleet. The process then ends by the signal, unless the host listens to it too.
   *
   * @default ['SIGTERM']
   */
  signals?: readonly NodeJS.Signals[]
}

/** Limits for the deployment, shared evenly by the live workers. */
export interface RateLimit {
  /** Conversations that start per second, also after a take-over. @default Infinity */
  startsPerSecond?: number
  /** Messages that are sent per second. @default Infinity */
  messagesPerSecond?: number
}

/** Options of a {@link Fleet}. */
export interface FleetOptions {
  /**
   * The store, the same for all processes: an address such as `redis://127.0.0.1:6379`, or a connection of `ioredis`. The fleet
   * duplicates it, and sets the options that it depends on. `keyPrefix` is refused: the keys start with `name`.
   */
  redis: RedisSource
  /** Name of the fleet: letters, digits, `_` and `-`. Processes with the same name and store are one fleet. */
  name: string
  /**
   * Configuration of the agent of a conversation. `cache`, `resume`, `sessionId` and `persistQueue` are the fleet's own.
   * Called by each worker that starts the conversation.
   */
  agent: AiAgentConfig | ((conversationId: string) => AiAgentConfig | Promise<AiAgentConfig>)
  /**
   * Masks the text of a message before it is stored: any process may call `send()`, and the masking rules of the service are
   * known to the worker only. `false` states that texts may be stored as they are given.
   */
  mask: ((text: string, conversationId: string) => string | Promise<string>) | false
  /** Number of shards. Fixed with the first start of a fleet of that name. @default 64 */
  shards?: number
  /** Whether this process holds conversations, and how. Without it, it sends and listens only. @default true */
  worker?: boolean | WorkerOptions
  /** Limits for the deployment. @default none */
  rateLimit?: RateLimit
  /** Open conversations of the fleet, above which `open()` rejects. Checked about once a second. @default Infinity */
  maxConversations?: number
  /** Unsettled messages of one conversation, above which `send()` rejects. @default 100 */
  maxPending?: number
  /**
   * How long a call waits for the store before it rejects, and for a function of the host such as `mask`, in milliseconds.
   *
   * @default 10_000
   */
  storeTimeoutMs?: number
  /**
   * After how long an event of a group whose listener failed, or whose process died, is delivered again, in milliseconds. Above
   * the longest time that a listener takes: an event that is still handled then is handled twice.
   *
   * @default 30_000
   */
  redeliverAfterMs?: number
  /** How many events each shard keeps for listeners that are behind, approximately. @default 10_000 */
  keepEvents?: number
  /**
   * How long events are kept at most, in milliseconds, also for a group that does not read them. The events of a conversation
   * that has ended are removed as soon as all groups have handled them.
   *
   * @default 604_800_000 (a week)
   */
  keepEventsMs?: number
  /** Replaces parts of the platform for the agents, as the second argument of `AiAgent`. Its clock is that of the leases too. */
  environment?: Partial<Environment>
  /** Receives log entries. @default warnings and errors go to the console */
  log?: FleetLog
}

/** The options with every default applied. */
export interface ResolvedOptions extends Required<Omit<FleetOptions, 'worker' | 'rateLimit' | 'environment'>> {
  readonly worker: Required<WorkerOptions> | undefined
  readonly rateLimit: Required<RateLimit>
  readonly environment: Partial<Environment> | undefined
}

const WORKER_DEFAULTS: Required<WorkerOptions> = {
  leaseMs: 20_000,
  renewEveryMs: 5_000,
  marginMs: 2_000,
  concurrentStarts: 50,
  drainMs: 1_000,
  signals: ['SIGTERM'],
}

const consoleLog: FleetLog = (level, text, details) => {
  if (level !== 'info') console[level](`Fleet: ${text}`, details ?? '')
}

/** @throws {FleetError} code `config_invalid`, naming the option */
export function resolveOptions(options: FleetOptions): ResolvedOptions {
  const { worker = true, rateLimit = {}, environment, ...rest } = options
  const own = worker === false ? undefined : { ...WORKER_DEFAULTS, ...(worker === true ? {} : worker) }
  const resolved: ResolvedOptions = {
    shards: 64,
    maxConversations: Number.POSITIVE_INFINITY,
    maxPending: 100,
    storeTimeoutMs: 10_000,
    redeliverAfterMs: 30_000,
    keepEvents: 10_000,
    keepEventsMs: 604_800_000,
    log: consoleLog,
    ...rest,
    worker: own,
    rateLimit: {
      startsPerSecond: Number.POSITIVE_INFINITY,
      messagesPerSecond: Number.POSITIVE_INFINITY,
      ...rateLimit,
    },
    environment,
  }
  check(resolved)
  return resolved
}

function check({
  redis,
  name,
  agent,
  mask,
  shards,
  maxPending,
  redeliverAfterMs,
  keepEventsMs,
  worker,
  rateLimit,
}: ResolvedOptions): void {
  const refuse = (option: string, wanted: string) => {
    throw new FleetError('config_invalid', `\`${option}\` must be ${wanted}.`)
  }
  const refusal = findRefusal(redis)
  if (refusal) refuse('redis', `an address, or a connection of ioredis without \`keyPrefix\`; it is ${refusal}`)
  if (typeof name !== 'string' || !/^[\w-]{1,64}$/.test(name)) refuse('name', 'letters, digits, _ and -, at most 64')
  if (!agent) refuse('agent', 'a configuration of AiAgent, or a function that returns one')
  if (mask !== false && typeof mask !== 'function')
    refuse('mask', 'a function that masks a text before it is stored, or false to store texts as they are given')
  if (!Number.isInteger(shards) || shards < 1 || shards > 16_384) refuse('shards', 'an integer from 1 to 16384')
  if (!(maxPending >= 1)) refuse('maxPending', 'at least 1')
  if (!(keepEventsMs > 0)) refuse('keepEventsMs', 'above 0')
  if (!(redeliverAfterMs > 0)) refuse('redeliverAfterMs', 'above 0')
  for (const [field, rate] of Object.entries(rateLimit)) if (!(rate > 0)) refuse(`rateLimit.${field}`, 'above 0')
  if (!worker) return
  const { leaseMs, renewEveryMs, marginMs } = worker
  if (!(renewEveryMs > 0 && marginMs > 0 && renewEveryMs * 2 + marginMs <= leaseMs))
    refuse('worker.leaseMs', 'at least twice `renewEveryMs` and `marginMs` together')
}
