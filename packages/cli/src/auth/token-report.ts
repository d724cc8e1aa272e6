import { oneLine } from '../output.ts'
import { type ReadToken, readToken, scopesIn } from './access-token.ts'

/** What `aiagent token --json` prints. */
export interface TokenReport extends ReadToken {
  source: 'anonymous' | 'client-credentials' | 'given'
  /** Who issued it, as far as that was asked. */
  from?: string
  scopes: string[]
  /** As ISO 8601, or null when the token does not tell. */
  expiresAt: string | null
  /** Whole seconds; negative when it is over. */
  remainingSeconds: number | null
}

/** A session cannot be opened with less life than this, in seconds. */
const SESSION_NEEDS_SECONDS = 290

/**
 * What a token is good for, and for how long.
 *
 * @param now in milliseconds since the epoch
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

/** The same in plain words, line by line. */
export function describeToken(report: TokenReport): string[] {
  const { form, algorithm, scopes, claims } = report
  const lines = [origin(report), life(report)]
  if (form === 'opaque') return [...lines, 'It is opaque: only who issued it can read what it is good for.']
  lines.push(scopes.length > 0 ? 'Scopes:' : 'Scopes: it names none.', ...scopes.map(scope => `  ${oneLine(scope)}`))
  const names = Object.keys(claims)
  const width = Math.max(0, ...names.map(name => oneLine(name).length))
  lines.push('Claims:', ...names.map(name => `  ${oneLine(name).padEnd(width)}  ${claimText(name, claims[name])}`))
  lines.push(`Signed with ${oneLine(algorithm ?? 'an unnamed algorithm')}; the signature is neither checked nor shown.`)
  return lines
}

function origin({ source, from }: TokenReport): string {
  const kind = {
    anonymous: 'An anonymous token',
    'client-credentials': 'A token by client credentials',
    given: 'The given token',
  }
  return from === undefined ? `${kind[source]}.` : `${kind[source]} of ${from}.`
}

function life({ expiresAt, remainingSeconds }: TokenReport): string {
  if (expiresAt === null || remainingSeconds === null) return 'It does not say when it expires.'
  const at = `${expiresAt.slice(0, 19).replace('T', ' ')} UTC`
  if (remainingSeconds < 0) return `It expired ${formatDuration(-remainingSeconds)} ago, at ${at}.`
  const left = `It is good for another ${formatDuration(remainingSeconds)}, until ${at}.`
  return remainingSeconds < SESSION_NEEDS_SECONDS
    ? `${left} That is too short to open a session, which takes about five minutes of life.`
    : left
}

/** A time span in its two largest units. */
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

/** A claim in seconds since the epoch as a date; nothing where it is none. */
function instant(seconds: unknown): Date | undefined {
  if (typeof seconds !== 'number') return undefined
  const date = new Date(seconds * 1000)
  return Number.isNaN(date.getTime()) ? undefined : date
}
