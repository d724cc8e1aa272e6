import type { EventEmitter, Listener, ListenerOptions } from './event-emitter.ts'

/** The events of an object for a host: it can listen to them, not emit them. */
export class Subscribable<Events extends object> {
  readonly #events: EventEmitter<Events>

  /** @param events the emitter of the object itself */
  constructor(events: EventEmitter<Events>) {
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
