import type { FleetEvents } from './events.ts'

/** What this process has counted since its start. */
export interface Counters {
  /** Conversations that run in this process at present. */
  running: number
  /** Conversations that were started or taken over. */
  starts: number
  /** Messages of agents that were told as events. */
  agentMessages: number
  /** Settled messages by their outcome. */
  settled: Record<FleetEvents['deliveryUpdate']['state'], number>
  /** Leases that ended without being given back. */
  leaseLosses: number
  /** Leases that this process took, free or expired. */
  leasesAcquired: number
  /** Leases that were given back, for balance or by `drain()`. */
  leasesGivenBack: number
  /** Writes to the store. */
  commits: number
  /** Changes in these writes. */
  operations: number
}

/** Numbers of a fleet, as one process sees them. */
export interface FleetMetrics {
  /** This process. */
  readonly worker: Readonly<Counters> & { readonly id: string; readonly shards: number }
  /** The whole fleet. */
  readonly fleet: {
    readonly workers: number
    readonly shards: number
    /** Shards without an owner. */
    readonly orphanedShards: number
    readonly conversations: number
    /** Unsettled messages. */
    readonly pending: number
    /** Age of the oldest unsettled message, in milliseconds; 0 without one. */
    readonly oldestPendingMs: number
  }
}

export function createCounters(): Counters {
  return {
    running: 0,
    starts: 0,
    agentMessages: 0,
    settled: { acknowledged: 0, sent: 0, unknown: 0, failed: 0, cancelled: 0 },
    leaseLosses: 0,
    leasesAcquired: 0,
    leasesGivenBack: 0,
    commits: 0,
    operations: 0,
  }
}

/** Help texts of the metrics. Prometheus needs them in one line, without backslashes. */
const HELP = {
  worker_conversations: 'Conversations that run in this process at present.',
  worker_shards: 'Shards that this process owns.',
  worker_starts_total: 'Conversations that this process started or took over.',
  worker_agent_messages_total: 'Messages of agents that this process reported as events.',
  worker_messages_total: 'Messages of users that this process settled, by their outcome.',
  worker_lease_losses_total: 'Leases that ended without being given back.',
  worker_leases_acquired_total: 'Leases that this process took, free or expired.',
  worker_leases_given_back_total: 'Leases that this process gave back, for balance or by drain().',
  worker_commits_total: 'Writes of this process to the store.',
  worker_operations_total: 'Changes in the writes of this process.',
  workers: 'Workers of the fleet whose lease has not expired.',
  shards: 'Shards of the fleet.',
  orphaned_shards: 'Shards without an owner. A killed worker owns its shards until their leases expire.',
  conversations: 'Conversations of the fleet.',
  pending_messages: 'Messages of users that are not settled.',
  oldest_pending_seconds: 'Age of the oldest message that is not settled, 0 without one.',
} as const

/** The metrics as text for Prometheus. */
export function toPrometheus({ worker, fleet }: FleetMetrics): string {
  const lines: string[] = []
  const add = (name: keyof typeof HELP, value: number, label = '') => {
    const metric = `aiagent_fleet_${name}`
    const type = name.endsWith('_total') ? 'counter' : 'gauge'
    const head = [`# HELP ${metric} ${HELP[name]}`, `# TYPE ${metric} ${type}`]
    if (!lines.includes(`# TYPE ${metric} ${type}`)) lines.push(...head)
    lines.push(`${metric}${label} ${value}`)
  }
  add('worker_conversations', worker.running)
  add('worker_shards', worker.shards)
  add('worker_starts_total', worker.starts)
  add('worker_agent_messages_total', worker.agentMessages)
  for (const [state, count] of Object.entries(worker.settled)) add('worker_messages_total', count, `{state="${state}"}`)
  add('worker_lease_losses_total', worker.leaseLosses)
  add('worker_leases_acquired_total', worker.leasesAcquired)
  add('worker_leases_given_back_total', worker.leasesGivenBack)
  add('worker_commits_total', worker.commits)
  add('worker_operations_total', worker.operations)
  add('workers', fleet.workers)
  add('shards', fleet.shards)
  add('orphaned_shards', fleet.orphanedShards)
  add('conversations', fleet.conversations)
  add('pending_messages', fleet.pending)
  add('oldest_pending_seconds', fleet.oldestPendingMs / 1_000)
  return `${lines.join('\n')}\n`
}
