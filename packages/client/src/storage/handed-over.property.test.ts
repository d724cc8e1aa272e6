import { createEmulator } from '@aiagent/emulator'
import { ManualClock, propertyRuns, turnEventLoop } from '@aiagent/test-support'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FakeBrowser, type FakeTab } from '../../test/fake-browser.ts'
import { HostStore } from '../../test/host-store.ts'
import { type LockPage, steal, tryHold } from '../platform/locks.ts'
import type { AgentScope } from '../scope.ts'
import type { CacheAdapter } from './cache-adapter.ts'
import { HandedOver } from './handed-over.ts'

const USERS = ['ann', 'bob'] as const
/** The parts of the keys of a user's queues. */
const partsOf = (user: string) => ({ hash: 'h', user, selectedAgent: 'a', portal: '', profile: '', version: '1' })
type User = (typeof USERS)[number]

interface Step {
  readonly kind: 'open' | 'say' | 'free' | 'crash' | 'steal' | 'signOut' | 'store'
  readonly page: 0 | 1
  readonly user: User
  readonly store: 'works' | 'is slow' | 'fails' | 'hangs'
}

/** A page that leaves a list of texts for the next one, each page under its own key, as the queue does. */
class LeavingPage {
  readonly tab: FakeTab
  readonly user: User
  readonly left: HandedOver
  readonly warnings: string[] = []
  /** What this page goes on with. */
  texts: string[] = []
  lock = ''
  /** Delays what the store has read. */
  pause: Promise<void> | undefined

  constructor(browser: FakeBrowser, store: HostStore, user: User, newName: () => string) {
    this.tab = browser.open()
    this.user = user
    // Each page has its own guard.
    const adapter: CacheAdapter = {
      get: async key => {
        const found = await store.get(key)
        await this.pause
        return found
      },
      set: (key, entry) => store.set(key, entry),
      delete: key => store.delete(key),
      clear: prefix => store.clear(prefix),
      keys: prefix => store.keys(prefix),
    }
    const randomUUID = () => {
      const name = newName()
      this.lock = `aiagent-queue-1-${name}`
      return name
    }
    const environment = { clock: browser.clock, console, memory: adapter, page: this.tab.environment.page, randomUUID }
    const logger = { warn: (message: string) => void (message.includes('The store of') && this.warnings.push(message)) }
    const scope = { environment, config: { cache: {} }, logger } as unknown as AgentScope<never>
    this.left = new HandedOver(scope, 'queue', 1, adapter, false)
  }

  open(name: string): Promise<void> {
    const { left } = this
    const { store } = left
    const parts = partsOf(this.user)
    const key = store.key({ ...parts, page: name })
    return left.runWithin(2_000, async () => {
      left.claim(key)
      const taken = new Map<string, string[]>()
      for (const each of await store.keys(parts)) {
        const texts = each === key ? undefined : await left.take(each)
        if (texts) taken.set(each, texts as string[])
      }
      const texts = [...new Set([...taken.values()].flat())]
      if (texts.length === 0) return
      await left.write(texts)
      if (!(await left.isStored())) return
      for (const each of taken.keys()) await store.delete(each)
      this.texts.push(...texts)
    })
  }

  say(text: string): void {
    this.texts.push(text)
    void this.left.run(() => this.left.write([...this.texts]))
  }
}

/** Two tabs, in which pages of two users follow each other, over one store of the origin. */
class Origin {
  readonly clock = new ManualClock()
  readonly browser = new FakeBrowser(this.clock, createEmulator({ clock: this.clock }))
  readonly store = new HostStore()
  readonly pages: (LeavingPage | undefined)[] = [undefined, undefined]
  readonly problems: string[] = []
  /** What the pages of a user have said. */
  readonly said: Record<User, string[]> = { ann: [], bob: [] }
  /** What a sign-out has removed. */
  readonly gone: Record<User, string[]> = { ann: [], bob: [] }
  #count = 0
  isReliable = true

  async play(steps: readonly Step[]): Promise<void> {
    this.store.entries.set('cart', { value: 'of the host', timestamp: 0 })
    for (const step of steps) {
      await this.#step(step)
      await this.#settle()
      this.#check()
    }
  }

  /** The texts that the next page of a user goes on with, once no other page runs and the store works. */
  async remaining(user: User): Promise<string[]> {
    for (const index of [0, 1]) this.#crash(index)
    await this.#settle()
    Object.assign(this.store, { fails: false, hangs: false, pause: undefined })
    const next = this.#open(0, user)
    await this.#settle()
    return next.texts
  }

