type Listener = (event: { type: string }) => void

/** An event target that counts its listeners. */
class CountedTarget {
  readonly #listeners = new Map<string, Set<Listener>>()

  addEventListener(type: string, listener: Listener): void {
    const listeners = this.#listeners.get(type) ?? new Set()
    listeners.add(listener)
    this.#listeners.set(type, listeners)
  }

  removeEventListener(type: string, listener: Listener): void {
    this.#listeners.get(type)?.delete(listener)
  }

  emit(type: string): void {
    for (const listener of [...(this.#listeners.get(type) ?? [])]) listener({ type })
  }

  get count(): number {
    return [...this.#listeners.values()].reduce((sum, { size }) => sum + size, 0)
  }
}

/** A channel that delivers in the next turn of the event loop, so that runs repeat exactly. */
class ImmediateChannel {
  readonly port1: { onmessage: (() => void) | null; close(): void } = { onmessage: null, close: () => {} }
  readonly port2 = { postMessage: () => void setImmediate(() => this.port1.onmessage?.()) }
}

/**
 * `window` and `document` as far as the client uses them, with their listeners counted. Installed as globals, so that
 * the client's own code for pages runs.
 */
export class FakePage {
  readonly #window = new CountedTarget()
  readonly #document = Object.assign(new CountedTarget(), { visibilityState: 'visible' })

  /** Installs the globals, and returns a function that restores what was there. */
  install(): () => void {
    const replaced = { window: this.#window, document: this.#document, MessageChannel: ImmediateChannel }
    const before = Object.entries(replaced).map(
      ([name]) => [name, Object.getOwnPropertyDescriptor(globalThis, name)] as const,
    )
    for (const [name, value] of Object.entries(replaced))
      Object.defineProperty(globalThis, name, { value, configurable: true, writable: true })
    return () => {
      for (const [name, descriptor] of before) {
        if (descriptor) Object.defineProperty(globalThis, name, descriptor)
        else Reflect.deleteProperty(globalThis, name)
      }
    }
  }

  get listeners(): number {
    return this.#window.count + this.#document.count
  }

  hide(): void {
    this.#document.visibilityState = 'hidden'
    this.#document.emit('visibilitychange')
  }

  /** The page is in the foreground again, with the network back. */
  return(): void {
    this.#document.visibilityState = 'visible'
    this.#document.emit('visibilitychange')
    this.#window.emit('online')
  }
}
