import { type AgentAuthDetails, DEFAULT_SCOPES, SCOPE } from '@aiagent/protocol'
import { fnv1a } from '../util/text.ts'

/** Scopes of OpenID itself, which belong to no API. */
export const PROTOCOL_SCOPES: readonly string[] = ['openid', 'profile', 'offline_access']

/** The scopes of `initParams.scopes`: split on commas, trimmed, without blanks. Undefined if none is left. */
export function parseScopes(text: string | null | undefined): readonly string[] | undefined {
  return nonEmpty(text?.split(','))
}

/**
 * The scopes that the host requests, if any: those of its PKCE config, otherwise those of `initParams`. They are used
 * exactly as given; neither the agent nor a connector may change them.
 */
export function hostScopes(
  pkceScopes: readonly string[] | undefined,
  initParamsScopes: string | null | undefined,
): readonly string[] | undefined {
  return nonEmpty(pkceScopes) ?? parseScopes(initParamsScopes)
}

/** Default scopes of an agent, used where the host specifies none. A connector's additions start from this list. */
export function defaultScopes(agent: Pick<AgentAuthDetails, 'userType'>): readonly string[] {
  return agent.userType === 'customer' ? [...DEFAULT_SCOPES, SCOPE.CUSTOMER_MANAGER] : DEFAULT_SCOPES
}

/** The sources of the scopes of a token for which the host requests none. */
export interface ScopeFacts {
  /** The defaults as changed by a connector; an empty list counts as missing. */
  platformScopes?: readonly string[] | undefined
  /** The agent that the token is for. */
  agent: Pick<AgentAuthDetails, 'userType' | 'extraScopes'>
}

/**
 * The scopes of a token request for which the host requests none, without any permission prefix and without duplicates. In this
 * order: the platform's list or the defaults, the scope that a customer's agent requires, and the agent's own extras.
 */
export function resolveScopes({ agent, platformScopes }: ScopeFacts): readonly string[] {
  const { extraScopes } = agent
  const base = nonEmpty(platformScopes) ?? DEFAULT_SCOPES
  const customer = agent.userType === 'customer' ? [SCOPE.CUSTOMER_MANAGER] : []
  const extras = typeof extraScopes === 'string' ? extraScopes.split(/[\s,]/) : (extraScopes ?? [])
  return uniqueScopes([...base, ...customer, ...extras])
}

/**
 * Scopes in the form of the token endpoint: with the API's permission prefix, except those that are already complete.
 */
export function prefixScopes(scopes: readonly string[], prefix: string): string[] {
  return scopes.map(scope =>
    PROTOCOL_SCOPES.includes(scope) || scope.includes('://') || scope.startsWith(prefix) ? scope : prefix + scope,
  )
}

/** Fingerprint of a set of scopes: eight hex digits, independent of order, repetitions and blanks. */
export function scopeFingerprint(scopes: readonly string[]): string {
  return fnv1a(uniqueScopes(scopes).sort().join(' '))
}

/** A set of scopes: without repetitions and blanks. */
export function uniqueScopes(scopes: readonly string[]): string[] {
  return [...new Set(trimmed(scopes))]
}

function nonEmpty(scopes: readonly string[] | null | undefined): readonly string[] | undefined {
  const given = trimmed(scopes ?? [])
  return given.length > 0 ? given : undefined
}

function trimmed(scopes: readonly string[]): string[] {
  return scopes.map(scope => scope.trim()).filter(Boolean)
}
