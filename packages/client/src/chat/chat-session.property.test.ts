import { createEmulator, type Emulator, WEATHERS } from '@aiagent/emulator'
import { CHAT_QUERY } from '@aiagent/protocol'
import { ManualClock, propertyRuns, turnEventLoop } from '@aiagent/test-support'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FakeBrowser, type FakeTab } from '../../test/fake-browser.ts'
import { AiAgent } from '../ai-agent.ts'
import type { Environment, SocketCloseEvent } from '../platform/environment.ts'

// Loaded before the clock is moved: loading a module takes real time.
await import('../resume/session-resume.ts')

const PASSING = Object.values(WEATHERS).flatMap(({ passing }) => passing)

type Act =
  /** Calls of the host. */
  | {
      readonly do: 'connect' | 'disconnect' | 'restart' | 'initialize' | 'send' | 'set context' | 'supply' | 'sign out'
    }
  /** The page is reloaded or crashes. The next page has its storage. */
  | { readonly do: 'reload' | 'crash' }
  /** What the service does. */
  | { readonly do: 'forget' | 'end' | 'break' | 'restart service' }
  | { readonly do: 'refuse session' | 'refuse chat' | 'refuse history'; readonly status: number }
  | { readonly do: 'weather'; readonly which: number }
  | { readonly do: 'wait'; readonly ms: number }

/** A conversation whose sessions come from anywhere, and end at any time. */
class Conversation {
  readonly clock = new ManualClock()
  readonly emulator: Emulator
  readonly problems: string[] = []
  readonly #browser: FakeBrowser
  #tab: FakeTab | undefined
  readonly #hasStatus: boolean
  #agent: AiAgent
  #open: { name: string; isSettled: boolean }[] = []
  /** What the host has set last. */
  #context: Record<string, unknown> | undefined
  /** The sessions that an earlier page has not sent it to: the next page does not know, since nothing stores what was not sent. */
  #without = new Set<string>()
  /** How many sessions may have been created: one for each reason. */
  #allowed = 1
  #count = 0

  /** @param hasStatus whether a refused chat has a status, as on Node; a page knows of none */
  constructor(hasStatus: boolean) {
    const reply = ({ text }: { text: string }) => ({ content: `You said: ${text}` })
    this.emulator = createEmulator({ clock: this.clock, reply })
    this.#browser = new FakeBrowser(this.clock, this.emulator)
    this.#hasStatus = hasStatus
    this.#agent = this.#load()
  }

  async play(acts: readonly Act[]): Promise<void> {
    for (const act of acts) {
      await this.#act(act)
      await turnEventLoop(4)
    }
    await this.#finish()
  }

