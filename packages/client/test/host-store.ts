import { turnEventLoop } from '@aiagent/test-support'
import type { AiAgent } from '../src/ai-agent.ts'
import type { AiAgentConfig } from '../src/config.ts'
import type { DeliveryUpdate } from '../src/log/delivery.ts'
import type { CacheAdapter, CacheEntry } from '../src/storage/cache-adapter.ts'
import { setUp } from './agent-harness.ts'

/** The store of a host as one process sees it; all of them share the entries. */
export class HostStore implements CacheAdapter {
  readonly entries: Map<string, CacheEntry>
  fails = false
  hangs = false
  /** The operation that fails. */
  refused: keyof CacheAdapter | undefined
  /** The key of an entry that cannot be removed. */
  lasting: string | undefined
  /** How long each operation takes. */
  pause: (() => Promise<void>) | undefined
  /** Operations of which the effect waits. */
  #held: (() => void)[] | undefined

  constructor(entries = new Map<string, CacheEntry>()) {
    this.entries = entries
  }

  get(key: string) {
    return this.#answer(() => structuredClone(this.entries.get(key) ?? null), 'get')
  }
  set(key: string, entry: CacheEntry) {
    return this.#answer(() => void this.entries.set(key, structuredClone(entry)), 'set')
  }
  delete(key: string) {
    return this.#answer(() => void this.entries.delete(key), 'delete', key)
  }
  clear(prefix = '') {
    return this.#answer(() => {
      for (const key of this.entries.keys()) if (key.startsWith(prefix)) this.entries.delete(key)
    }, 'clear')
  }
  keys(prefix = '') {
    return this.#answer(() => [...this.entries.keys()].filter(key => key.startsWith(prefix)), 'keys')
  }

  /** From now on operations wait. Returns a function that ends that. */
  hold(): () => void {
    this.#held = []
    return () => {
      const held = this.#held ?? []
      this.#held = undefined
      for (const work of held) work()
    }
  }

  /** As the next process finds it. */
  copy(): HostStore {
    return new HostStore(structuredClone(this.entries))
  }

  /** The contents of the stored messages. */
  get stored(): string[] {
    return [...this.entries]
      .filter(([key]) => key.includes('queue_'))
      .flatMap(([, { value }]) => (value as { left: { content: string }[] }).left.map(({ content }) => content))
  }

  /** For each stored message, whether it is marked as one that may have been sent. */
  get marks(): boolean[] {
    return [...this.entries]
      .filter(([key]) => key.includes('queue_'))
      .flatMap(([, { value }]) =>
        (value as { left: { written?: object }[] }).left.map(({ written }) => written !== undefined),
      )
  }

  #answer<T>(work: () => T, operation: keyof CacheAdapter, removedKey = ''): Promise<T> {
    if (this.hangs) return new Promise(() => {})
    if (this.fails || operation === this.refused || removedKey === this.lasting)
      return Promise.reject(new Error('The store is full.'))
    const { pause } = this
    if (pause) return pause().then(work)
    const held = this.#held
    return held ? new Promise(resolve => held.push(() => resolve(work()))) : Promise.resolve(work())
  }
}

/** Agents of one user after the other, over the same store. */
export function setUpHost(settings: object = {}) {
  const parts = setUp({ settings })
  const store = new HostStore()
  const page = (config: Partial<AiAgentConfig> = {}, adapter: CacheAdapter = store) => {
    const { agent } = parts.make({
      persistQueue: true,
      cache: { adapter, contextPrefix: 'one:' },
      ...config,
    })
    const updates: DeliveryUpdate[] = []
    agent.on('deliveryUpdate', ({ payload }) => void updates.push(payload))
    return { agent, updates }
  }
  const send = async (agent: AiAgent, ...ids: string[]) => {
    for (const id of ids) await agent.send(id, { id })
    await turnEventLoop(5)
  }
  return { ...parts, store, page, send }
}
