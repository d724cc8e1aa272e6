import { type AgentAuthDetails, DEFAULT_SCOPES, SCOPE } from '@aiagent/protocol'
import { fnv1a } from '../util/fnv1a.ts'

/** Scopes of the identity protocol itself, which have no API behind them. */
export const PROTOCOL_SCOPES: readonly string[] = ['openid', 'profile', 'offline_access']

/** The scopes of `initParams.scopes`: split on commas, trimmed, without blanks. Nothing where none is left. */
export function parseScopes(text: string | null | undefined): readonly string[] | undefined {
  return nonEmpty(text?.split(','))
}

/**
 * What the host itself asks for, if anything: the scopes of its PKCE config, else those of `initParams`. They are used
 * exactly as given, so neither the agent nor a connector has a say then.
 */
export function hostScopes(
  pkceScopes: readonly string[] | undefined,
  initParamsScopes: string | null | undefined,
): readonly string[] | undefined {
  return nonEmpty(pkceScopes) ?? parseScopes(initParamsScopes)
}

/** What an agent needs where the host names no scopes; a connector's additions start from this list. */
export function defaultScopes(agent: Pick<AgentAuthDetails, 'userType'>): readonly string[] {
  return agent.userType === 'customer' ? [...DEFAULT_SCOPES, SCOPE.CUSTOMER_MANAGER] : DEFAULT_SCOPES
}

/** The sources of the scopes of a token. */
export interface ScopeFacts {
  /** Scopes of the PKCE config that the host gave. */
  hostScopes?: readonly string[] | undefined
  /** `initParams.scopes`, separated by commas. */
  initParamsScopes?: string | null | undefined
  /** What holds where nobody says more. @default `defaultScopes(agent)` */
  defaults?: readonly string[] | undefined
  /** What a connector made of the defaults; an empty list counts as no answer. */
  platformScopes?: readonly string[] | undefined
  /** The agent that the token is for. */
  agent: Pick<AgentAuthDetails, 'userType' | 'extraScopes'>
}

/**
 * The scopes that a token is asked for, without any permission prefix and without duplicates.
 *
 * The host's are used exactly as given. Else: the platform's list or the defaults, what a customer's agent cannot do
 * without, and the agent's own extras, in this order.
 */
export function resolveScopes(facts: ScopeFacts): readonly string[] {
  const { agent } = facts
  const given = hostScopes(facts.hostScopes, facts.initParamsScopes)
  if (given) return given
  const base = nonEmpty(facts.platformScopes) ?? facts.defaults ?? defaultScopes(agent)
  const customer = agent.userType === 'customer' ? [SCOPE.CUSTOMER_MANAGER] : []
  return unique([...base, ...customer, ...extras(agent.extraScopes)])
}

/** Scopes as a token endpoint knows them: with the API's permission prefix, except those that are complete already. */
export function prefixScopes(scopes: readonly string[], prefix: string): string[] {
  return scopes.map(scope =>
    PROTOCOL_SCOPES.includes(scope) || scope.includes('://') || scope.startsWith(prefix) ? scope : prefix + scope,
  )
}

/** Tells sets of scopes apart: eight hex digits, whatever the order, repetitions and blanks of the list. */
export function scopeFingerprint(scopes: readonly string[]): string {
  return fnv1a(unique(scopes).sort().join(' '))
}

function extras(given: AgentAuthDetails['extraScopes']): readonly string[] {
  return typeof given === 'string' ? given.split(/[\s,]/) : (given ?? [])
}

function unique(scopes: readonly string[]): string[] {
  return [...new Set(scopes.map(scope => scope.trim()).filter(Boolean))]
}

function nonEmpty(scopes: readonly string[] | null | undefined): readonly string[] | undefined {
  const given = scopes?.map(scope => scope.trim()).filter(Boolean)
  return given?.length ? given : undefined
}
