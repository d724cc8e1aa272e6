import { createEmulator, type Fault } from '@aiagent/emulator'
import { ManualClock, propertyRuns } from '@aiagent/test-support'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FakeBrowser, type FakeTab } from '../../test/fake-browser.ts'
import { type TokenAct, TokenCampaign } from '../../test/token-campaign.ts'
import { ANSWERS, SOURCES, serialOf, subjectOf } from '../../test/token-host.ts'
import { watchRejections } from '../../test/watch-rejections.ts'
import { AiAgent } from '../ai-agent.ts'
import type { AiAgentConfig } from '../config.ts'
import type { Environment } from '../platform/environment.ts'
import type { AuthenticationInput } from './auth-strategy.ts'

// Loaded before the clock is moved: loading a module takes real time.
await Promise.all([
  import('./token-strategies.ts'),
  import('./login/pkce-strategy.ts'),
  import('../tabs/tab-group.ts'),
  import('../resume/session-resume.ts'),
])

const how = fc.constantFrom(...ANSWERS)
const actOf = (...kinds: readonly TokenAct['do'][]) => fc.constantFrom(...kinds).map(kind => ({ do: kind }) as TokenAct)
const waitOf = (...waits: readonly number[]) => fc.constantFrom(...waits).map(ms => ({ do: 'wait' as const, ms }))

const ACT: fc.Arbitrary<TokenAct> = fc.oneof(
  { weight: 5, arbitrary: actOf('ask', 'ask twice', 'refresh') },
  { weight: 5, arbitrary: actOf('update', 'update to another user', 'another user at the host', 'overtake') },
  { weight: 2, arbitrary: actOf('sign out', 'sign out elsewhere', 'clean up', 'switch', 'overtake by a sign-out') },
  { weight: 3, arbitrary: actOf('initialize') },
  { weight: 2, arbitrary: actOf('return', 'suspend', 'watch') },
  { weight: 3, arbitrary: how.map((answer): TokenAct => ({ do: 'answer', how: answer })) },
  { weight: 1, arbitrary: fc.constantFrom(60, 290, 600, 3_600).map((seconds): TokenAct => ({ do: 'live', seconds })) },
  { weight: 6, arbitrary: waitOf(0, 50, 5_000, 21_000, 31_000, 280_000, 3_400_000) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('expire' as const), how, isWatched: fc.boolean() }) },
)

describe('the tokens of an authentication service', () => {
  it.each(SOURCES)(
    '[SEC-02] [REL-07] [REL-50] [REL-251] are those of the present user, valid, and one at a time: %s',
    async source => {
      const unhandled = watchRejections()
      const check = async (acts: readonly TokenAct[]) => {
        const campaign = new TokenCampaign(source)
        await campaign.play(acts)
        expect([...campaign.problems, ...unhandled.splice(0)]).toEqual([])
      }
      await fc.assert(fc.asyncProperty(fc.array(ACT, { maxLength: 12 }), check), { numRuns: propertyRuns(25) })
    },
    120_000,
  )
})

const HOSTS = ['a token', 'refreshTokenFn', 'a provider'] as const
type Host = (typeof HOSTS)[number]

type PageAct =
  | { readonly do: 'initialize' | 'connect' | 'disconnect' | 'send' | 'ask' | 'sign out' | 'sign out elsewhere' }
  | { readonly do: 'update' | 'update to another user' | 'another user at the host' | 'destroy' | 'refuse' | 'lift' }
  /** How the function of the host answers from then on. */
  | { readonly do: 'answer'; readonly how: 'well' | 'late' | 'hangs' | 'fails' }
  | { readonly do: 'fault'; readonly fault: Fault }
  | { readonly do: 'wait'; readonly ms: number }

/** An agent in a tab, and every token that leaves the tab. */
class Page {
  readonly clock = new ManualClock()
  readonly emulator = createEmulator({ clock: this.clock })
  readonly problems: string[] = []
  readonly #host: Host
  readonly #browser = new FakeBrowser(this.clock, this.emulator)
  readonly #tab = this.#browser.open()
  #agent: AiAgent
  #answer: 'well' | 'late' | 'hangs' | 'fails' = 'well'
  /** How often the user has changed. */
  #users = 0
  /** Calls of the host that run. */
  #running = 0
  /** What the host has passed to the agent. */
  #given: string
  /** Tokens up to this number belong to a user who has left. */
  #floor = 0
  /** The user of the last token that was sent. */
  #seen: string | undefined
  readonly #calls: { readonly name: string; isSettled: boolean }[] = []

  constructor(host: Host) {
    this.#host = host
    this.#given = this.#mint()
    this.#agent = this.#open(this.#tab)
  }

