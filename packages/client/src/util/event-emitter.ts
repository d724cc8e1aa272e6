/** Receives an event. Its result is ignored, but a promise that rejects is reported like a throw. */
export type Listener<Event> = (event: Event) => unknown

/** Options of a listener. */
export interface ListenerOptions {
  /** Removes the listener when aborted; an already aborted signal registers nothing. */
  signal?: AbortSignal | undefined
}

interface Entry {
  readonly listener: Listener<never>
  readonly once: boolean
  /** False once it was removed, so that a delivery in progress skips it. */
  active: boolean
  /** Removes the abort listener from the signal. */
  release?: () => void
}

/**
 * Listeners by event name.
 *
 * Regular listeners run before those of `once`, each in the order of registration. A listener that throws or rejects
 * does not affect the others. A delivery reaches the listeners that were registered when it began and still are: one
 * added meanwhile waits for the next event, one removed meanwhile is not called any more.
 */
export class EventEmitter<Events extends object> {
  readonly #onListenerError: (error: unknown, name: keyof Events) => void
  /** Lists are replaced, never changed, so an emission iterates a snapshot without a copy. */
  #lists: Map<keyof Events, readonly Entry[]> | undefined

  /** @param onListenerError called for every listener that threw or rejected; it must not throw itself */
  constructor(onListenerError: (error: unknown, name: keyof Events) => void) {
    this.#onListenerError = onListenerError
  }

  /** Calls the listener for every event of that name. A function that is registered already stays registered once. */
  on<Name extends keyof Events>(name: Name, listener: Listener<Events[Name]>, options?: ListenerOptions): this {
    this.#add(name, listener, false, options?.signal)
    return this
  }

  /**
   * Calls the listener for the next event of that name only. Does nothing for a function that is registered regularly.
   */
  once<Name extends keyof Events>(name: Name, listener: Listener<Events[Name]>, options?: ListenerOptions): this {
    this.#add(name, listener, true, options?.signal)
    return this
  }

  /** Removes a listener; without one, every listener of that name. */
  off<Name extends keyof Events>(name: Name, listener?: Listener<Events[Name]>): this {
    for (const entry of this.#lists?.get(name) ?? []) {
      if (!listener || entry.listener === listener) this.#remove(name, entry)
    }
    return this
  }

  /** Removes the listeners of one name, or all of them. */
  removeAllListeners(name?: keyof Events): this {
    for (const each of name === undefined ? [...(this.#lists?.keys() ?? [])] : [name]) this.off(each)
    return this
  }

  /** Like {@link on}, but returns a function that unsubscribes. */
  subscribe<Name extends keyof Events>(
    name: Name,
    listener: Listener<Events[Name]>,
    options?: ListenerOptions,
  ): () => void {
    this.on(name, listener, options)
    return () => void this.off(name, listener)
  }

  /** Number of listeners that an event of that name would reach. */
  listenerCount(name: keyof Events): number {
    return this.#lists?.get(name)?.length ?? 0
  }

  /** Calls the listeners of that name, synchronously and in order. */
  emit<Name extends keyof Events>(name: Name, event: Events[Name]): void {
    const list = this.#lists?.get(name)
    if (!list) return
    for (const entry of list) {
      if (!entry.active) continue
      if (entry.once) this.#remove(name, entry)
      try {
        const result = (entry.listener as Listener<Events[Name]>)(event)
        if (isThenable(result)) result.then(undefined, error => this.#onListenerError(error, name))
      } catch (error) {
        this.#onListenerError(error, name)
      }
    }
  }

  #add(name: keyof Events, listener: Listener<never>, once: boolean, signal: AbortSignal | undefined): void {
    if (signal?.aborted) return
    const known = this.#lists?.get(name)?.find(entry => entry.listener === listener)
    if (known) {
      // A listener for every event is not a `once` listener any more.
      if (once || !known.once) return
      this.#remove(name, known)
    }
    const entry: Entry = { listener, once, active: true }
    if (signal) {
      const abort = () => this.#remove(name, entry)
      signal.addEventListener('abort', abort, { once: true })
      entry.release = () => signal.removeEventListener('abort', abort)
    }
    const list = this.#lists?.get(name) ?? []
    const firstOnce = once ? -1 : list.findIndex(each => each.once)
    const at = firstOnce < 0 ? list.length : firstOnce
    this.#lists ??= new Map()
    this.#lists.set(name, [...list.slice(0, at), entry, ...list.slice(at)])
  }

  #remove(name: keyof Events, entry: Entry): void {
    if (!entry.active) return
    entry.active = false
    entry.release?.()
    const rest = this.#lists?.get(name)?.filter(each => each !== entry)
    if (rest?.length) this.#lists?.set(name, rest)
    else this.#lists?.delete(name)
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}
