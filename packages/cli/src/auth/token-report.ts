import { oneLine } from '../output.ts'
import { type ReadToken, readToken, scopesIn } from './access-token.ts'

/** The output of `aiagent token --json`. */
export interface TokenReport extends ReadToken {
  source: 'anonymous' | 'client-credentials' | 'given'
  /** The issuer that was asked for the token. */
  from?: string
  scopes: string[]
  /** ISO 8601; null if the token has no expiry. */
  expiresAt: string | null
  /** Whole seconds; negative after the expiry. */
  remainingSeconds: number | null
}

/** Shortest life of a token to open a session, in seconds. */
const SESSION_NEEDS_SECONDS = 290

/**
 * Reads scopes, claims and remaining life of a token.
 *
 * @param now the current time, in milliseconds since the epoch
 */
export function reportToken(
  token: string,
  { source, from }: Pick<TokenReport, 'source' | 'from'>,
  now: number,
): TokenReport {
  const read = readToken(token)
  const { exp } = read.claims
  const expiresAt = instant(exp)
  return {
    source,
    ...(from !== undefined && { from }),
    ...read,
    scopes: scopesIn(read.claims),
    expiresAt: expiresAt?.toISOString() ?? null,
    remainingSeconds: expiresAt ? Math.floor((expiresAt.getTime() - now) / 1000) : null,
  }
}

/** The report in words, line by line. */
export function describeToken(report: TokenReport): string[] {
  const { form, algorithm, scopes, claims } = report
  const lines = [origin(report), life(report)]
  if (form === 'opaque') return [...lines, 'The token is opaque: only its issuer can read its claims.']
  lines.push(scopes.length > 0 ? 'Scopes:' : 'Scopes: none.', ...scopes.map(scope => `  ${oneLine(scope)}`))
  const names = Object.keys(claims)
  const width = Math.max(0, ...names.map(name => oneLine(name).length))
  lines.push('Claims:', ...names.map(name => `  ${oneLine(name).padEnd(width)}  ${claimText(name, claims[name])}`))
  lines.push(
    `Signed with ${oneLine(algorithm ?? 'an unnamed algorithm')}; the signature is not verified and not shown.`,
  )
  return lines
}

function origin({ source, from }: TokenReport): string {
  const kind = {
    anonymous: 'An anonymous token',
    'client-credentials': 'A token from client credentials',
    given: 'The given token',
  }
  return from === undefined ? `${kind[source]}.` : `${kind[source]} from ${from}.`
}

function life({ expiresAt, remainingSeconds }: TokenReport): string {
  if (expiresAt === null || remainingSeconds === null) return 'The token has no expiry.'
  const at = `${expiresAt.slice(0, 19).replace('T', ' ')} UTC`
  if (remainingSeconds < 0) return `It expired ${formatDuration(-remainingSeconds)} ago, at ${at}.`
  const left = `It is valid for another ${formatDuration(remainingSeconds)}, until ${at}.`
  return remainingSeconds < SESSION_NEEDS_SECONDS
    ? `${left} That is too short to open a session, which needs about five minutes.`
    : left
}

/** A duration in its two largest units. */
export function formatDuration(seconds: number): string {
  const units = [
    ['d', 86_400],
    ['h', 3600],
    ['min', 60],
    ['s', 1],
  ] as const
  let rest = seconds
  const parts = units.flatMap(([unit, size]) => {
    const count = Math.floor(rest / size)
    rest -= count * size
    return count > 0 ? [`${count} ${unit}`] : []
  })
  return parts.slice(0, 2).join(' ') || '0 s'
}

const INSTANTS: ReadonlySet<string> = new Set(['exp', 'iat', 'nbf', 'auth_time'])

function claimText(name: string, value: unknown): string {
  const text = oneLine(typeof value === 'string' ? value : JSON.stringify(value))
  const at = INSTANTS.has(name) ? instant(value) : undefined
  return at ? `${text} (${at.toISOString().slice(0, 19).replace('T', ' ')} UTC)` : text
}

/** A claim in seconds since the epoch as a date; `undefined` for an invalid one. */
function instant(seconds: unknown): Date | undefined {
  if (typeof seconds !== 'number') return undefined
  const date = new Date(seconds * 1000)
  return Number.isNaN(date.getTime()) ? undefined : date
}
