import type { LoginPage, LoginWindow } from '../src/auth/login/login-page.ts'
import type { PageWindow } from '../src/platform/page.ts'
import { FakePage } from './fake-page.ts'

/** A page whose window has only these members. */
export function pageWithWindow(parts: object): FakePage & { readonly window: PageWindow } {
  return Object.assign(new FakePage(), { window: Object.assign(new EventTarget(), parts) as unknown as PageWindow })
}

/** A login window in which a test acts as the user. */
export class FakeLoginWindow implements LoginWindow {
  readonly addresses: string[] = []
  readonly #visit: (address: string) => void
  /** The window as its opener sees it. */
  seen: ReturnType<LoginWindow['state']> = 'blank'
  closed = false
  isLoaded = true

  constructor(visit: (address: string) => void = () => {}) {
    this.#visit = visit
  }

  get address(): string {
    return this.addresses.at(-1) ?? ''
  }
  navigate(address: string): void {
    this.addresses.push(address)
    this.#visit(address)
  }
  focus(): void {}
  close(): void {
    this.closed = true
  }
  state(): ReturnType<LoginWindow['state']> {
    return this.seen
  }
  location(): ReturnType<LoginWindow['location']> {
    return this.seen === 'returned' ? { address: this.address, isLoaded: this.isLoaded } : undefined
  }
}

/** A page without a browser. Each message reaches every listener, like a message from the page's own origin. */
export class FakeLoginPage implements LoginPage {
  address = 'https://app.test/chat?x=1#top'
  readonly origin = 'https://app.test'
  focused = true
  blocksPopups = false
  readonly windows: FakeLoginWindow[] = []
  /** The nonce of the last authorization request, as the provider keeps it for the ID token. */
  nonce: string | undefined
  /** Navigations of the page. */
  readonly left: string[] = []
  readonly channels: string[] = []
  /** Addresses of the hidden frames that are open. */
  readonly frames: string[] = []
  readonly #stored = new Map<string, Set<(value: string | null) => void>>()
  readonly #restored = new Set<() => void>()
  /** Names of the requested locks. */
  readonly locks: string[] = []
  /** Set to simulate that another tab holds every lock. */
  isLocked = false
  readonly #listeners = new Set<(message: unknown) => void>()

  open(): FakeLoginWindow | null {
    if (this.blocksPopups) return null
    const opened = new FakeLoginWindow(this.#visit)
    this.windows.push(opened)
    return opened
  }
  hasFocus(): boolean {
    return this.focused
  }
  readonly #visit = (address: string) => {
    this.nonce = new URL(address).searchParams.get('nonce') ?? this.nonce
  }
  openFrame(address: string): () => void {
    this.#visit(address)
    this.frames.push(address)
    return () => void this.frames.splice(this.frames.indexOf(address), 1)
  }
  onStored(key: string, listener: (value: string | null) => void): () => void {
    const listeners = this.#stored.get(key) ?? new Set()
    this.#stored.set(key, listeners.add(listener))
    return () => void listeners.delete(listener)
  }
  onRestored(listener: () => void): () => void {
    this.#restored.add(listener)
    return () => void this.#restored.delete(listener)
  }
  /** The user comes back to the page, which was in the back/forward cache. */
  restore(): void {
    for (const listener of this.#restored) listener()
  }
  /** Another tab changes a key of localStorage. */
  changeStored(key: string, value: string | null): void {
    for (const listener of this.#stored.get(key) ?? []) listener(value)
  }
  leave(address: string): void {
    this.#visit(address)
    this.left.push(`leave ${address}`)
  }
  replace(address: string): void {
    this.left.push(`replace ${address}`)
  }
  showAddress(address: string): void {
    this.address = address
  }
  listen(channel: string, listener: (message: unknown) => void): () => void {
    this.channels.push(channel)
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }
  /** Names of the shared locks of all tabs. */
  readonly held: string[] = []
  readonly navigator = {
    locks: {
      request: async (
        name: string,
        { mode, signal }: LockOptions,
        work: (lock: { readonly name: string }) => Promise<void>,
      ) => {
        if (mode === 'shared') {
          this.held.push(name)
          await work({ name })
          return void this.held.splice(this.held.indexOf(name), 1)
        }
        this.locks.push(name)
        if (!this.isLocked) return work({ name })
        return new Promise((_resolve, reject) => {
          signal?.addEventListener('abort', () => reject(signal.reason))
        })
      },
      query: async () => ({ held: this.held.map(name => ({ name })) }),
    } as unknown as LockManager,
  }

  get listening(): number {
    return this.#listeners.size
  }
  /** The message of the callback page when it is loaded at an address. */
  answer(url: string): void {
    for (const listener of [...this.#listeners]) listener({ source: 'oidc-client', url })
  }
  say(message: unknown): void {
    for (const listener of [...this.#listeners]) listener(message)
  }
}
