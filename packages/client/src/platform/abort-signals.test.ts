import { describe, expect, it } from 'vitest'
import { completeAbortSignals } from './native-environment.ts'

/** Classes without reasons, which call the listener of a signal while it is aborted. */
function bareClasses() {
  class AbortSignal {
    aborted = false
    onabort: (() => void) | undefined
  }
  class AbortController {
    readonly signal = new AbortSignal()
    abort(): void {
      if (this.signal.aborted) return
      this.signal.aborted = true
      this.signal.onabort?.()
    }
  }
  return { AbortController, AbortSignal }
}

/** A controller of such classes, completed. */
function completed() {
  const globals = bareClasses()
  completeAbortSignals(globals)
  return new globals.AbortController() as unknown as AbortController
}

describe('abort signals without reasons', () => {
  it('[VIEW-13] get the reason before their listeners are called, and keep the first', () => {
    const controller = completed()
    const seen: unknown[] = []
    controller.signal.onabort = () => seen.push(controller.signal.reason)
    controller.signal.throwIfAborted()
    controller.abort('first')
    controller.abort('second')
    expect(seen).toEqual(['first'])
    expect(controller.signal.reason).toBe('first')
    expect(() => controller.signal.throwIfAborted()).toThrow('first')
  })

  it('[VIEW-13] have an error as reason when none is given', () => {
    const controller = completed()
    controller.abort()
    expect(controller.signal.reason).toBeInstanceOf(Error)
    expect(() => controller.signal.throwIfAborted()).toThrow('The operation was aborted.')
  })

  it('[VIEW-13] stay as they are where they are complete', () => {
    const { abort } = AbortController.prototype
    completeAbortSignals(globalThis)
    expect(AbortController.prototype.abort).toBe(abort)
  })
})