  async #act(act: Act): Promise<void> {
    const { faults, control } = this.emulator
    const agent = this.#agent
    const isGranted = [
      'restart',
      'forget',
      'end',
      'crash',
      'reload',
      'sign out',
      'supply',
      'refuse chat',
      'refuse history',
    ]
    if (isGranted.includes(act.do)) this.#allowed++
    if (act.do === 'weather') this.#allowed += 2
    if (act.do === 'connect') this.#call('connect()', agent.connect())
    else if (act.do === 'initialize') this.#call('initialize()', agent.initialize())
    else if (act.do === 'disconnect') this.#call('disconnect()', agent.disconnect())
    else if (act.do === 'restart') this.#call('restartConnection()', agent.restartConnection())
    else if (act.do === 'send') this.#call('send()', agent.send(`text ${this.#count++}`))
    else if (act.do === 'set context') {
      const context = { page: `page ${this.#count++}` }
      const setting = agent.setContext(context, { sendImmediately: true }).then(() => {
        this.#context = context
        this.#without.clear()
      })
      this.#call('setContext()', setting)
    } else if (act.do === 'supply') {
      const id = await this.#createElsewhere()
      agent.setSessionId(id)
    } else if (act.do === 'sign out') {
      this.#context = undefined
      this.#call('logout()', agent.logout())
    } else if (act.do === 'reload') {
      this.#call('destroy()', agent.destroy())
      await this.clock.advance(2_500)
      this.#agent = this.#load()
    } else if (act.do === 'crash') {
      // Calls of a page that has ended never settle.
      this.#open = []
      this.#agent = this.#load()
    } else if (act.do === 'wait') await this.clock.advance(act.ms)
    else if (act.do === 'break') control.dropSockets()
    else if (act.do === 'forget') faults.add({ kind: 'forget-session' })
    else if (act.do === 'end') faults.add({ kind: 'end-session' })
    else if (act.do === 'restart service') faults.add({ kind: 'restart', memory: true, downMs: 2_500 })
    else if (act.do === 'refuse session')
      faults.add({ kind: 'answer', route: 'POST */session', status: act.status, times: 1 })
    else if (act.do === 'refuse history')
      faults.add({ kind: 'answer', route: 'GET *transcript*', status: act.status, times: 1 })
    else if (act.do === 'refuse chat') faults.add({ kind: 'refuse-upgrade', status: act.status, times: 1 })
    else if (act.do === 'weather') faults.add(PASSING[act.which % PASSING.length] as (typeof PASSING)[number])
  }

  /** Lifts all faults, and checks that the conversation continues. */
  async #finish(): Promise<void> {
    const { faults, world } = this.emulator
    faults.lift()
    const agent = this.#agent
    const open = () => agent.initialize().then(() => agent.connect())
    this.#call('connect()', open())
    for (let seconds = 0; seconds < 130; seconds++) await this.clock.advance(1_000)
    if (!agent.isConnected()) {
      // An attempt before may have ended for good.
      this.#call('connect()', open())
      for (let seconds = 0; seconds < 70; seconds++) await this.clock.advance(1_000)
    }
    if (!agent.isConnected()) return void this.problems.push(`not connected, but ${agent.getState()}`)
    const session = world.sessions.get(agent.getSessionId() ?? '')
    if (!session || session.ended) this.problems.push('the chat is open in a session that has ended')
    const text = `text ${this.#count++}`
    this.#call('send()', agent.send(text))
    await this.clock.advance(3_000)
    if (!agent.getTranscript().some(({ message }) => message.content === `You said: ${text}`))
      this.problems.push('no answer at the end')
    const said = session?.received.entries().map(({ message }) => message?.content)
    if (!said?.includes(text)) this.problems.push('the last text went to another session')
    if (this.#context && session && !this.#without.has(session.id) && !this.#isSentTo(session))
      this.problems.push(`the service has ${JSON.stringify(session.context)}, not ${JSON.stringify(this.#context)}`)
    this.#checkSessions()
    this.#call('destroy()', agent.destroy())
    await this.clock.advance(20_000)
    for (const { name, isSettled } of this.#open) if (!isSettled) this.problems.push(`${name} has not settled`)
  }

  #isSentTo({ context }: { readonly context: Readonly<Record<string, unknown>> }): boolean {
    return context['page'] === this.#context?.['page']
  }

  #checkSessions(): void {
    const { control, world } = this.emulator
    const created = world.sessions.size
    if (created > this.#allowed) this.problems.push(`${created} sessions were created; ${this.#allowed} were needed`)
    const refused = new Map<string, number>()
    for (const { status, path, query } of control.requests()) {
      const id = query[CHAT_QUERY.SESSION_ID]
      if (!id || status === 101 || path.endsWith('/session') || world.sessions.has(id)) continue
      refused.set(id, (refused.get(id) ?? 0) + 1)
    }
    for (const [id, times] of refused)
      if (times > 6) this.problems.push(`the unknown session ${id} was tried ${times} times`)
  }

  /** A session that another client of the host has created. */
  async #createElsewhere(): Promise<string> {
    const other = new AiAgent(
      { id: 'help', endpoint: this.emulator.origin, enableLogging: false },
      { fetch: this.emulator.fetch, WebSocket: this.emulator.WebSocket, clock: this.clock },
    )
    const opening = other.initialize().then(() => other.connect())
    opening.catch(() => {})
    for (let steps = 0; steps < 20 && !other.isConnected(); steps++) await this.clock.advance(100)
    const id = other.getSessionId()
    void other.destroy()
    return id ?? 'never-created'
  }

  #call(name: string, promise: Promise<unknown>): void {
    const call = { name, isSettled: false }
    this.#open.push(call)
    const settle = () => {
      call.isSettled = true
    }
    promise.then(settle, settle)
  }

  /** The next page of the tab. */
  #load(): AiAgent {
    for (const session of this.emulator.world.sessions.values())
      if (!this.#isSentTo(session)) this.#without.add(session.id)
    this.#tab?.crash()
    const tab = this.#browser.open(this.#tab?.sessionStorage)
    this.#tab = tab
    // Locks of pages: see storage/handed-over.property.test.ts.
    const { page: _page, ...environment } = tab.environment
    const { WebSocket } = environment
    if (this.#hasStatus) Object.assign(WebSocket ?? {}, { revealsStatus: true })
    else if (WebSocket) environment.WebSocket = withoutStatus(WebSocket)
    const agent = new AiAgent(
      {
        id: 'help',
        endpoint: this.emulator.origin,
        resume: true,
        enableLogging: false,
        cache: { storageType: 'session' },
      },
      environment,
    )
    this.#call('initialize()', agent.initialize())
    return agent
  }
}

