/** The classes to complete. */
export interface AbortGlobals {
  /** The platform's `AbortController`. */
  readonly AbortController: { readonly prototype: object }
  /** The platform's `AbortSignal`. */
  readonly AbortSignal: { readonly prototype: object }
}

interface BareController {
  readonly signal: AbortSignal
  abort(reason?: unknown): void
}

/**
 * Adds what React Native's `AbortController` lacks and the library needs: the reason of an abort, and `throwIfAborted()`.
 * Call it once, before the first agent is created. It does nothing where signals have them.
 *
 * @param globals the global object: `globalThis`
 */
export function completeAbortSignals(globals: AbortGlobals): void {
  const signals = globals.AbortSignal.prototype
  if ('throwIfAborted' in signals) return
  const controllers = globals.AbortController.prototype as BareController
  const { abort } = controllers
  controllers.abort = function (reason = new Error('The operation was aborted.')) {
    // Before the listeners of the signal are called, which read it.
    if (!this.signal.aborted) Object.defineProperty(this.signal, 'reason', { value: reason, configurable: true })
    abort.call(this)
  }
  Object.defineProperty(signals, 'throwIfAborted', {
    configurable: true,
    writable: true,
    value(this: AbortSignal) {
      if (this.aborted) throw this.reason
    },
  })
}
