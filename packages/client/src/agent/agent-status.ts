import type { ConnectionState } from '../chat/connection-state.ts'
import type { InitializationResult } from '../contact-center/portal/gates.ts'
import { SDKError } from '../errors.ts'

/** Where an agent is at this moment. */
export interface AgentStatus {
  /** Where it is between its creation and `destroy()`. `connect()` may be called when it is at `ready`. */
  readonly phase: AgentPhase
  /**
   * State of the chat connection. While `initialize()` is repeated (`retryInitialize`), it is the state of those attempts:
   * `RECONNECTING` during a wait, and `CONNECTING` during a repeated attempt.
   */
  readonly connection: ConnectionState
  /**
   * Whether the agent is working on an answer, as far as its heartbeats show: until an answer, an error, a close, or 30 s
   * without a heartbeat.
   */
  readonly working: boolean
  /**
   * When the next attempt of a reconnect or of `initialize()` is due, in milliseconds since the epoch; undefined when none is.
   * A return of the network or of the page ends the wait earlier.
   */
  readonly retryAt: number | undefined
}

/**
 * Where an agent is between its creation and `destroy()`.
 *
 * - `idle`: `initialize()` may be called. `error` is why the last run failed, if one did.
 * - `preparing`: `initialize()` is running.
 * - `choosing`: portal, agent and profile are being selected. `choice` is the choice that waits for the user, with the gate and
 *   the choices; absent while the next step is loading.
 * - `ready`: `connect()` may be called.
 * - `leaving`: the data of the user is being removed, by `logout()` or because the user changed.
 * - `destroyed`: for good.
 */
export type AgentPhase =
  | { readonly at: 'idle'; readonly error?: unknown }
  | { readonly at: 'choosing'; readonly choice?: PendingChoice }
  | { readonly at: 'preparing' | 'ready' | 'leaving' | 'destroyed' }

/** A choice that waits for the user: the gate, and what can be chosen. */
export type PendingChoice = Extract<InitializationResult, { status: 'choose' }>

/*
 * The life of one agent.
 *
 *   idle ── initialize() ──► preparing ── everything loaded, nothing to select ──► ready
 *    ▲                          │   └─── portals ──► choosing ── selected ──────────▲ │
 *    ├──── failed, aborted ─────┘                       ▲                             │
 *    │                                                  └──── portal switch, restart ─┤
 *    └────────── leaving ◄── logout(), another user: from any state ──────────────────┘
 *
 * destroy() leads to `destroyed` from any state. A failed run keeps only facts that stay valid.
 */
/** State of an agent. */
export type State =
  /** `error` is why the last run of `initialize()` failed. */
  | { readonly at: 'idle'; readonly error?: unknown }
  | { readonly at: 'preparing' | 'ready' | 'destroyed' }
  | Choosing
  | Leaving

/** The user's data is being removed. */
export interface Leaving {
  readonly at: 'leaving'
  readonly cause: 'logout' | 'user'
  /** Settles with the sign-out. */
  readonly done: Promise<void>
  /** What the host must do first. */
  readonly next: string
  /** The sign-out of the next user, if the host calls `logout()` while the user changes. */
  signedOut?: Promise<void>
}

/** Portals, agents and profiles are being selected. */
export interface Choosing {
  readonly at: 'choosing'
  /** Whether the chat must be connected again after the selection. */
  reconnect: boolean
  /** Settles when a restart has reached the pipeline again; never rejects. */
  settled: Promise<unknown>
}

/** The result of an agent that needs no selection. */
export const READY: InitializationResult = { status: 'ready' }

export function destroyedError(operation: string): SDKError {
  return new SDKError(`${operation} is not possible: the agent was destroyed. Create a new AiAgent.`, 'ABORTED')
}

/** The hook of the contact center, whose code loads on demand: the state of the agent, which the lifecycle owns. */
export interface LifecycleOwner {
  readonly state: State
  become(state: State): void
  /** Ends the selection. `reconnect` connects the chat. */
  becomeReady(reconnect: boolean): void
  /** @throws {SDKError} code ABORTED */
  requireUsable(operation: string): void
}
