import type { Chat } from '../chat/chat.ts'
import { ConnectionState } from '../chat/connection-state.ts'
import type { ReconnectPolicy } from '../chat/reconnect-policy.ts'
import { WakeWatch } from '../chat/wake-watch.ts'
import { ConnectionError, SDKError } from '../errors.ts'
import type { AgentScope } from '../scope.ts'
import { untilAborted } from '../util/abort.ts'

/**
 * Failed loads in a row after which the retry ends. Engines before about mid-2026 remember a failed `import()` for the life
 * of the page, so that further attempts would never send a request.
 */
const MODULE_ATTEMPTS = 4

/** Repeats `initialize()` while the service cannot be reached, with the states and events of a connection. */
export class InitializeRetry {
  readonly #scope: AgentScope
  readonly #policy: ReconnectPolicy
  /** Not connected during `initialize()`. */
  readonly #chat: Chat
  #state: ConnectionState | undefined

  constructor(scope: AgentScope, policy: ReconnectPolicy, chat: Chat) {
    this.#scope = scope
    this.#policy = policy
    this.#chat = chat
  }

  /** RECONNECTING during a wait, CONNECTING during a repeated attempt, otherwise the state of the chat. */
  get state(): ConnectionState {
    return this.#state ?? this.#chat.state
  }

  /** Runs an attempt, and further ones until one succeeds or fails for another reason. */
  async run<T>(attempt: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const { reportError } = this.#scope
    const { maxAttempts } = this.#policy
    let unloaded = 0
    try {
      for (let failures = 0; ; failures++) {
        try {
          return await attempt()
        } catch (error) {
          if (signal.aborted || !(error instanceof SDKError) || !isTemporary(error)) throw error
          unloaded = error.code === 'MODULE_LOAD_FAILED' ? unloaded + 1 : 0
          if (unloaded === MODULE_ATTEMPTS) throw error
          if (failures >= maxAttempts) {
            this.#become(undefined)
            reportError(error)
            const message = `The agent is not initialized: ${maxAttempts} attempts are used up. Call initialize() to try again.`
            reportError(new ConnectionError(message, 'attempts_used_up', { cause: error }))
            throw error
          }
          this.#scope.status.failure = error
          this.#scope.status.attempt = failures + 1
          await this.#wait(this.#policy.delayFor(failures), error, signal)
        }
        this.#become(ConnectionState.CONNECTING)
      }
    } finally {
      this.#become(undefined)
      this.#scope.status.failure = this.#scope.status.attempt = undefined
    }
  }

  /** Waits for the next attempt, which comes at once when the page or the network returns. */
  async #wait(delayMs: number, error: SDKError, signal: AbortSignal): Promise<void> {
    const { environment, reportError } = this.#scope
    let end = () => {}
    const due = new Promise<void>(resolve => {
      const wake = new WakeWatch(environment.clock, environment.page, { handleWake: resolve })
      wake.start()
      const cancel = wake.wait(delayMs, resolve)
      end = () => {
        cancel()
        wake.stop()
      }
    })
    try {
      this.#become(ConnectionState.RECONNECTING, delayMs)
      reportError(error)
      await untilAborted(due, signal)
    } finally {
      end()
    }
  }

  #become(next: ConnectionState | undefined, retryInMs?: number): void {
    const previousState = this.state
    this.#state = next
    const { state } = this
    const { status, environment } = this.#scope
    status.retryAt = retryInMs === undefined ? undefined : environment.clock.monotonic() + retryInMs
    if (state === previousState) return
    this.#scope.emit('stateChanged', () => ({ state, previousState, ...(retryInMs !== undefined && { retryInMs }) }))
  }
}

/** Whether the service could not be reached, or was overloaded, somewhere in the chain of causes. */
function isTemporary(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { code, reason, status } = error as { code?: unknown; reason?: unknown; status?: unknown }
  if (code === 'MODULE_LOAD_FAILED') return true
  if (reason === 'network' || reason === 'timeout' || (typeof status === 'number' && (status >= 500 || status === 429)))
    return true
  return isTemporary(error.cause)
}
