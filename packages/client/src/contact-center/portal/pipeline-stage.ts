import type { AgentListItem, Id, Portal, PortalDetails, UserProfile } from '@aiagent/protocol'
import type { PortalSelection } from '../../facts.ts'
import type { Era } from '../../util/era.ts'
import type { InitializationResult } from './gates.ts'

/*
 * States of a run. A gate waits for the user's choice; the arrow below it is taken when there is nothing to choose.
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

/** A selected portal with its details and profiles. */
export interface EnteredPortal {
  /** Every portal that can be chosen. */
  readonly portals: readonly Portal[]
  readonly portal: Portal
  readonly details: PortalDetails | null
  readonly profiles: readonly UserProfile[]
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
  readonly outcome: PortalSelection
  /** Id of the profile that this client last stored at the service. */
  readonly persistedId: Id | undefined
}

/** States in which a step can end: the user must choose, or nothing is left to choose. */
export type Stop = PortalGate | AgentGate | ProfileGate | Complete

/** Selections made so far; errors carry them. */
export interface Progress {
  portal?: Portal | undefined
  agent?: AgentListItem | undefined
}

/** A step in flight. */
export interface Step extends Progress {
  /** Ended by what makes the step's requests useless. */
  readonly era: Era
  /** State to return to on failure. */
  back: Stop | undefined
  /** Settles with the step, and never rejects. */
  settled: Promise<unknown>
}

export type PipelineStage =
  | { readonly at: 'idle' }
  | { readonly at: 'working'; readonly step: Step }
  | Stop
  | { readonly at: 'failed' }
  | { readonly at: 'destroyed' }

/** Selections made at a stage. */
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

/** The result that a stage represents; undefined while a step is in flight or before the start. */
export function resultAt(stage: PipelineStage): InitializationResult | undefined {
  switch (stage.at) {
    case 'portal':
      return { status: 'choose', gate: 'portal', choices: stage.portals }
    case 'agent':
      return { status: 'choose', gate: 'agent', choices: stage.agents }
    case 'profile':
      return { status: 'choose', gate: 'profile', choices: stage.entered.profiles }
    case 'complete':
      return { status: 'ready' }
    default:
      return undefined
  }
}
