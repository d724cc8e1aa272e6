import { isPromiseLike, Opaque } from './values.ts'

/** Receives an event. Its result is ignored, but a promise that rejects is reported like a throw. */
export type Listener<Event> = (event: Event) => unknown

/** Options of a listener. */
export interface ListenerOptions {
  /** Removes the listener when aborted; an already aborted signal registers nothing. */
  signal?: AbortSignal | undefined
}

interface Entry {
  readonly name: PropertyKey
  readonly listener: Listener<never>
  readonly once: boolean
  /** False once it was removed, so that a delivery in progress skips it. */
  active: boolean
  /** Removes the abort listener from the signal. */
  release?: () => void
}

/** Shared by all emitters without a listener, of which an agent has several. */
const NO_ENTRIES: readonly Entry[] = []

/**
 * Listeners of events, by the name of the event.
 *
 * Regular listeners run before those of `once`, each in the order of registration. A listener that throws or rejects
 * does not affect the others. A delivery reaches the listeners that were registered when it began and still are: one
 * added meanwhile waits for the next event, one removed meanwhile is not called any more.
 */
export class EventEmitter<Events extends object> extends Opaque {
  readonly #onListenerError: (error: unknown, name: keyof Events) => void
  /**
   * Of all names: a list of a few entries is smaller than a map of lists. It is replaced, never changed, so that an
   * emission iterates a snapshot without a copy.
   */
  #entries = NO_ENTRIES

  /** @param onListenerError called for every listener that threw or rejected; it must not throw itself */
  constructor(onListenerError: (error: unknown, name: keyof Events) => void) {
    super()
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
    for (const entry of this.#entries)
      if (entry.name === name && (!listener || entry.listener === listener)) this.#remove(entry)
    return this
  }

  /** Removes the listeners of one name, or all of them. */
  removeAllListeners(name?: keyof Events): this {
    for (const entry of this.#entries) if (name === undefined || entry.name === name) this.#remove(entry)
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
    let count = 0
    for (const entry of this.#entries) if (entry.name === name) count++
    return count
  }

  /** Calls the listeners of that name, synchronously and in order. */
  emit<Name extends keyof Events>(name: Name, event: Events[Name]): void {
    for (const entry of this.#entries) {
      if (entry.name !== name || !entry.active) continue
      if (entry.once) this.#remove(entry)
      try {
        const result = (entry.listener as Listener<Events[Name]>)(event)
        if (result !== undefined && isPromiseLike(result))
          result.then(undefined, error => this.#onListenerError(error, name))
      } catch (error) {
        this.#onListenerError(error, name)
      }
    }
  }

  #add(name: keyof Events, listener: Listener<never>, once: boolean, signal: AbortSignal | undefined): void {
    if (signal?.aborted) return
    const known = this.#entries.find(entry => entry.name === name && entry.listener === listener)
    if (known) {
      // A listener for every event is not a `once` listener any more.
      if (once || !known.once) return
      this.#remove(known)
    }
    const entry: Entry = { name, listener, once, active: true }
    if (signal) {
      const abort = () => this.#remove(entry)
      signal.addEventListener('abort', abort, { once: true })
      entry.release = () => signal.removeEventListener('abort', abort)
    }
    const entries = this.#entries
    const firstOnce = once ? -1 : entries.findIndex(each => each.once)
    const at = firstOnce < 0 ? entries.length : firstOnce
    this.#entries = entries.slice(0, at).concat(entry, entries.slice(at))
  }

  #remove(entry: Entry): void {
    if (!entry.active) return
    entry.active = false
    entry.release?.()
    this.#entries = this.#entries.filter(each => each !== entry)
  }
}

/** The events of an object for a host: it can listen to them, not emit them. */
export class Subscribable<Events extends object> extends Opaque {
  readonly #events: EventEmitter<Events>

  /** @param events the emitter of the object itself */
  constructor(events: EventEmitter<Events>) {
    super()
    this.#events = events
  }

  /** Calls the listener for every event of that name. A signal removes it when aborted. */
  on<Name extends keyof Events>(name: Name, listener: Listener<Events[Name]>, options?: ListenerOptions): this {
    this.#events.on(name, listener, options)
    return this
  }

  /** Calls the listener for the next event of that name only. */
  once<Name extends keyof Events>(name: Name, listener: Listener<Events[Name]>, options?: ListenerOptions): this {
    this.#events.once(name, listener, options)
    return this
  }

  /** Removes a listener; without one, every listener of that name. */
  off<Name extends keyof Events>(name: Name, listener?: Listener<Events[Name]>): this {
    this.#events.off(name, listener)
    return this
  }

  /** Like {@link on}, but returns a function that unsubscribes. */
  subscribe<Name extends keyof Events>(
    name: Name,
    listener: Listener<Events[Name]>,
    options?: ListenerOptions,
  ): () => void {
    return this.#events.subscribe(name, listener, options)
  }

  /** Removes the listeners of one name, or all of them. */
  removeAllListeners(name?: keyof Events): this {
    this.#events.removeAllListeners(name)
    return this
  }

  /** Number of listeners that an event of that name would reach. */
  listenerCount(name: keyof Events): number {
    return this.#events.listenerCount(name)
  }
}
