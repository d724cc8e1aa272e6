import { createEmulator, type Emulator } from '@aiagent/emulator'
import { CHAT_QUERY } from '@aiagent/protocol'
import { ManualClock, propertyRuns, turnEventLoop } from '@aiagent/test-support'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { receivedTexts, sentTo } from '../../test/agent-harness.ts'
import { FakeBrowser, type FakeTab } from '../../test/fake-browser.ts'
import { HostStore } from '../../test/host-store.ts'
import { AiAgent } from '../ai-agent.ts'
import type { DeliveryUpdate } from '../log/delivery.ts'
import type { CacheAdapter, CacheEntry } from '../storage/cache-adapter.ts'

// Loaded before the clock is moved: loading a module takes real time.
await Promise.all([import('./stored-queue.ts'), import('./session-resume.ts')])

const USERS = ['customer', 'desk-agent'] as const
type User = (typeof USERS)[number]
type Act =
  | 'send'
  | 'break'
  | 'lose'
  | 'go offline'
  | 'come online'
  | 'wait'
  | 'disconnect'
  | 'connect'
  | 'sign out'
  | 'destroy'

/** What one page does, and at which of its writes it ends. */
interface Visit {
  readonly user: User
  readonly acts: readonly Act[]
  /** The number of the write at which the page ends; after all others if it has fewer. */
  readonly endsAt: number
  /** Whether the store has done that write. */
  readonly isWritten: boolean
}

interface Message {
  readonly user: User
  readonly text: string
  /** What the pages have reported of it, in order. */
  readonly states: string[]
  /** How the store had it when the last page of its user ended; undefined if it had not. */
  stored?: 'waiting' | 'marked' | undefined
  /** Whether the store had it when any page ended. */
  wasStored?: boolean
  /** Whether a sign-out has begun since: it may have removed the message, or not. */
  isSignedOut?: boolean
  /** Whether a sign-out has removed it before the service had it. */
  isRemoved?: boolean
}

/** The store as a page reaches it: at one of its writes the page ends, which then gets no more answers. */
class EndingStore implements CacheAdapter {
  readonly #store: HostStore
  readonly #visit: Visit
  readonly #end: () => void
  #writes = 0
  #hasEnded = false

  constructor(store: HostStore, visit: Visit, end: () => void) {
    this.#store = store
    this.#visit = visit
    this.#end = end
  }

  get = (key: string) => this.#answer(() => this.#store.get(key))
  keys = (prefix?: string) => this.#answer(() => this.#store.keys(prefix))
  set = (key: string, entry: CacheEntry) => this.#write(() => this.#store.set(key, entry))
  delete = (key: string) => this.#write(() => this.#store.delete(key))
  clear = (prefix?: string) => this.#write(() => this.#store.clear(prefix))

  end(): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.#end()
  }

  #write(work: () => Promise<void>): Promise<void> {
    if (!this.#hasEnded && this.#writes++ === this.#visit.endsAt) {
      if (this.#visit.isWritten) void work()
      this.end()
    }
    return this.#answer(work)
  }

  #answer<T>(work: () => Promise<T>): Promise<T> {
    return this.#hasEnded ? new Promise(() => {}) : work()
  }
}

/** Pages of users that follow each other over one store, and the service that they talk to. */
class Visits {
  readonly clock = new ManualClock()
  readonly emulator: Emulator
  readonly browser: FakeBrowser
  readonly store = new HostStore()
  readonly messages = new Map<string, Message>()
  /** The session that the last page of a user has left; undefined if it has left none, or a sign-out has begun. */
  readonly sessions = new Map<User, string | undefined>()
  readonly problems: string[] = []

  /** States after which the pages owe the user nothing more. Without receipts, the outcome of a sent message stays unknown. */
  readonly #final: RegExp

  constructor(capabilities: readonly ('receipts' | 'resume')[]) {
    this.#final = capabilities.includes('receipts') ? /unknown|failed|cancelled/ : /unknown|failed|cancelled|sent/
    const reply = ({ text }: { text: string }) => ({ content: `You said: ${text}` })
    this.emulator = createEmulator({ clock: this.clock, reply, settings: { capabilities: [...capabilities] } })
    this.browser = new FakeBrowser(this.clock, this.emulator)
  }

