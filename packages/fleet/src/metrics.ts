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

/** The metrics as text for Prometheus. */
export function toPrometheus({ worker, fleet }: FleetMetrics): string {
  const lines: string[] = []
  const add = (name: string, type: 'counter' | 'gauge', value: number, label = '') => {
    const metric = `aiagent_fleet_${name}`
    if (!lines.some(line => line === `# TYPE ${metric} ${type}`)) lines.push(`# TYPE ${metric} ${type}`)
    lines.push(`${metric}${label} ${value}`)
  }
  add('worker_conversations', 'gauge', worker.running)
  add('worker_shards', 'gauge', worker.shards)
  add('worker_starts_total', 'counter', worker.starts)
  add('worker_agent_messages_total', 'counter', worker.agentMessages)
  for (const [state, count] of Object.entries(worker.settled))
    add('worker_messages_total', 'counter', count, `{state="${state}"}`)
  add('worker_lease_losses_total', 'counter', worker.leaseLosses)
  add('worker_leases_acquired_total', 'counter', worker.leasesAcquired)
  add('worker_leases_given_back_total', 'counter', worker.leasesGivenBack)
  add('worker_commits_total', 'counter', worker.commits)
  add('worker_operations_total', 'counter', worker.operations)
  add('workers', 'gauge', fleet.workers)
  add('shards', 'gauge', fleet.shards)
  add('orphaned_shards', 'gauge', fleet.orphanedShards)
  add('conversations', 'gauge', fleet.conversations)
  add('pending_messages', 'gauge', fleet.pending)
  add('oldest_pending_seconds', 'gauge', fleet.oldestPendingMs / 1_000)
  return `${lines.join('\n')}\n`
}
