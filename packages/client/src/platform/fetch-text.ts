import { TimeLimitError, withTimeLimit } from '../util/abort.ts'
import type { NetworkPlatform } from './network-failure.ts'

/** Time limit of a request, from its start to the last byte of its response. */
const REQUEST_LIMIT_MS = 30_000

/** Maximum size of a response body, in bytes. */
const MAX_BODY_BYTES = 8 * 1024 * 1024

/** A complete response. */
export interface FetchedText {
  ok: boolean
  status: number
  text: string
  /** The header `Retry-After`, if present. */
  retryAfter?: string | null
}

/** Why there was no complete response. `body`: it began and broke off. */
export type FetchFailureReason = 'network' | 'timeout' | 'aborted' | 'body'

/** A request without a complete response. Callers convert it to a public error. */
export class FetchFailure extends Error {
  override readonly name = 'FetchFailure'
  readonly reason: FetchFailureReason
  /** Status of a response that began. */
  readonly status: number | undefined

  constructor(reason: FetchFailureReason, status: number | undefined, cause: unknown, message = WORDS[reason]) {
    super(cause instanceof BodyTooLarge ? cause.message : message, { cause })
    this.reason = reason
    this.status = status
  }
}

const WORDS: Record<FetchFailureReason, string> = {
  network: 'the service could not be reached',
  timeout: `there was no complete response within ${REQUEST_LIMIT_MS / 1000} seconds`,
  aborted: 'the request was aborted',
  body: 'the response broke off',
}

/**
 * Fetches an address and reads the whole response, within a time limit that covers both.
 *
 * @param skipBody does not read the body of a success: its text is empty then
 * @throws {FetchFailure} when there is no complete response; a complete one is returned, whatever its status
 */
export async function fetchText(
  environment: NetworkPlatform,
  address: string,
  init: RequestInit,
  signal?: AbortSignal,
  skipBody = false,
): Promise<FetchedText> {
  let status: number | undefined
  try {
    return await withTimeLimit(environment.clock, REQUEST_LIMIT_MS, signal, async limit => {
      const response = await environment.fetch(address, { ...init, signal: limit })
      status = response.status
      if (skipBody && response.ok) {
        response.body?.cancel().catch(() => {})
        return { ok: true, status, text: '' }
      }
      const retryAfter = response.headers?.get?.('retry-after')
      return { ok: response.ok, status, retryAfter, text: await readText(response) }
    })
  } catch (cause) {
    const reason = reasonOf(cause, status, signal)
    throw new FetchFailure(
      reason,
      status,
      cause,
      reason === 'network' ? await unreachable(environment, address, cause, signal) : undefined,
    )
  }
}

/** Names the address and, if the platform reveals it, the cause. */
async function unreachable(
  environment: NetworkPlatform,
  address: string,
  cause: unknown,
  signal?: AbortSignal,
): Promise<string> {
  const message = `${URL.canParse(address) ? new URL(address).origin : 'the service'} could not be reached`
  try {
    // Loaded only after a failure.
    const { explainNetworkFailure } = await import('./network-failure.ts')
    const why = await explainNetworkFailure(environment, address, cause, signal)
    return why ? `${message}: ${why}` : message
  } catch {
    return message
  }
}

/** The body exceeds {@link MAX_BODY_BYTES}. */
class BodyTooLarge extends Error {
  override readonly message = `the response is larger than ${MAX_BODY_BYTES / 1024 / 1024} MiB`
}

/**
 * Reads a body in chunks, so that an endless one is aborted at the limit. Some platforms have no streams, and the stand-in
 * of a test often has nothing but `json()`.
 */
async function readText(response: Partial<Response>): Promise<string> {
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
      throw new BodyTooLarge()
    }
    text += decoder.decode(value, { stream: true })
  }
}

function reasonOf(cause: unknown, status: number | undefined, signal: AbortSignal | undefined): FetchFailureReason {
  if (signal?.aborted) return 'aborted'
  if (cause instanceof TimeLimitError) return 'timeout'
  return status === undefined ? 'network' : 'body'
}
