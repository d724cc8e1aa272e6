import { type ChatSession, TRANSCRIPT_LIMIT_MS } from '../chat/chat-session.ts'
import type { Clock } from '../platform/clock.ts'
import { withTimeLimit } from '../util/abort.ts'

/** How long the service may take to send a history after a reopening, before it is requested, in milliseconds. */
const HISTORY_WAIT_MS = 1_000

/** The transcript call of a reopened session: made once, unless a history comes first. */
export class TranscriptRequest {
  readonly #clock: Clock
  readonly #session: ChatSession
  #timer: unknown
  #call: AbortController | undefined

  constructor(clock: Clock, session: ChatSession) {
    this.#clock = clock
    this.#session = session
  }

  /** Whether a history is awaited. */
  get isScheduled(): boolean {
    return this.#timer !== undefined
  }

  /** Awaits a history. `due` is called when none has come. */
  schedule(due: () => void): void {
    this.#timer = this.#clock.setTimeout(due, HISTORY_WAIT_MS)
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
    this.#load(sessionId, call.signal).then(settled(loaded), settled(failed))
  }

  /** Loads the transcript of a session, within the time limit. */
  #load(sessionId: string, signal: AbortSignal): Promise<unknown[]> {
    const session = this.#session
    return withTimeLimit(this.#clock, TRANSCRIPT_LIMIT_MS, signal, limit => session.loadTranscript(sessionId, limit))
  }

  /** Neither waits nor calls any more. */
  cancel(): void {
    this.#clock.clearTimeout(this.#timer)
    this.#timer = undefined
    this.#call?.abort()
    this.#call = undefined
  }
}