  async play(acts: readonly PageAct[]): Promise<void> {
    this.#initialize()
    await this.clock.advance(50)
    for (const act of acts) {
      // What takes no time leaves no room for anything else.
      const passing = this.#act(act)
      if (passing) await passing
    }
    await this.#finish()
  }

  #act(act: PageAct): Promise<void> | undefined {
    const agent = this.#agent
    const { control, faults } = this.emulator
    if (act.do === 'initialize') this.#initialize()
    else if (act.do === 'connect') this.#call(act.do, agent.connect())
    else if (act.do === 'disconnect') this.#call(act.do, agent.disconnect())
    else if (act.do === 'send') this.#call(act.do, agent.send(this.#secret))
    else if (act.do === 'ask') this.#call(act.do, agent.getAccessToken())
    else if (act.do === 'update') this.#update()
    else if (act.do === 'update to another user') {
      this.#users++
      this.#update()
    } else if (act.do === 'another user at the host') {
      if (this.#running === 0) this.#users++
    } else if (act.do === 'sign out') this.#signOut()
    else if (act.do === 'sign out elsewhere') return this.#signOutElsewhere()
    else if (act.do === 'destroy') {
      this.#call(act.do, agent.destroy())
      this.#given = this.#mint()
      this.#agent = this.#open(this.#tab)
    } else if (act.do === 'refuse') control.expireTokens()
    else if (act.do === 'answer') this.#answer = act.how
    else if (act.do === 'fault') faults.add(act.fault)
    else if (act.do === 'lift') faults.lift()
    else if (act.do === 'wait') return this.clock.advance(act.ms)
    return undefined
  }

  #initialize(): void {
    const agent = this.#agent
    // The host knows that the user of the first token has left.
    if (this.#floor > 0 && this.#host !== 'a provider' && !agent.getIsInitialized()) this.#update()
    this.#call('initialize', agent.initialize({ context: { note: this.#secret } }))
  }

