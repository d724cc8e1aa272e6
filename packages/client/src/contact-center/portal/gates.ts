import type { AgentListItem, Portal, UserProfile } from '@aiagent/protocol'

/**
 * What `initialize()` and the `select…()` methods resolve with: the agent is ready, or the user must choose at a gate.
 * Answer `portal` with `selectPortal()`, `agent` with `selectAgent()` and `profile` with `selectUserProfile()`.
 */
export type InitializationResult =
  | { readonly status: 'ready' }
  | { readonly status: 'choose'; readonly gate: 'portal'; readonly choices: readonly Portal[] }
  | { readonly status: 'choose'; readonly gate: 'agent'; readonly choices: readonly AgentListItem[] }
  | { readonly status: 'choose'; readonly gate: 'profile'; readonly choices: readonly UserProfile[] }

/** The method that answers each gate. */
export const SELECT_METHODS = {
  portal: 'selectPortal()',
  agent: 'selectAgent()',
  profile: 'selectUserProfile()',
} as const
