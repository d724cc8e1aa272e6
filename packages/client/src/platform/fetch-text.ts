import { TimeLimitError, withTimeLimit } from '../util/abort.ts'
import type { NetworkPlatform } from './network-failure.ts'

/** How long a request may take from its start to the last byte of its answer. */
const REQUEST_LIMIT_MS = 30_000

/** Largest body that is read, in bytes. */
const MAX_BODY_BYTES = 8 * 1024 * 1024

/** An answer that arrived completely. */
export interface FetchedText {
  ok: boolean
  status: number
  text: string
  /** The header `Retry-After`, if the answer has one. */
  retryAfter?: string | null
}

/** Why there was no complete answer. `body`: it began and broke off. */
export type FetchFailureReason = 'network' | 'timeout' | 'aborted' | 'body'

/** A request without a complete answer. The callers turn it into an error of the public family. */
export class FetchFailure extends Error {
  override readonly name = 'FetchFailure'
  readonly reason: FetchFailureReason
  /** Status of an answer that began. */
  readonly status: number | undefined

  constructor(reason: FetchFailureReason, status: number | undefined, cause: unknown, message = WORDS[reason]) {
    super(cause instanceof BodyTooLarge ? cause.message : message, { cause })
    this.reason = reason
    this.status = status
  }
}

const WORDS: Record<FetchFailureReason, string> = {
  network: 'the service could not be reached',
  timeout: `there was no complete answer within ${REQUEST_LIMIT_MS / 1000} seconds`,
  aborted: 'it was aborted',
  body: 'the answer broke off',
}

/**
 * Fetches an address and reads the answer to its end, within a time limit that covers both.
 *
 * @param skipBody leaves the body of a success unread: its text is empty then
 * @throws {FetchFailure} when there is no complete answer; a complete one is returned, whatever its status
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
      const retryAfter = response.headers.get('retry-after')
      return { ok: response.ok, status, retryAfter, text: await readText(response) }
    })
  } catch (cause) {
    const reason = reasonOf(cause, status, signal)
    throw new FetchFailure(
      reason,
      status,
      cause,
      reason === 'network' ? await unreachable(environment, address, cause) : undefined,
    )
  }
}

/** Names the address and, where the platform reveals it, the cause. */
async function unreachable(environment: NetworkPlatform, address: string, cause: unknown): Promise<string> {
  const message = `${URL.canParse(address) ? new URL(address).origin : 'the service'} could not be reached`
  try {
    // Only a failure needs the explanations.
    const { explainNetworkFailure } = await import('./network-failure.ts')
    const why = await explainNetworkFailure(environment, address, cause)
    return why ? `${message}: ${why}` : message
  } catch {
    return message
  }
}

/** The body exceeds {@link MAX_BODY_BYTES}. */
class BodyTooLarge extends Error {
  override readonly message = `the answer is larger than ${MAX_BODY_BYTES / 1024 / 1024} MiB`
}

/** Reads a body piece by piece, so that an endless one is given up at the limit. */
async function readText(response: Response): Promise<string> {
  const reader = response.body?.getReader()
  // Some platforms have no streams.
  if (!reader) return response.text()
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
