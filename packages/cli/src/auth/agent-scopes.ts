import type { AgentAuthDetails } from '@aiagent/client'
import { DEFAULT_SCOPES, SCOPE } from '@aiagent/protocol'

/** The scopes of a token for an agent: the default ones, one more for customers, and the agent's extra scopes. */
export function scopesOf({ userType, extraScopes }: Pick<AgentAuthDetails, 'userType' | 'extraScopes'>): string[] {
  const customer = userType === 'customer' ? [SCOPE.CUSTOMER_MANAGER] : []
  const extras = typeof extraScopes === 'string' ? extraScopes.split(/[\s,]+/) : (extraScopes ?? [])
  const all = [...DEFAULT_SCOPES, ...customer, ...extras]
  return [...new Set(all.map(scope => scope.trim()).filter(Boolean))]
}
