/** What a view uses of the page or the device. On other platforms than browsers and Node, pass the parts that differ. */
export interface ViewPlatform {
  /** Whether the user can see the page. */
  isVisible(): boolean
  /** Calls back before the next frame is painted. May never call back while the page is hidden. */
  requestFrame(callback: () => void): void
  /** Whether the device has a network, for all it knows. */
  isOnline(): boolean
  /** Calls back when {@link isOnline} changes. Returns the undo. */
  onOnlineChange(callback: () => void): () => void
  /** Calls back once after so many milliseconds. Returns the undo. */
  setTimer(callback: () => void, ms: number): () => void
  /** Calls back in another task, as soon as the page has done what waits. @default a timer of the page */
  queueTask?(callback: () => void): void
  /** Milliseconds since the epoch. */
  now(): number
  /** Locks that the tabs of the browser share, for a live desk: `navigator.locks`. @default each tab is alone */
  readonly locks?: TabLocks | undefined
  /** A channel between those tabs: a `BroadcastChannel`. @default none */
  createChannel?(name: string): TabChannel | undefined
}

/** The part of `LockManager` that the view uses; not every host has the types of the DOM. */
export interface TabLocks {
  /** Waits for a lock, and holds it as long as the promise that `grant` returns is pending. */
  request(name: string, options: { signal: AbortSignal }, grant: () => Promise<void>): Promise<unknown>
  /** The locks that are held. */
  query(): Promise<{ readonly held?: readonly { readonly name?: string }[] }>
}

/** The part of `BroadcastChannel` that the view uses. */
export interface TabChannel {
  /** Called for each message of another tab. */
  onmessage: ((event: never) => unknown) | null
  /** Posts a message to the other tabs. */
  postMessage(message: unknown): void
  /** Receives nothing more. */
  close(): void
}

/** The platform of a browser or Node: what does not exist is replaced by a visible page without frames, and a network. */
export const defaultPlatform: ViewPlatform = {
  isVisible: () => globalThis.document?.visibilityState === 'visible',
  requestFrame: callback => void globalThis.requestAnimationFrame?.(callback),
  isOnline: () => globalThis.navigator?.onLine !== false,
  onOnlineChange(callback) {
    const target = globalThis as Partial<Pick<Window, 'addEventListener' | 'removeEventListener'>>
    for (const name of ['online', 'offline']) target.addEventListener?.(name, callback)
    return () => {
      for (const name of ['online', 'offline']) target.removeEventListener?.(name, callback)
    }
  },
  setTimer(callback, ms) {
    const timer = setTimeout(callback, ms)
    return () => clearTimeout(timer)
  },
  queueTask: callback => void setTimeout(callback),
  now: () => Date.now(),
  get locks() {
    return globalThis.document && globalThis.navigator.locks
  },
  createChannel(name) {
    try {
      return globalThis.document && new BroadcastChannel(name)
    } catch {
      // Absent, or denied to the page.
      return undefined
    }
  },
}