  #update(): void {
    this.#given = this.#mint()
    const floor = serialOf(this.#given) - 1
    const updating = this.#agent.updateAccessToken(this.#given)
    this.#call('update', updating, () => {
      this.#floor = Math.max(this.#floor, floor)
    })
  }

  #signOut(): void {
    const secret = this.#secret
    this.#call('sign out', this.#agent.logout(), () => {
      const { sessionStorage, localStorage } = this.#tab
      const stored = JSON.stringify([...sessionStorage.items, ...localStorage.items])
      if (stored.includes(secret)) this.problems.push('the stores still have what the user wrote')
    })
    this.#leave()
  }

  #leave(): void {
    this.#floor = serialOf(this.#mint())
    this.#users++
    this.#given = this.#mint()
    this.#seen = undefined
  }

  async #signOutElsewhere(): Promise<void> {
    if (!this.#agent.getIsInitialized() || this.#seen !== this.#user) return
    const tab = this.#browser.open()
    const other = new AiAgent(this.#config(this.#mint()), tab.environment)
    this.#call('initialize elsewhere', other.initialize())
    await this.clock.advance(1_000)
    if (other.getIsInitialized()) {
      this.#call('sign out elsewhere', other.logout())
      await this.clock.advance(1_000)
      this.#leave()
    }
    this.#call('destroy elsewhere', other.destroy())
    await this.clock.advance(1_000)
    tab.close()
  }

  async #finish(): Promise<void> {
    const { clock } = this
    await clock.advance(130_000)
    // A connection is tried again for any time.
    for (const { name, isSettled } of this.#calls)
      if (!isSettled && name !== 'connect') this.problems.push(`${name} has not settled`)
    this.#answer = 'well'
    this.emulator.faults.lift()
    if (this.#host !== 'a provider') this.#update()
    await clock.advance(1_000)
    const agent = this.#agent
    // The first attempt may meet the token of another user.
    for (let attempts = 0; attempts < 2 && !agent.isConnected(); attempts++) {
      this.#initialize()
      await clock.advance(35_000)
      this.#call('connect', agent.connect())
      await clock.advance(35_000)
    }
    if (!agent.isConnected()) this.problems.push(`at the end, the chat is ${agent.getState()}`)
    this.#signOut()
    await clock.advance(35_000)
    this.#call('destroy', agent.destroy())
    await clock.advance(20_000)
    for (const { name, isSettled } of this.#calls) if (!isSettled) this.problems.push(`${name} has never settled`)
  }

  /** A token leaves the tab. */
  #observe(text: string | null | undefined, where: string): void {
    const token = /eyJ[\w-]+\.[\w-]+\.[\w-]*/.exec(text ?? '')?.[0]
    if (!token) return
    if (serialOf(token) <= this.#floor) this.problems.push(`${where} has the token of a user who has left`)
    const user = subjectOf(token)
    if (this.#seen !== undefined && user !== this.#seen) this.#floor = Math.max(this.#floor, serialOf(token) - 1)
    this.#seen = user
  }

  #call(name: string, promise: Promise<unknown>, then = () => {}): void {
    const call = { name, isSettled: false }
    this.#calls.push(call)
    const settle = () => {
      call.isSettled = true
    }
    promise.then(then).then(settle, settle)
  }

  get #user(): string {
    return ['customer', 'new-customer'][this.#users % 2] as string
  }

  /** What only the present user writes. */
  get #secret(): string {
    return `SECRET ${this.#users}.`
  }

  #mint(): string {
    return this.emulator.control.issueToken({ subject: this.#user })
  }

  readonly #give = async (): Promise<string> => {
    const token = this.#mint()
    this.#running++
    try {
      if (this.#answer === 'fails') throw new TypeError('fetch failed')
      if (this.#answer === 'late') await new Promise<void>(resolve => this.clock.setTimeout(resolve, 12_000))
      if (this.#answer === 'hangs') await new Promise<never>(() => {})
      return token
    } finally {
      this.#running--
    }
  }

  #config(accessToken: string): AiAgentConfig {
    const auth: Record<Host, AuthenticationInput> = {
      'a token': { type: 'pre-auth', accessToken },
      refreshTokenFn: { type: 'pre-auth', accessToken, refreshTokenFn: this.#give },
      'a provider': { getToken: this.#give },
    }
    const { origin } = this.emulator
    return {
      id: 'account',
      endpoint: origin,
      auth: auth[this.#host],
      tabs: 'share',
      resume: true,
      enableLogging: false,
    }
  }

  #open(tab: FakeTab): AiAgent {
    const { environment } = tab
    const { fetch, WebSocket } = environment as Environment
    const observe = this.#observe.bind(this)
    const watched: Partial<Environment> = {
      fetch: (input, init) => {
        observe(new Headers(init?.headers).get('authorization'), new URL(input).pathname)
        return fetch(input, init)
      },
      WebSocket: class extends WebSocket {
        override send(text: string): void {
          observe(text, 'a frame')
          super.send(text)
        }
      },
    }
    return new AiAgent(this.#config(this.#given), { ...environment, ...watched })
  }
}

const pageActOf = (...kinds: readonly PageAct['do'][]) =>
  fc.constantFrom(...kinds).map(kind => ({ do: kind }) as PageAct)

const PAGE_ACT: fc.Arbitrary<PageAct> = fc.oneof(
  { weight: 6, arbitrary: pageActOf('initialize', 'connect', 'send', 'ask', 'disconnect') },
  { weight: 5, arbitrary: pageActOf('update', 'update to another user', 'another user at the host', 'refuse') },
  { weight: 3, arbitrary: pageActOf('sign out', 'sign out elsewhere', 'destroy') },
  {
    weight: 2,
    arbitrary: fc.constantFrom('well', 'late', 'hangs', 'fails').map(how => ({ do: 'answer', how }) as const),
  },
  {
    weight: 2,
    arbitrary: fc
      .constantFrom<Fault>(
        { kind: 'answer', status: 401, times: 1 },
        { kind: 'answer', status: 503, times: 2 },
        { kind: 'rate-limit', retryAfterSeconds: 2, times: 1 },
        { kind: 'delay-requests', ms: 3_000, times: 3 },
        { kind: 'hang-request' },
      )
      .map(fault => ({ do: 'fault', fault }) as const),
  },
  { weight: 1, arbitrary: pageActOf('lift') },
  { weight: 6, arbitrary: waitOf(0, 5, 50, 1_000, 13_000, 31_000, 3_310_000) },
)

/** Tokens of one user that replace each other in one turn: none is sent or used behind a later one. */
const REPLACED_AT_ONCE: PageAct[][] = [
  [{ do: 'connect' }, { do: 'update' }, { do: 'update' }, { do: 'update' }],
  [
    { do: 'update' },
    { do: 'fault', fault: { kind: 'answer', status: 401, times: 1 } },
    { do: 'update' },
    { do: 'connect' },
  ],
]

describe('the requests of an agent', () => {
  it.each(HOSTS)(
    '[SEC-15] [SEC-16] [SEC-60] [REL-110] carry no token of a user who has left, whatever happens: %s',
    async host => {
      const unhandled = watchRejections()
      const check = async (acts: readonly PageAct[]) => {
        const page = new Page(host)
        await page.play(acts)
        expect([...page.problems, ...unhandled.splice(0)]).toEqual([])
      }
      await fc.assert(fc.asyncProperty(fc.array(PAGE_ACT, { maxLength: 12 }), check), {
        numRuns: propertyRuns(25),
        examples: REPLACED_AT_ONCE.map((acts): [PageAct[]] => [acts]),
      })
    },
    120_000,
  )
})
