import type { Emulator } from '@aiagent/emulator'
import type { ManualClock } from '@aiagent/test-support'
import type { Environment, SocketCloseEvent, WebSocketLike } from '../src/platform/environment.ts'
import type { PageWindow } from '../src/platform/page.ts'
import { MemoryCacheAdapter } from '../src/storage/memory-cache-adapter.ts'
import { FakePage } from './fake-page.ts'
import { FakeStorage } from './fake-service.ts'

/** A frame that a tab has written to a real socket. */
export interface WrittenFrame {
  readonly socket: number
  readonly text: string
}

interface LockRequest {
  readonly name: string
  readonly tab: FakeTab
  grant(lock: object | null): unknown
  resolve(value: unknown): void
  reject(error: unknown): void
}

/** The Web Locks of a browser: granted in order, released with their tab, and taken away on request. */
class FakeLockManager {
  readonly #held = new Map<string, LockRequest>()
  #queue: LockRequest[] = []

  request(
    tab: FakeTab,
    name: string,
    options: { ifAvailable?: boolean; steal?: boolean; signal?: AbortSignal },
    grant: LockRequest['grant'],
  ): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const request: LockRequest = { name, tab, grant, resolve, reject }
      if (options.steal) {
        const holder = this.#held.get(name)
        this.#held.delete(name)
        holder?.tab.run(() => holder.reject(new DOMException('The lock was stolen.', 'AbortError')))
        this.#grant(request)
      } else if (!this.#held.has(name) && !this.#queue.some(each => each.name === name)) this.#grant(request)
      else if (options.ifAvailable) tab.run(() => resolve(grant(null)))
      else {
        this.#queue.push(request)
        options.signal?.addEventListener('abort', () => {
          if (!this.#queue.includes(request)) return
          this.#queue = this.#queue.filter(each => each !== request)
          reject(new DOMException('The request was aborted.', 'AbortError'))
        })
      }
    })
  }

  query(): Promise<{ held: { name: string; clientId: string }[]; pending: never[] }> {
    const held = [...this.#held.values()].map(({ name, tab }) => ({ name, clientId: tab.id }))
    return Promise.resolve({ held, pending: [] })
  }

  holderOf(name: string): FakeTab | undefined {
    return [...this.#held.values()].find(each => each.name === name)?.tab
  }

  /** The name of the lock of the group, once a tab has it. */
  get leader(): FakeTab | undefined {
    return [...this.#held.values()].find(
      ({ name }) => /^aiagent-tabs-/.test(name) && !/-(?:tab-|page-|question)/.test(name),
    )?.tab
  }

  releaseAll(tab: FakeTab): void {
    this.#queue = this.#queue.filter(each => each.tab !== tab)
    for (const [name, holder] of [...this.#held]) {
      if (holder.tab !== tab) continue
      this.#held.delete(name)
      this.#next(name)
    }
  }

  #grant(request: LockRequest): void {
    const { name, tab, grant, resolve, reject } = request
    this.#held.set(name, request)
    // In a later task, as in a browser.
    const grantNow = () => {
      const work = Promise.resolve(grant({ name }))
      const release = () => {
        if (this.#held.get(name) !== request) return
        this.#held.delete(name)
        this.#next(name)
      }
      work.then(
        value => (release(), resolve(value)),
        error => (release(), reject(error)),
      )
    }
    setImmediate(() => tab.run(grantNow))
  }

  #next(name: string): void {
    const request = this.#queue.find(each => each.name === name)
    if (!request) return
    this.#queue = this.#queue.filter(each => each !== request)
    this.#grant(request)
  }
}

/** A browser with several tabs of one origin, in one process and on one clock. */
export class FakeBrowser {
  readonly clock: ManualClock
  readonly emulator: Emulator
  readonly locks = new FakeLockManager()
  readonly localStorage = new FakeStorage()
  readonly tabs = new Set<FakeTab>()
  /** Everything that was written to real sockets, in order. */
  readonly written: WrittenFrame[] = []
  sockets = 0

  constructor(clock: ManualClock, emulator: Emulator) {
    this.clock = clock
    this.emulator = emulator
  }

  /** Opens a tab. After a reload it has the content of the earlier page's storage, as another object. */
  open(earlier?: FakeStorage): FakeTab {
    const sessionStorage = new FakeStorage()
    for (const [key, value] of earlier?.items ?? []) sessionStorage.setItem(key, value)
    const tab = new FakeTab(this, sessionStorage)
    this.tabs.add(tab)
    return tab
  }
}

let count = 0

/**
 * A tab whose code runs only while it lives and is not frozen: everything that calls into it goes through
 * {@link FakeTab.run}.
 */
export class FakeTab {
  readonly id = `client-${++count}`
  readonly browser: FakeBrowser
  readonly sessionStorage: FakeStorage
  /** The store of the browser as this tab sees it. */
  localStorage: FakeStorage
  readonly page = new FakePage()
  readonly channels = new Set<FakeChannel>()
  readonly #sockets = new Set<WebSocketLike>()
  readonly #window = new EventTarget()
  #state: 'running' | 'frozen' | 'gone' = 'running'
  #isDeaf = false
  #pending: (() => void)[] = []
  /** How much of what was pending has not run since the page was thawed. */
  #thawing = 0

  constructor(browser: FakeBrowser, sessionStorage: FakeStorage) {
    this.browser = browser
    this.sessionStorage = sessionStorage
    this.localStorage = browser.localStorage
  }

  get isRunning(): boolean {
    return this.#state === 'running'
  }

  get isGone(): boolean {
    return this.#state === 'gone'
  }

  /** Runs code of the tab: at once, when it is thawed, or never. */
  run(work: () => void): void {
    if (this.#state === 'running') work()
    else if (this.#state === 'frozen') this.#pending.push(work)
  }

  /** @param isDeaf whether the browser drops what the other tabs post to the frozen page */
  freeze({ isDeaf = false } = {}): void {
    if (this.#state !== 'running') return
    this.#state = 'frozen'
    this.#isDeaf = isDeaf
  }

  /** A message of another tab arrives. */
  receive(work: () => void): void {
    // Behind what arrived while the page was frozen.
    if (this.isRunning && this.#thawing > 0) setImmediate(() => this.receive(work))
    else if (this.isRunning || !this.#isDeaf) this.run(work)
  }

  thaw(): void {
    if (this.#state !== 'frozen') return
    this.#state = 'running'
    const pending = this.#pending.splice(0)
    this.#thawing += pending.length
    for (const work of pending)
      setImmediate(() => {
        this.#thawing--
        this.run(work)
      })
  }

  /** The user leaves the page, which the browser keeps in its back/forward cache. */
  hide(): void {
    this.#window.dispatchEvent(Object.assign(new Event('pagehide'), { persisted: true }))
    for (const socket of this.#sockets) socket.close(1000, '')
    this.freeze({ isDeaf: true })
  }

  /** The user comes back. */
  show(): void {
    this.thaw()
    this.#window.dispatchEvent(Object.assign(new Event('pageshow'), { persisted: true }))
  }

  /** The page is closed or reloaded: it may still run code. */
  close(): void {
    if (this.isRunning) this.#window.dispatchEvent(new Event('pagehide'))
    this.crash()
  }

  /** The process ends, with its locks and sockets. */
  crash(): void {
    this.#state = 'gone'
    this.#pending = []
    this.browser.tabs.delete(this)
    this.browser.locks.releaseAll(this)
    for (const channel of this.channels) channel.close()
    for (const socket of this.#sockets) socket.close(1000, '')
  }

  /** The platform of the agent of this tab. */
  get environment(): Partial<Environment> {
    const { clock, emulator, locks } = this.browser
    const { localStorage } = this
    const tab = this
    const window = Object.assign(this.#window, {
      navigator: {
        onLine: true,
        locks: {
          request: (name: string, ...rest: unknown[]) => {
            const grant = rest.pop() as LockRequest['grant']
            return locks.request(tab, name, (rest[0] ?? {}) as object, grant)
          },
          query: () => tab.#answer(locks.query()),
        },
      },
      sessionStorage: this.sessionStorage,
      location: { href: 'https://app.test/', origin: 'https://app.test' },
      // The browser blocks the window, which the login reports.
      open: () => null,
      BroadcastChannel: class extends FakeChannel {
        constructor(name: string) {
          super(name, tab)
        }
      },
    })
    return {
      fetch: (input, init) => tab.#answer(emulator.fetch(input, init)),
      WebSocket: this.#socketClass(),
      clock: {
        now: clock.now,
        monotonic: clock.monotonic,
        setTimeout: (callback, delayMs) => clock.setTimeout(() => tab.run(callback), delayMs),
        clearTimeout: clock.clearTimeout,
      },
      random: () => 0.5,
      sessionStorage: this.sessionStorage,
      localStorage,
      memory: new MemoryCacheAdapter(),
      page: Object.assign(this.page, {
        window: window as unknown as PageWindow,
        nextTask: (callback: () => void) => void setImmediate(() => tab.run(callback)),
      }),
    }
  }

  #answer<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      promise.then(
        value => this.run(() => resolve(value)),
        error => this.run(() => reject(error)),
      )
    })
  }

  #socketClass(): Environment['WebSocket'] {
    const tab = this
    const { browser } = this
    const Real: Environment['WebSocket'] = browser.emulator.WebSocket
    return class implements WebSocketLike {
      readonly #real: WebSocketLike
      readonly #id = ++browser.sockets
      onopen: ((event: never) => unknown) | null = null
      onmessage: ((event: never) => unknown) | null = null
      onclose: ((event: never) => unknown) | null = null
      onerror: ((event: never) => unknown) | null = null

      constructor(url: string) {
        const real = new Real(url)
        this.#real = real
        tab.#sockets.add(real)
        real.onopen = (event: never) => tab.run(() => this.onopen?.(event))
        real.onmessage = (event: never) => tab.run(() => this.onmessage?.(event))
        real.onerror = (event: never) => tab.run(() => this.onerror?.(event))
        real.onclose = (event: SocketCloseEvent) => {
          tab.#sockets.delete(real)
          tab.run(() => this.onclose?.(event as never))
        }
      }
      get readyState() {
        return this.#real.readyState
      }
      get bufferedAmount() {
        return this.#real.bufferedAmount
      }
      send(text: string): void {
        if (!tab.isRunning) return
        if (this.#real.readyState === 1) browser.written.push({ socket: this.#id, text })
        this.#real.send(text)
      }
      close(code?: number, reason?: string): void {
        this.#real.close(code, reason)
      }
    }
  }
}

/** A BroadcastChannel: each message reaches the other tabs as a copy, in a later task. */
export class FakeChannel {
  onmessage: ((event: never) => unknown) | null = null
  readonly name: string
  readonly #tab: FakeTab

  constructor(name: string, tab: FakeTab) {
    this.name = name
    this.#tab = tab
    tab.channels.add(this)
  }

  postMessage(message: unknown): void {
    if (!this.#tab.isRunning) return
    const data = structuredClone(message)
    for (const tab of this.#tab.browser.tabs)
      for (const channel of tab.channels)
        if (channel !== this && channel.name === this.name)
          setImmediate(() => tab.receive(() => channel.onmessage?.({ data } as never)))
  }

  close(): void {
    this.#tab.channels.delete(this)
    this.onmessage = null
  }
}
