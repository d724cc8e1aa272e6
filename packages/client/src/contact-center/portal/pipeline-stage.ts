import type { AgentListItem, Id, Portal, PortalDetails, UserProfile } from '@aiagent/protocol'

/*
 * Where a run stands. A gate waits for the person; the arrow below it is taken when there is nothing to choose.
 *
 *           start()
 *   idle ────────────► working ──► portal gate ──► working ──► agent gate ──► working ──► profile gate ──► working
 *    ▲                  │    │                       ▲  │                       ▲  │                          │
 *    │                  │    └── nothing to choose ──┘  └── nothing to choose ──┘  └── nothing to choose ──┐  │
 *    │                  ▼                                                                                  ▼  ▼
 *    │                failed (before the first gate)          switching: selectPortal()                  complete
 *    │                                              portal gate ◄── if it fails ── working ◄────────────────┘
 *    └── reset(), from anywhere
 *
 * A step that fails behind a gate leads back to that gate. destroy() leads to `destroyed` from anywhere, for good.
 */

/** A portal that was entered, and what was learned of it. */
export interface EnteredPortal {
  /** Every portal that can be chosen. */
  readonly portals: readonly Portal[]
  readonly portal: Portal
  readonly details: PortalDetails | null
  readonly profiles: readonly UserProfile[]
}

/** What a completed run came to. */
export interface PortalOutcome {
  readonly portal: Portal
  /** Null where the service had nothing to say. */
  readonly portalDetails: PortalDetails | null
  /** The agent that was picked; absent where the configured one is the agent. */
  readonly agent: AgentListItem | undefined
  readonly profile: UserProfile | undefined
  readonly availableProfiles: readonly UserProfile[]
  /** Every portal that `selectPortal()` can switch to. */
  readonly availablePortals: readonly Portal[]
}

export interface PortalGate {
  readonly at: 'portal'
  readonly portals: readonly Portal[]
}

export interface AgentGate {
  readonly at: 'agent'
  readonly entered: EnteredPortal
  readonly agents: readonly AgentListItem[]
}

export interface ProfileGate {
  readonly at: 'profile'
  readonly entered: EnteredPortal
  readonly agent: AgentListItem | undefined
}

export interface Complete {
  readonly at: 'complete'
  readonly outcome: PortalOutcome
  /** The profile that the service was told of last, as far as we told it. */
  readonly persistedId: Id | undefined
}

/** Where a step can end: the person is to choose, or nothing is left to choose. */
export type Stop = PortalGate | AgentGate | ProfileGate | Complete

/** What was chosen so far; errors tell it. */
export interface Progress {
  portal?: Portal | undefined
  agent?: AgentListItem | undefined
}

/** A step under way. */
export interface Step extends Progress {
  readonly controller: AbortController
  /** Where a failure leads. */
  back: Stop | undefined
}

export type PipelineStage =
  | { readonly at: 'idle' }
  | { readonly at: 'working'; readonly step: Step }
  | Stop
  | { readonly at: 'failed' }
  | { readonly at: 'destroyed' }

/** What has been chosen at a stage. */
export function progressAt(stage: PipelineStage): Readonly<Progress> {
  switch (stage.at) {
    case 'working':
      return stage.step
    case 'agent':
      return { portal: stage.entered.portal }
    case 'profile':
      return { portal: stage.entered.portal, agent: stage.agent }
    case 'complete':
      return stage.outcome
    case 'idle':
    case 'portal':
    case 'failed':
    case 'destroyed':
      return {}
    default:
      return stage satisfies never
  }
}
