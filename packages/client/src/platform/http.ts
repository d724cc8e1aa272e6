import { sleep, TimeLimitError, withTimeLimit } from '../util/abort.ts'
import { isWebAddress } from '../util/address.ts'
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
  /** Whether a POST may reach the service twice. Other methods may. @default false */
  readonly isIdempotent?: boolean
  /** Time limit of all requests and waits together, in milliseconds. @default no limit */
  readonly limitMs?: number
  /** Called when the service limits the rate of calls, before the wait for the next attempt. */
  readonly onRateLimited?: RateLimitCallback | undefined
}

/** Time limit of a request, from its start to the last byte of its response, in milliseconds. */
const REQUEST_LIMIT_MS = 30_000

/** How long the code that explains a failure of the network may take to load, in milliseconds. */
const EXPLANATION_LIMIT_MS = 3_000

/** Maximum size of a response body, in bytes. */
const MAX_BODY_BYTES = 8 * 1024 * 1024

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
 * As {@link fetchText}. Repeats a rate-limited request. Also repeats, once, an idempotent request whose connection was already
 * closed.
 */
export async function fetchPatiently(
  environment: NetworkPlatform,
  address: string,
  init: RequestInit,
  { name, signal, skipBody, isIdempotent = init.method !== 'POST', limitMs = Infinity, onRateLimited }: Patience,
): Promise<FetchedText> {
  // Some platforms load files, data or other things where the scheme says so.
  if (URL.canParse(address) && !isWebAddress(address)) {
    const problem = `a request must have https or http, and not the scheme ${new URL(address).protocol}`
    throw new FetchFailure('network', problem)
  }
  const { clock } = environment
  const endsAt = clock.monotonic() + limitMs
  const send = () => {
    const leftMs = Math.min(endsAt - clock.monotonic(), REQUEST_LIMIT_MS)
    return fetchText(environment, address, init, signal, skipBody, leftMs)
  }
  let answer = await send().catch(error => {
    if (isIdempotent && error.reason === 'network' && CLOSED_WHILE_IDLE.has(error.cause?.cause?.code)) return send()
    throw error
  })
  for (let repeats = 0; repeats < MAX_REPEATS && isRateLimited(answer); repeats++) {
    const waitMs = answer.retryAfterMs ?? FIRST_WAIT_MS * 2 ** repeats
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

/** Why a text that should be JSON cannot be read, as the rest of a sentence. */
export function describeUnreadable(text: string): string {
  if (!text.trim()) return 'empty'
  return /^\s*</.test(text)
    ? 'an HTML page, not JSON: a proxy or the sign-in page of a network may have answered'
    : 'not JSON, or nested too deep'
}

/** A complete response. */
export interface FetchedText {
  ok: boolean
  status: number
  text: string
  /** The wait that the header `Retry-After` asks for: a page reads it only where the service exposes it. */
  retryAfterMs?: number | undefined
  /** The header `Date`, if present and readable: a page reads it only where the service exposes it. */
  date?: string | null | undefined
  /** The origin that answered, after redirects. */
  redirectedTo?: string | undefined
}

/** Why there was no complete response. `body`: it began and broke off; `redirect`: it was not followed. */
export type FetchFailureReason = 'network' | 'timeout' | 'aborted' | 'body' | 'redirect'

/** A request without a complete response. Callers convert it to a public error. */
export class FetchFailure extends Error {
  override readonly name = 'FetchFailure'
  readonly reason: FetchFailureReason
  /** Status of a response that began. */
  readonly status: number | undefined

  constructor(reason: FetchFailureReason, message: string, status?: number, cause?: unknown) {
    super(message, { cause })
    this.reason = reason
    // A page reads the status 0 of a redirect.
    this.status = status || undefined
  }
}

/**
 * Fetches an address and reads the whole response, within a time limit that covers both. Follows a redirect only for a GET
 * without `Authorization`: any other request would repeat its token or its body at an unchecked address.
 *
 * @param skipBody does not read the body of a success: its text is empty then
 * @param limitMs time limit of the request
 * @throws {FetchFailure} when there is no complete response; a complete one is returned, whatever its status
 */
async function fetchText(
  environment: NetworkPlatform,
  address: string,
  init: RequestInit,
  signal: AbortSignal | undefined,
  skipBody: boolean | undefined,
  limitMs: number,
): Promise<FetchedText> {
  let status: number | undefined
  const isPublic = init.method === 'GET' && !(init.headers && 'Authorization' in init.headers)
  try {
    return await withTimeLimit(environment.clock, limitMs, signal, async limit => {
      const redirect = isPublic ? undefined : ({ redirect: 'manual' } as const)
      // A cache of the platform knows neither the user nor which response is still valid.
      const response = await environment.fetch(address, { ...init, ...redirect, cache: 'no-store', signal: limit })
      status = response.status
      if (redirect && isRedirect(response)) {
        response.body?.cancel?.().catch(() => {})
        throw new FetchFailure('redirect', describeRedirect(address, response), status)
      }
      if (skipBody && response.ok) {
        response.body?.cancel().catch(() => {})
        return { ok: true, status, text: '' }
      }
      const date = response.headers?.get?.('date')
      const now = environment.clock.now()
      const retryAfterMs = readRetryAfter(response.headers?.get?.('retry-after'), date, now)
      const redirectedTo = response.redirected && URL.canParse(response.url) ? new URL(response.url).origin : undefined
      return { ok: response.ok, status, retryAfterMs, date, redirectedTo, text: await readText(response, status) }
    })
  } catch (cause) {
    const failure = (reason: FetchFailureReason, message: string) => new FetchFailure(reason, message, status, cause)
    if (signal?.aborted) throw failure('aborted', 'the request was aborted')
    if (cause instanceof FetchFailure) throw cause
    if (cause instanceof TimeLimitError)
      throw failure('timeout', `there was no complete response within ${Math.ceil(limitMs / 1000)} seconds`)
    if (status !== undefined) throw failure('body', 'the response broke off')
    throw failure('network', await unreachable(environment, address, cause, signal, isPublic))
  }
}

/** Names the address and, if the platform reveals it, the cause. */
async function unreachable(
  environment: NetworkPlatform,
  address: string,
  cause: unknown,
  signal: AbortSignal | undefined,
  follows: boolean,
): Promise<string> {
  const message = `${URL.canParse(address) ? new URL(address).origin : 'the service'} could not be reached`
  try {
    // Loaded only after a failure, perhaps from a network that does not answer.
    const load = () => import('./network-failure.ts')
    const { explainNetworkFailure } = await withTimeLimit(environment.clock, EXPLANATION_LIMIT_MS, signal, load)
    const why = await explainNetworkFailure(environment, address, cause, signal, follows)
    return why ? `${message}: ${why}` : message
  } catch {
    return message
  }
}

/** Also recognizes a redirect that a platform without `redirect: 'manual'` has followed: its response is not used. */
function isRedirect({ type, redirected, status }: Partial<Response>): boolean {
  return type === 'opaqueredirect' || redirected === true || [301, 302, 303, 307, 308].includes(status as number)
}

/** Names both origins, as far as the platform tells: a page does not learn the target. */
function describeRedirect(address: string, { headers, redirected, status, url }: Response): string {
  const target = redirected ? url : headers?.get?.('location')
  const to = target && URL.canParse(target, address) ? ` to ${new URL(target, address).origin}` : ''
  const code = redirected || !status ? '' : ` (HTTP ${status})`
  return `${new URL(address).origin} answered with a redirect${to}${code}; a request with a token or a body follows no redirect`
}

/**
 * Reads a body in chunks, so that an endless one is aborted at the limit. Some platforms have no streams, and the stand-in
 * of a test often has nothing but `json()`.
 */
async function readText(response: Partial<Response>, status: number): Promise<string> {
  const reader = response.body?.getReader?.()
  if (!reader) return response.text?.() ?? JSON.stringify(await response.json?.()) ?? ''
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return text + decoder.decode()
    bytes += value.byteLength
    if (bytes > MAX_BODY_BYTES) {
      reader.cancel().catch(() => {})
      throw new FetchFailure('body', `the response is larger than ${MAX_BODY_BYTES / 1024 / 1024} MiB`, status)
    }
    text += decoder.decode(value, { stream: true })
  }
}

/** The three forms of a date in HTTP: of RFC 1123, of RFC 850, and of C's `asctime()`. */
const HTTP_DATE =
  /^[A-Z][a-z]{2,8},? (?:(\d\d)[ -]([A-Z][a-z]{2})[ -](\d{4}|\d\d)|([A-Z][a-z]{2}) ([ \d]\d)) (\d\d:\d\d:\d\d) (?:GMT|(\d{4}))$/

/** Milliseconds since the epoch; NaN for anything but a date of HTTP. */
function readDate(text: string): number {
  const [, day, month, year, asctimeMonth, asctimeDay, time, asctimeYear] = HTTP_DATE.exec(text) ?? []
  return Date.parse(`${day ?? asctimeDay} ${month ?? asctimeMonth} ${year ?? asctimeYear} ${time} GMT`)
}

/**
 * The wait that a header `Retry-After` asks for, in milliseconds: seconds, where a fraction is rounded up, or a date. A date
 * counts from the header `Date` of the same response, and from the device's clock where that one cannot be read.
 *
 * @returns undefined without the header, for a date in the past, and for anything else
 */
export function readRetryAfter(
  retryAfter: string | null | undefined,
  date: string | null | undefined,
  now: number,
): number | undefined {
  const text = retryAfter?.trim() ?? ''
  if (/^\d+(\.\d+)?$/.test(text)) return Math.ceil(Number(text)) * 1_000
  const answeredAt = readDate(date?.trim() ?? '')
  const waitMs = readDate(text) - (Number.isNaN(answeredAt) ? now : answeredAt)
  return waitMs >= 0 ? waitMs : undefined
}
