import type { InitializationResult } from '../contact-center/portal/gates.ts'
import { SDKError } from '../errors.ts'

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
  /** The user's data is being removed. `done` settles with the sign-out; `next` is what the host has to do before it goes on. */
  | { readonly at: 'leaving'; readonly done: Promise<void>; readonly next: string }

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
