import type { AgentEventType } from '@aiagent/client'
import type { Fault } from '@aiagent/emulator'
import type { Capability } from '@aiagent/protocol'

/** A step of a run: a call of the host, elapsed time, or a fault. All durations are in milliseconds of the run's clock. */
export type Step =
  | { readonly do: 'send'; readonly count: number }
  | { readonly do: 'ask'; readonly count: number; readonly timeoutMs: number; readonly abortAfterMs?: number }
  | { readonly do: 'initialize' | 'connect' | 'restart'; readonly abortAfterMs?: number }
  | { readonly do: 'disconnect'; readonly skipGoodbye: boolean }
  | { readonly do: 'clear-queue' | 'logout' | 'change-user' }
  | { readonly do: 'set-context'; readonly sendNow: boolean }
  | { readonly do: 'throwing-listener'; readonly event: AgentEventType; readonly rejects: boolean }
  /** `retry()` or `cancel()` of the delivery of a message, counted from the latest one. */
  | { readonly do: 'retry' | 'cancel'; readonly which: number }
  /** The page or process ends, at once or after `destroy()`, and a new agent starts with the same stores. */
  | { readonly do: 'reload'; readonly how: 'crash' | 'destroy' }
  /** Another portal, agent or profile is picked, or the selection starts over. */
  | { readonly do: 'pick-portal' | 'pick-agent' | 'change-profile' | 'back'; readonly which: number }
  | { readonly do: 'elapse'; readonly ms: number }
  /** The page is hidden, or returns to the foreground. */
  | { readonly do: 'hide' | 'return' }
  /** The machine sleeps: time passes and no timer fires. */
  | { readonly do: 'sleep'; readonly ms: number }
  /** The wall clock is set forward or back; no time passes. */
  | { readonly do: 'shift-clock'; readonly ms: number }
  | { readonly do: 'fault'; readonly fault: Fault }
  /** The agent says something unasked in the latest session, whether or not a chat is open. */
  | { readonly do: 'agent-says' }
  | { readonly do: 'lift' }
  /** Nothing passes any more, then the connection breaks: what was written meanwhile is lost. */
  | { readonly do: 'half-open'; readonly forMs: number; readonly alsoLater: boolean }
  /** Faults of the TCP proxy, in proxied runs only. */
  | { readonly do: 'tcp-cut' | 'tcp-resume' }
  | { readonly do: 'tcp-stall'; readonly alsoLater: boolean }
  | { readonly do: 'tcp-refuse'; readonly isRefusing: boolean }
  | { readonly do: 'tcp-delay'; readonly ms: number; readonly jitterMs: number }

/** The conditions of a run, which hold from its start to its end. */
export interface RunSetup {
  /** `help` is open to everyone; `account` requires a user; `desk` requires one, and a portal. */
  readonly agent: 'help' | 'account' | 'desk'
  /** Whether the agent runs in a page, with `window` and `document`. In process only. */
  readonly hasPage: boolean
  /** Whether the chat is open before the first step. */
  readonly startsConnected: boolean
  /** Whether all faults end before the agent is destroyed. Only then can it be checked what has arrived. */
  readonly recovers: boolean
  readonly maxQueueSize: number
  /** Whether the agent repeats messages whose fate is unknown. */
  readonly delivery: 'at-most-once' | 'at-least-once'
  /** The store of the host, which keeps the queue and the session for the next page; absent for no store. */
  readonly store?: StoreSetup
  readonly replyDelayMs: number
  readonly unknownSession: 'refuse' | 'close-4404'
  /** Extensions of the wire that the service announces. */
  readonly capabilities: readonly Capability[]
  /** Where a client finds what was said while the connection was down. */
  readonly history: 'chat' | 'rest'
}

/** The store of a host on Node. */
export interface StoreSetup {
  /** How long each operation takes, in milliseconds of the run's clock. */
  readonly delayMs: number
  /** Whether an operation takes effect at its start, not at its end. */
  readonly actsFirst: boolean
  /** Whether the next page resumes the session. */
  readonly resumes: boolean
}

/** One run: everything that happens in it follows from this. */
export interface Schedule {
  readonly seed: number
  /** `in-process`: simulated time and sockets; `proxied`: real sockets through a TCP proxy. */
  readonly transport: 'in-process' | 'proxied'
  readonly setup: RunSetup
  readonly steps: readonly Step[]
}

/** Steps that may lose frames that were written already. */
const LOSSY_STEPS: ReadonlySet<string> = new Set([
  'reload',
  'half-open',
  'tcp-cut',
  'tcp-resume',
  'tcp-stall',
  'tcp-refuse',
  'tcp-delay',
])
const LOSSY_FAULTS: ReadonlySet<string> = new Set(['silence', 'delay-frames', 'slow-link', 'lose-frames'])

const SESSION_STEPS: ReadonlySet<string> = new Set([
  'restart',
  'logout',
  'change-user',
  'reload',
  'pick-portal',
  'pick-agent',
  'change-profile',
  'back',
])

/** Whether a step may end the session or leave it for another: then messages without evidence stay unknown. */
export function losesSessions({ steps }: Schedule): boolean {
  return steps.some(step => {
    if (step.do !== 'fault') return SESSION_STEPS.has(step.do)
    const { fault } = step
    if (fault.kind === 'restart') return fault.memory === false
    if (fault.kind === 'answer') return fault.status === 404
    if (fault.kind === 'drop') return fault.code === 4404
    return fault.kind === 'end-session' || fault.kind === 'forget-session'
  })
}

/** Whether no step can lose a frame that was written: then each accepted message arrives unless the host was told. */
export function isLossless({ setup, transport, steps }: Schedule): boolean {
  // Where a chat in an unknown session opens before it is refused, messages are written to it in between.
  if (transport === 'proxied' || setup.unknownSession === 'close-4404') return false
  return !steps.some(step => LOSSY_STEPS.has(step.do) || (step.do === 'fault' && LOSSY_FAULTS.has(step.fault.kind)))
}
