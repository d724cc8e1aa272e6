import type { InitializationResult } from '../contact-center/portal/gates.ts'

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