/** Sockets as a page has them: the end of a refused one names no reason. */
function withoutStatus(Base: Environment['WebSocket']): Environment['WebSocket'] {
  return class extends Base {
    constructor(address: string) {
      super(address)
      let onClose: ((event: never) => unknown) | null = null
      const hidden = ({ httpStatus, ...event }: SocketCloseEvent) => onClose?.(event as never)
      Object.defineProperty(this, 'onclose', {
        get: () => hidden,
        set: (given: typeof onClose) => {
          onClose = given
        },
      })
    }
  }
}

const act = (...kinds: readonly ('connect' | 'disconnect' | 'restart' | 'initialize' | 'send' | 'supply')[]) =>
  fc.constantFrom(...kinds).map((kind): Act => ({ do: kind }))

const ACT: fc.Arbitrary<Act> = fc.oneof(
  { weight: 6, arbitrary: act('connect', 'connect', 'send', 'disconnect', 'restart', 'supply', 'initialize') },
  { weight: 2, arbitrary: fc.constantFrom<Act>({ do: 'set context' }, { do: 'sign out' }) },
  { weight: 2, arbitrary: fc.constantFrom<Act>({ do: 'reload' }, { do: 'crash' }) },
  {
    weight: 4,
    arbitrary: fc.constantFrom<Act>({ do: 'forget' }, { do: 'end' }, { do: 'break' }, { do: 'restart service' }),
  },
  {
    weight: 3,
    arbitrary: fc.oneof(
      fc.record({
        do: fc.constantFrom('refuse chat' as const, 'refuse history' as const),
        status: fc.constantFrom(400, 401, 403, 404, 410, 429, 500, 503),
      }),
      // After a 403, 404 or 405 the session is requested as from older deployments, which take no context.
      fc.record({ do: fc.constant('refuse session' as const), status: fc.constantFrom(400, 401, 410, 429, 500, 503) }),
    ),
  },
  { weight: 1, arbitrary: fc.nat(30).map((which): Act => ({ do: 'weather', which })) },
  { weight: 4, arbitrary: fc.constantFrom(50, 1_000, 11_000, 31_000).map((ms): Act => ({ do: 'wait', ms })) },
)

describe('the session of a conversation', () => {
  it.each([
    ['where a refusal has a status', true],
    ['where a refusal has none', false],
  ])(
    '[REL-294] is the one that the service knows, whatever becomes of it, with the context of the host (%s)',
    async (_name, hasStatus) => {
      const check = async (acts: readonly Act[]) => {
        const conversation = new Conversation(hasStatus)
        await conversation.play(acts)
        expect(conversation.problems).toEqual([])
      }
      await fc.assert(fc.asyncProperty(fc.array(ACT, { maxLength: 14 }), check), { numRuns: propertyRuns(25) })
    },
    120_000,
  )
})
