import { type ReconnectPolicy, Retry, reportState } from '../chat/backoff.ts'
import type { Connection } from '../chat/connection.ts'
import { ConnectionState } from '../chat/connection-state.ts'
import { ConnectionError, SDKError } from '../errors.ts'
import type { AgentScope } from '../scope.ts'
import { untilAborted } from '../util/abort.ts'

/**
 * Failed loads in a row after which the retry ends. Engines before about mid-2026 remember a failed `import()` for the life
 * of the page, so that further attempts would never send a request.
 */
const MODULE_ATTEMPTS = 4

/**
 * Runs an attempt of `initialize()`, and further ones while the service cannot be reached, with the states and events of a
 * connection: RECONNECTING during a wait, CONNECTING during a repeated attempt. The chat is not connected meanwhile.
 */
export async function repeatInitialize<T>(
  { scope, policy, connection }: { scope: AgentScope; policy: ReconnectPolicy; connection: Connection },
  attempt: () => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const { environment, status } = scope
  const retry = new Retry(environment.clock, environment.page, policy)
  retry.start()
  status.retry = retry
  let unloaded = 0
  // A long outage logs one warning for each kind of failure.
  const logged = new Set<string>()
  try {
    for (;;) {
      try {
        return await attempt()
      } catch (error) {
        if (signal.aborted || !(error instanceof SDKError) || !isTemporary(error)) throw error
        unloaded = error.code === 'MODULE_LOAD_FAILED' ? unloaded + 1 : 0
        if (unloaded === MODULE_ATTEMPTS) throw error
        let onDue = () => {}
        const due = new Promise<void>(resolve => {
          onDue = resolve
        })
        const delayMs = retry.plan(onDue, { leastMs: error.retryAfterMs })
        if (delayMs === undefined) {
          reportState(scope, connection.state)
          scope.reportError(error, !logged.has(error.code) && '')
          const message = `The agent is not initialized: ${policy.maxAttempts} attempts are used up. Call initialize() to try again.`
          scope.reportError(new ConnectionError(message, 'attempts_used_up', { cause: error }))
          throw error
        }
        status.failure = error
        reportState(scope, ConnectionState.RECONNECTING, delayMs)
        scope.reportError(error, !logged.has(error.code) && ` initialize() is tried again in ${delayMs} ms.`)
        logged.add(error.code)
        await untilAborted(due, signal)
      }
      reportState(scope, ConnectionState.CONNECTING)
    }
  } finally {
    retry.stop()
    reportState(scope, connection.state)
    status.failure = status.retry = undefined
  }
}

/** Whether the service could not be reached, or was overloaded, somewhere in the chain of causes. */
export function isTemporary(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { code, reason, status } = error as { code?: unknown; reason?: unknown; status?: unknown }
  // A response that broke off has a cause; one that cannot be read has none.
  if (code === 'MODULE_LOAD_FAILED' || (reason === 'body' && error.cause !== undefined)) return true
  if (reason === 'network' || reason === 'timeout' || (typeof status === 'number' && (status >= 500 || status === 429)))
    return true
  return isTemporary(error.cause)
}