  #open(index: number, user: User): LeavingPage {
    const page = new LeavingPage(this.browser, this.store, user, () => `${++this.#count}`)
    this.pages[index] = page
    void page.open(`${++this.#count}`)
    return page
  }

  #crash(index: number): void {
    this.pages[index]?.tab.crash()
    this.pages[index] = undefined
  }

  async #step({ kind, page: index, user, store }: Step): Promise<void> {
    const page = this.pages[index]
    if (kind === 'store') {
      Object.assign(this.store, { fails: store === 'fails', hangs: store === 'hangs' })
      this.store.pause = store === 'is slow' ? () => turnEventLoop(3) : undefined
      this.isReliable &&= store !== 'fails' && store !== 'hangs'
    } else if (kind === 'open') {
      this.#crash(index)
      this.#open(index, user)
      // A lock is taken away from a page that has one, whose name stands in what it has left.
    } else if (!page || (kind === 'steal' && page.texts.length === 0)) return
    else if (kind === 'say') {
      const text = `${page.user} ${++this.#count}`
      this.said[page.user].push(text)
      page.say(text)
    } else if (kind === 'crash') this.#crash(index)
    else if (kind === 'free') {
      void page.left.run(async () => page.left.leave())
      await this.#settle()
      this.#crash(index)
    } else if (kind === 'signOut') {
      const own = page.texts.splice(0)
      void page.left.run(async () => {
        await page.left.forget(partsOf(page.user))
        if (this.isReliable) this.gone[page.user].push(...own)
      })
    } else {
      // Another page takes the lock away and gives it back: the next page may take the entry.
      const thief = this.browser.open()
      const window = thief.environment.page?.window as LockPage
      const stolen = steal(window, page.lock)
      await this.#settle()
      void stolen.then(release => release())
      this.pages[index] = undefined
      // It still runs, and goes on writing.
      page.say(`late ${page.user} ${++this.#count}`)
    }
  }

  async #settle(): Promise<void> {
    // Longer than any time limit.
    for (let round = 0; round < 4; round++) {
      await turnEventLoop(20)
      await this.clock.advance(3_000)
    }
  }

  #check(): void {
    const [one, two] = this.pages
    for (const page of [one, two]) {
      // What was written after a theft begins with another word.
      const foreign = page?.texts.find(text => !text.startsWith(page.user))
      if (foreign !== undefined) this.problems.push(`${page?.user} has "${foreign}"`)
      const stale = page?.texts.find(text => this.gone[page.user].includes(text))
      if (stale !== undefined) this.problems.push(`"${stale}" came back`)
      if (page && page.warnings.length > 1) this.problems.push(page.warnings.join())
    }
    const doubled = one?.texts.find(text => two?.texts.includes(text))
    if (doubled !== undefined) this.problems.push(`two pages have "${doubled}"`)
    if (this.store.entries.get('cart')?.value !== 'of the host') this.problems.push('an entry of the host was changed')
  }
}

const step = (kinds: readonly Step['kind'][]): fc.Arbitrary<Step> =>
  fc.record({
    kind: fc.constantFrom(...kinds),
    page: fc.constantFrom(0, 1),
    user: fc.constantFrom(...USERS),
    store: fc.constantFrom('works', 'is slow', 'fails', 'hangs'),
  })

describe('what pages leave for the next one', () => {
  it('goes to one page of its user, whatever the pages, the store and the locks do', async () => {
    const steps = fc.array(step(['open', 'open', 'say', 'say', 'free', 'crash', 'steal', 'signOut', 'store']), {
      maxLength: 14,
    })
    const check = async (given: Step[]) => {
      const origin = new Origin()
      await origin.play(given)
      expect(origin.problems).toEqual([])
    }
    const at = (kind: Step['kind'], page: Step['page']): Step => ({ kind, page, user: 'ann', store: 'works' })
    const stolen = [at('open', 0), at('say', 0), at('steal', 0), at('open', 1), at('open', 0)]
    await fc.assert(fc.asyncProperty(steps, check), { numRuns: propertyRuns(60), examples: [[stolen]] })
  })

  it('is not lost while the store works', async () => {
    const steps = fc.array(step(['open', 'open', 'say', 'say', 'free', 'crash']), { maxLength: 14 })
    const check = async (given: Step[]) => {
      const origin = new Origin()
      await origin.play(given.map(each => ({ ...each, store: each.store === 'is slow' ? each.store : 'works' })))
      for (const user of USERS) {
        const remaining = await origin.remaining(user)
        expect(remaining.toSorted()).toEqual(origin.said[user].toSorted())
      }
    }
    await fc.assert(fc.asyncProperty(steps, check), { numRuns: propertyRuns(60) })
  })

  it('is passed on when its page has not given its lock back at once', async () => {
    const clock = new ManualClock()
    const browser = new FakeBrowser(clock, createEmulator({ clock }))
    const store = new HostStore()
    let count = 0
    const open = () => new LeavingPage(browser, store, 'ann', () => `${++count}`)
    const [one, two] = [open(), open()]
    const key = one.left.store.key({ ...partsOf('ann'), page: 'a' })
    await one.left.run(async () => {
      one.left.claim(key)
      await one.left.write(['text'])
    })
    const taking = two.left.run(() => two.left.take(key, 500))
    await turnEventLoop(3)
    one.tab.crash()
    expect(await taking).toEqual(['text'])
    expect(await tryHold(open().tab.environment.page?.window as LockPage, one.lock)).toBeUndefined()
  })

  it('is not taken again from a page that has read it before another one took it', async () => {
    const clock = new ManualClock()
    const browser = new FakeBrowser(clock, createEmulator({ clock }))
    const store = new HostStore()
    let count = 0
    const open = () => new LeavingPage(browser, store, 'ann', () => `${++count}`)
    const [ended, slow, fast] = [open(), open(), open()]
    const key = ended.left.store.key({ ...partsOf('ann'), page: 'ended' })
    await ended.left.run(async () => {
      ended.left.claim(key)
      await ended.left.write(['text'])
    })
    ended.tab.crash()
    let proceed = () => {}
    slow.pause = new Promise(resolve => {
      proceed = resolve
    })
    const taking = slow.left.run(() => slow.left.take(key))
    await fast.open('fast')
    expect(fast.texts).toEqual(['text'])
    // It keeps the lock of the page that has ended as long as it runs.
    fast.tab.crash()
    proceed()
    expect(await taking).toBeUndefined()
  })
})
