import { fnv1a } from '../util/fnv1a.ts'

/** Scopes of the identity protocol itself, which have no API behind them. */
const PROTOCOL_SCOPES: ReadonlySet<string> = new Set(['openid', 'profile', 'offline_access'])

/** Scopes as a token endpoint knows them: with the API's permission prefix, except those that are complete already. */
export function prefixScopes(scopes: readonly string[], prefix: string): string[] {
  return scopes.map(scope =>
    PROTOCOL_SCOPES.has(scope) || scope.includes('://') || scope.startsWith(prefix) ? scope : prefix + scope,
  )
}

/** Tells sets of scopes apart: eight hex digits, whatever the order, repetitions and blanks of the list. */
export function scopeFingerprint(scopes: readonly string[]): string {
  const set = new Set(scopes.map(scope => scope.trim()).filter(Boolean))
  return fnv1a([...set].sort().join(' '))
}
