import type { PageWindow } from '../src/platform/page.ts'
import { FakePage } from './fake-page.ts'

/** The Web Locks of an origin. */
export class FakeLocks {
  readonly #holders = new Map<string, FakeWindow>()

  request(name: string, page: FakeWindow, work: (lock: object | null) => unknown): Promise<unknown> {
    if (this.#holders.has(name)) return Promise.resolve(work(null))
    this.#holders.set(name, page)
    return Promise.resolve(work({ name })).finally(() => this.#holders.delete(name))
  }

  /** Simulates a page that ends without events: its locks become free. */
  bury(page: FakeWindow): void {
    for (const [name, holder] of this.#holders) if (holder === page) this.#holders.delete(name)
  }

  get size(): number {
    return this.#holders.size
  }
}

/** A window that the test leaves and returns to. */
export class FakeWindow extends EventTarget {
  readonly navigator: {
    locks?: { request(name: string, options: unknown, work: (lock: object | null) => unknown): Promise<unknown> }
  }

  /** @param locks `undefined` for a browser without Web Locks */
  constructor(locks?: FakeLocks) {
    super()
    this.navigator = locks ? { locks: { request: (name, _options, work) => locks.request(name, this, work) } } : {}
  }

  /** The page is unloaded, or put into the back/forward cache. */
  leave(): void {
    this.dispatchEvent(new Event('pagehide'))
  }

  /** The page is shown from the back/forward cache. */
  comeBack(): void {
    this.dispatchEvent(Object.assign(new Event('pageshow'), { persisted: true }))
  }

  /** A page with this window. */
  get page(): FakePage & { readonly window: PageWindow } {
    return Object.assign(new FakePage(), { window: this as unknown as PageWindow })
  }
}
