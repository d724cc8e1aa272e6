import { sleep } from './clock.ts'
import { type FetchedText, fetchText, REQUEST_LIMIT_MS } from './fetch-text.ts'
import type { NetworkPlatform } from './network-failure.ts'

/** Called when a rate limit delays a request: its name, and the wait in milliseconds. */
export type RateLimitCallback = (limit: { operation: string; retryInMs: number }) => void

/** How a request is repeated. */
export interface Patience {
  /** Name of the request. */
  readonly name: string
  readonly signal?: AbortSignal | undefined
  /** Does not read the body of a success. */
  readonly skipBody?: boolean
  /** Time limit of all requests and waits together, in milliseconds. @default no limit */
  readonly limitMs?: number
  /** Called when the service limits the rate of calls, before the wait for the next attempt. */
  readonly onRateLimited?: RateLimitCallback | undefined
}

/** Longest wait for a token, in milliseconds: all requests that lead to it, with the waits between them. */
export const TOKEN_WAIT_MS = 30_000

/** Time that a repeated request needs at least, in milliseconds: a wait that leaves less is not begun. */
const REPEAT_MS = 10_000

/** How often a rate-limited call is repeated, the first wait, and the longest wait, in milliseconds. */
const MAX_REPEATS = 3
const FIRST_WAIT_MS = 1_000
const LONGEST_WAIT_MS = 30_000

/** Node's error codes for a connection that closed before a response began. */
const CLOSED_WHILE_IDLE = new Set<unknown>(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'])

/**
 * As `fetchText()`. Repeats a rate-limited request. Also repeats, once, an idempotent request whose connection was already
 * closed.
 */
export async function fetchPatiently(
  environment: NetworkPlatform,
  address: string,
  init: RequestInit,
  { name, signal, skipBody, limitMs = Number.POSITIVE_INFINITY, onRateLimited }: Patience,
): Promise<FetchedText> {
  const { clock } = environment
  const endsAt = clock.monotonic() + limitMs
  const send = () => {
    const leftMs = Math.min(endsAt - clock.monotonic(), REQUEST_LIMIT_MS)
    return fetchText(environment, address, init, signal, skipBody, leftMs)
  }
  let answer = await send().catch(error => {
    if (init.method !== 'POST' && error.reason === 'network' && CLOSED_WHILE_IDLE.has(error.cause?.cause?.code))
      return send()
    throw error
  })
  for (let repeats = 0; repeats < MAX_REPEATS && isRateLimited(answer); repeats++) {
    const waitMs = readRetryAfter(answer.retryAfter, clock.now()) ?? FIRST_WAIT_MS * 2 ** repeats
    if (waitMs > LONGEST_WAIT_MS || clock.monotonic() + waitMs + REPEAT_MS > endsAt) break
    onRateLimited?.({ operation: name, retryInMs: waitMs })
    await sleep(clock, waitMs, signal)
    signal?.throwIfAborted()
    answer = await send()
  }
  return answer
}

function isRateLimited({ ok, status, text }: FetchedText): boolean {
  return !ok && (status === 429 || text.includes('"429-001"'))
}

/** A wait in milliseconds, from seconds or a date; undefined for anything else. */
function readRetryAfter(value: string | null | undefined, now: number): number | undefined {
  if (!value) return undefined
  const waitMs = /^\d+$/.test(value.trim()) ? Number(value) * 1_000 : Date.parse(value) - now
  return Number.isNaN(waitMs) ? undefined : Math.max(0, waitMs)
}
