import type { AppStateLike, AsyncStorageLike, NetInfoLike, NetInfoStateLike } from '../src/react-native.ts'

/** The modules of React Native on a device that the test uses. */
export class NativeDevice {
  /** What AsyncStorage holds; it outlives the app. */
  readonly stored = new Map<string, string>()
  readonly #appListeners = new Set<(state: string) => void>()
  readonly #netListeners = new Set<(state: NetInfoStateLike) => void>()
  #network: NetInfoStateLike = { type: 'wifi', isConnected: true }
  #appState = 'active'

  readonly asyncStorage: AsyncStorageLike = {
    getItem: async key => this.stored.get(key) ?? null,
    setItem: async (key, value) => void this.stored.set(key, value),
    removeItem: async key => void this.stored.delete(key),
    getAllKeys: async () => [...this.stored.keys()],
  }

  readonly appState: AppStateLike = Object.defineProperty(
    {
      addEventListener: (_type: 'change', listener: (state: string) => void) => {
        this.#appListeners.add(listener)
        return { remove: () => void this.#appListeners.delete(listener) }
      },
    },
    'currentState',
    { get: () => this.#appState, enumerable: true },
  )

  readonly netInfo: NetInfoLike = {
    addEventListener: listener => {
      this.#netListeners.add(listener)
      listener(this.#network)
      return () => void this.#netListeners.delete(listener)
    },
  }

  /** Number of listeners for the state of the app and of the network. */
  get listeners(): number {
    return this.#appListeners.size + this.#netListeners.size
  }

  become(state: 'active' | 'inactive' | 'background'): void {
    this.#appState = state
    for (const listener of [...this.#appListeners]) listener(state)
  }

  connectTo(type: 'wifi' | 'cellular' | 'none'): void {
    this.#network = { type, isConnected: type !== 'none' }
    for (const listener of [...this.#netListeners]) listener(this.#network)
  }
}