  /** Opens a page, lets it act, and ends it. */
  async visit(visit: Visit): Promise<void> {
    const { user, acts } = visit
    const { faults, control } = this.emulator
    const tab = this.browser.open()
    const store = new EndingStore(this.store, visit, () => this.#noteEnd(user, tab))
    const agent = this.#open(user, tab, store)
    await this.#pass(agent.initialize())
    void agent.connect().catch(() => {})
    let isSignedOut = false
    for (const act of acts) {
      if (tab.isGone) break
      if (act === 'send') await this.#send(agent, user)
      else if (act === 'break') control.dropSockets()
      else if (act === 'lose') {
        faults.add({ kind: 'lose-frames', direction: 'to-service' })
        await this.#send(agent, user)
        control.dropSockets()
        faults.lift()
      } else if (act === 'go offline') faults.add({ kind: 'refuse-upgrade', status: 503 })
      else if (act === 'come online') faults.lift()
      else if (act === 'wait') await this.clock.advance(1_500)
      else if (act === 'disconnect') void agent.disconnect().catch(() => {})
      else if (act === 'connect') void agent.connect().catch(() => {})
      else if (act === 'destroy') {
        await this.#pass(agent.destroy())
        break
      } else {
        const own = [...this.messages.values()].filter(message => message.user === user)
        for (const message of own) message.isSignedOut = true
        isSignedOut = true
        await this.#pass(agent.logout())
        const received = receivedTexts(this.emulator).flat()
        if (!tab.isGone) for (const message of own) message.isRemoved = !received.includes(message.text)
        break
      }
      await turnEventLoop(3)
    }
    store.end()
    this.sessions.set(user, isSignedOut ? undefined : this.#sessionOf(user))
    faults.lift()
    await this.clock.advance(20_000)
  }

  /** Opens a last page of a user, lets it send what is left, and checks what the user sees. */
  async finish(user: User): Promise<void> {
    const tab = this.browser.open()
    const agent = this.#open(user, tab, this.store)
    await this.#pass(agent.initialize())
    await this.#pass(agent.connect())
    for (let seconds = 0; seconds < 40; seconds++) await this.clock.advance(1_000)
    const received = receivedTexts(this.emulator).flat()
    const shown = agent.getTranscript().map(({ message }) => message.content)
    for (const { text, states, stored, wasStored, isSignedOut, isRemoved } of this.messages.values()) {
      if (!text.endsWith(`${user}.`)) continue
      const times = received.filter(each => each === text).length
      if (times > 1) this.problems.push(`${text} was received ${times} times`)
      if (times > 0 && !isSignedOut && (states.includes('failed') || states.includes('cancelled')))
        this.problems.push(`${text} was received, and reported as ${states.join()}`)
      if (times > 0 && isRemoved) this.problems.push(`${text} came back after the sign-out`)
      const isOwed = stored === 'waiting' || (wasStored && !states.some(state => this.#final.test(state)))
      if (isOwed && !isSignedOut && times === 0) this.problems.push(`${text} is lost (${states.join()})`)
      if (shown.filter(each => each === text).length > 1) this.problems.push(`${text} is shown twice`)
    }
    const session = this.sessions.get(user)
    const opened = this.emulator.control.requests().findLast(({ status }) => status === 101)
    if (session !== undefined && opened?.query[CHAT_QUERY.SESSION_ID] !== session)
      this.problems.push(`${user} does not go on with the session`)
    const missing = sentTo(this.emulator, session ?? '').find(text => text.includes('text') && !shown.includes(text))
    if (missing !== undefined) this.problems.push(`${missing} is not shown`)
    const foreign = shown.find(each => this.#isOfAnother(each ?? '', user))
    if (foreign !== undefined) this.problems.push(`${user} sees "${foreign}"`)
    const remaining = this.store.stored.filter(content => !this.#isOfAnother(content, user))
    if (remaining.length > 0) this.problems.push(`left in the store: ${remaining.join()}`)
    await this.#pass(agent.destroy())
    tab.crash()
  }

  /** The session in the store that a user has opened. */
  #sessionOf(user: User): string | undefined {
    const ids = [...this.store.entries]
      .filter(([key]) => key.includes('session_'))
      .map(([, { value }]) => (value as { left: { sessionId: string } }).left.sessionId)
    return ids.find(id => this.emulator.world.sessions.get(id)?.subject === user)
  }

  #isOfAnother(text: string, user: User): boolean {
    return [...this.messages.values()].some(each => each.user !== user && text.includes(each.text))
  }

  #open(user: User, tab: FakeTab, adapter: CacheAdapter): AiAgent {
    const { emulator } = this
    // In a page the queue is in its database, and each entry has a lock: see storage/handed-over.property.test.ts.
    const { page: _page, ...environment } = tab.environment
    const accessToken = emulator.control.issueToken({ subject: user })
    const agent = new AiAgent(
      {
        id: 'account',
        endpoint: emulator.origin,
        auth: { type: 'pre-auth', accessToken },
        persistQueue: true,
        resume: true,
        cache: { adapter },
        enableLogging: false,
      },
      environment,
    )
    agent.on('deliveryUpdate', ({ payload }) => this.#note(user, payload))
    return agent
  }

  #note(user: User, { id, state }: DeliveryUpdate): void {
    const message = this.messages.get(id)
    if (message && message.user !== user)
      this.problems.push(`${user} receives the state of another user: ${message.text} ${state}`)
    message?.states.push(state)
  }

  async #send(agent: AiAgent, user: User): Promise<void> {
    const id = `${user}-${this.messages.size}`
    this.messages.set(id, { user, text: `text ${this.messages.size} of ${user}.`, states: [] })
    void agent.send(`text ${this.messages.size - 1} of ${user}.`, { id }).catch(() => {})
    await turnEventLoop(2)
  }

  #noteEnd(user: User, tab: FakeTab): void {
    tab.crash()
    for (const message of this.messages.values()) if (message.user === user) message.stored = undefined
    const entries = [...this.store.entries].filter(([key]) => key.includes('queue_'))
    for (const { id, written } of entries.flatMap(([, { value }]) => (value as { left: StoredText[] }).left)) {
      const message = this.messages.get(id)
      if (message?.user === user) Object.assign(message, { stored: written ? 'marked' : 'waiting', wasStored: true })
    }
  }

  /** Lets time pass until a call has settled, or its page has ended. */
  async #pass(call: Promise<unknown>): Promise<void> {
    let isSettled = false
    const settle = () => {
      isSettled = true
    }
    call.then(settle, settle)
    for (let steps = 0; !isSettled && steps < 100; steps++) await this.clock.advance(100)
  }
}

