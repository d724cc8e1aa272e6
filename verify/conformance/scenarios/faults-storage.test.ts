import { AiAgent, type CacheAdapter, type CacheEntry, type StorageLike } from '@aiagent/client'
import { createEmulator } from '@aiagent/emulator'
import { eventually, ManualClock, propertyRuns, turnEventLoop } from '@aiagent/test-support'
import fc from 'fast-check'
import { expect } from 'vitest'
import { Journal } from '../journal.ts'
import { LeakWatch } from '../leak-watch.ts'
import { verifiesAlone } from '../verifies.ts'
import { reply, WORLD } from '../world.ts'

/** Behaviour of a broken store for one call. */
type Whim =
  | { readonly does: 'works' | 'throws' | 'rejects' | 'forgets' }
  | { readonly does: 'lies'; readonly answer: unknown; readonly wrapped: boolean; readonly later: boolean }

const garbage = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom<unknown>(
    undefined,
    null,
    0,
    '',
    'null',
    '{',
    '[]',
    [],
    {},
    Number.NaN,
    { apiDomain: 7 },
    { agentId: null },
  ),
)
const whim: fc.Arbitrary<Whim> = fc.oneof(
  fc.record({ does: fc.constantFrom('works' as const, 'throws' as const, 'rejects' as const, 'forgets' as const) }),
  fc.record({ does: fc.constant('lies' as const), answer: garbage, wrapped: fc.boolean(), later: fc.boolean() }),
)
/** Behaviours of successive calls, repeated in order. */
const whims = fc.array(whim, { minLength: 1, maxLength: 12 })

/** A custom adapter with such behaviours. */
class MoodyAdapter implements CacheAdapter {
  readonly #entries = new Map<string, CacheEntry>()
  readonly #whims: readonly Whim[]
  readonly #now: () => number
  #calls = 0

  constructor(whims: readonly Whim[], now: () => number) {
    this.#whims = whims
    this.#now = now
  }

  get = (key: string) => this.#follow(() => this.#entries.get(key) ?? null)
  set = (key: string, entry: CacheEntry) => this.#follow(() => void this.#entries.set(key, entry))
  delete = (key: string) => this.#follow(() => void this.#entries.delete(key))
  clear = () => this.#follow(() => this.#entries.clear())
  keys = (prefix = '') => this.#follow(() => [...this.#entries.keys()].filter(key => key.startsWith(prefix)))

  #follow<T>(work: () => T): T {
    const whim = this.#whims[this.#calls++ % this.#whims.length]
    switch (whim?.does) {
      case 'throws':
        throw new Error('The store is broken.')
      case 'rejects':
        return Promise.reject(new Error('The store is broken.')) as T
      case 'forgets':
        return null as T
      case 'lies': {
        const answer = whim.wrapped ? { value: whim.answer, timestamp: this.#now() } : whim.answer
        return (whim.later ? Promise.resolve(answer) : answer) as T
      }
      default:
        return work()
    }
  }
}

/** A browser storage with such behaviours, without promises. */
class MoodyStorage implements StorageLike {
  readonly #items = new Map<string, string>()
  readonly #whims: readonly Whim[]
  readonly #now: () => number
  #calls = 0

  constructor(whims: readonly Whim[], now: () => number) {
    this.#whims = whims
    this.#now = now
  }

  get length(): number {
    return this.#follow(() => this.#items.size)
  }
  key = (index: number) => this.#follow(() => [...this.#items.keys()][index] ?? null)
  getItem = (key: string) => this.#follow(() => this.#items.get(key) ?? null)
  setItem = (key: string, value: string) => this.#follow(() => void this.#items.set(key, value))
  removeItem = (key: string) => this.#follow(() => void this.#items.delete(key))

  #follow<T>(work: () => T): T {
    const whim = this.#whims[this.#calls++ % this.#whims.length]
    if (whim?.does === 'throws' || whim?.does === 'rejects')
      throw Object.assign(new Error('The quota has been exceeded.'), { name: 'QuotaExceededError' })
    if (whim?.does === 'forgets') return null as T
    if (whim?.does !== 'lies') return work()
    return (whim.wrapped ? JSON.stringify({ value: whim.answer, timestamp: this.#now() }) : whim.answer) as T
  }
}

const SILENT = { debug() {}, info() {}, warn() {}, error() {} }

/** Runs two agents after each other, as before and after a reload, with such a store. */
async function talk(kind: 'adapter' | 'storage', whims: readonly Whim[]): Promise<void> {
  const watch = new LeakWatch()
  const clock = new ManualClock()
  const service = createEmulator({ world: WORLD, reply, clock })
  const storage = kind === 'storage' ? new MoodyStorage(whims, clock.now) : undefined
  const adapter = kind === 'adapter' ? new MoodyAdapter(whims, clock.now) : undefined
  const { fetch, WebSocket } = service
  const agents: AiAgent[] = []
  try {
    for (const text of ['before', 'after']) {
      const agent = new AiAgent(
        { id: 'help', endpoint: service.origin, enableLogging: false, ...(adapter && { cache: { adapter } }) },
        {
          fetch: (...args) => fetch(...args),
          WebSocket,
          clock,
          console: SILENT,
          sessionStorage: storage,
          localStorage: storage,
        },
      )
      agents.push(agent)
      const journal = new Journal(agent)
      await agent.initialize({ context: { plan: 'gold' } })
      await agent.setContext({ page: text })
      expect(agent.getContext()).toMatchObject({ plan: 'gold', page: text })
      await agent.connect()
      await agent.send(text)
      await eventually(() => journal.answers.length, 'an answer')
      expect(journal.answers).toEqual([`You said: ${text}`])
      await agent.removeContext()
      expect(agent.getContext()).toBeNull()
    }
  } finally {
    for (const agent of agents) await agent.destroy()
    service.close()
    await turnEventLoop()
    await watch.stop()
  }
  expect(clock.pendingTimers).toBe(0)
}

for (const [kind, name] of [
  ['adapter', "a host's cache adapter"],
  ['storage', "a browser's store"],
] as const) {
  verifiesAlone(
    ['OWN-01', 'FLOW-08'],
    `${name} that throws, loses entries, is full or returns garbage breaks no agent`,
    async () => {
      await fc.assert(
        fc.asyncProperty(whims, given => talk(kind, given)),
        { numRuns: propertyRuns(60) },
      )
    },
  )
}
