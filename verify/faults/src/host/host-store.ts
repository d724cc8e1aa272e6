import type { CacheAdapter, CacheEntry } from '@aiagent/client'
import type { Clock } from '@aiagent/emulator'
import type { StoreSetup } from '../schedule/step.ts'

/** The store of a host on Node, as it is shared by one process after the other. */
export class HostStore {
  readonly entries = new Map<string, CacheEntry>()
  readonly #setup: StoreSetup
  readonly #clock: Clock

  constructor(setup: StoreSetup, clock: Clock) {
    this.#setup = setup
    this.#clock = clock
  }

  /** How long a change may take until it is stored, one before it included, in milliseconds. */
  get lagMs(): number {
    return 8 * this.#setup.delayMs
  }

  /** The store as one process sees it. Once that has ended, nothing is read or written for it. */
  open(hasEnded: () => boolean): CacheAdapter {
    const { entries } = this
    const { delayMs, actsFirst } = this.#setup
    const pause = () =>
      new Promise<void>(resolve => {
        if (delayMs > 0) this.#clock.setTimeout(resolve, delayMs)
        else resolve()
      })
    const answer = <T>(work: () => T) =>
      new Promise<T>((resolve, reject) => {
        if (hasEnded()) return
        const early = actsFirst ? { value: work() } : undefined
        pause().then(() => {
          if (!hasEnded()) resolve(early ? early.value : work())
        }, reject)
      })
    const keysOf = (prefix: string) => [...entries.keys()].filter(key => key.startsWith(prefix))
    return {
      get: key => answer(() => structuredClone(entries.get(key) ?? null)),
      set: (key, entry) => answer(() => void entries.set(key, structuredClone(entry))),
      delete: key => answer(() => void entries.delete(key)),
      clear: (prefix = '') =>
        answer(() => {
          for (const key of keysOf(prefix)) entries.delete(key)
        }),
      keys: (prefix = '') => answer(() => keysOf(prefix)),
    }
  }
}
