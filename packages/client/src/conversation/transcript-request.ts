import type { Clock } from '../platform/clock.ts'
import { withTimeLimit } from '../util/abort.ts'

/** How long the service may take to send a history after a reopening, before it is requested, in milliseconds. */
const HISTORY_WAIT_MS = 1_000

/** Time limit of the transcript call, in milliseconds. */
const TRANSCRIPT_LIMIT_MS = 4_000

export interface TranscriptRequestOptions {
  readonly clock: Clock
  /** Loads the transcript of a session. */
  loadTranscript(sessionId: string, signal: AbortSignal): Promise<unknown[]>
}

/** The transcript call of a reopened session: made once, unless a history comes first. */
export class TranscriptRequest {
  readonly #options: TranscriptRequestOptions
  #timer: unknown
  #call: AbortController | undefined

  constructor(options: TranscriptRequestOptions) {
    this.#options = options
  }

  /** Whether a history is awaited. */
  get isScheduled(): boolean {
    return this.#timer !== undefined
  }

  /** Awaits a history. `due` is called when none has come. */
  schedule(due: () => void): void {
    this.#timer = this.#options.clock.setTimeout(due, HISTORY_WAIT_MS)
  }

  /** Makes the call, and passes on its outcome unless it is cancelled. */
  start(sessionId: string, loaded: (list: unknown[]) => void, failed: (error: unknown) => void): void {
    this.cancel()
    const call = new AbortController()
    this.#call = call
    const settled =
      <T>(handle: (outcome: T) => void) =>
      (outcome: T) => {
        if (this.#call !== call) return
        this.#call = undefined
        handle(outcome)
      }
    this.load(sessionId, call.signal).then(settled(loaded), settled(failed))
  }

  /** Loads the transcript of a session, within the time limit. */
  load(sessionId: string, signal: AbortSignal): Promise<unknown[]> {
    const options = this.#options
    return withTimeLimit(options.clock, TRANSCRIPT_LIMIT_MS, signal, limit => options.loadTranscript(sessionId, limit))
  }

  /** Neither waits nor calls any more. */
  cancel(): void {
    this.#options.clock.clearTimeout(this.#timer)
    this.#timer = undefined
    this.#call?.abort()
    this.#call = undefined
  }
}