interface StoredText {
  readonly id: string
  readonly written?: object
}

const ACTS: readonly Act[] = [
  'send',
  'send',
  'send',
  'break',
  'lose',
  'go offline',
  'come online',
  'wait',
  'wait',
  'disconnect',
  'connect',
  'sign out',
  'destroy',
]

const VISIT: fc.Arbitrary<Visit> = fc.record({
  user: fc.constantFrom<User>('customer', 'customer', 'customer', 'desk-agent'),
  acts: fc.array(fc.constantFrom(...ACTS), { minLength: 1, maxLength: 7 }),
  endsAt: fc.nat(14),
  isWritten: fc.boolean(),
})

describe('a page that ends between any two writes of its store', () => {
  it.each([
    ['the plain wire', []],
    ['receipts', ['receipts', 'resume']],
  ] as const)(
    '[REL-88] leaves the next one what was not sent: once, to its user alone (%s)',
    async (_name, capabilities) => {
      const check = async (visits: readonly Visit[]) => {
        const all = new Visits(capabilities)
        for (const visit of visits) await all.visit(visit)
        for (const user of USERS) await all.finish(user)
        expect(all.problems).toEqual([])
      }
      await fc.assert(fc.asyncProperty(fc.array(VISIT, { minLength: 1, maxLength: 4 }), check), {
        numRuns: propertyRuns(25),
      })
    },
    120_000,
  )
})
