import { createEmulator } from '@aiagent/emulator'
import { parseClientMessage } from '@aiagent/protocol'
import { eventually, ManualClock, turnEventLoop } from '@aiagent/test-support'
import { AiAgent } from '../src/ai-agent.ts'
import { type DeliveryState, isSettled } from '../src/log/delivery.ts'
import { FakeBrowser, type FakeTab } from './fake-browser.ts'
import type { CAPABILITIES } from './set-up-tabs.ts'

/** What the host of a tab does to the conversation. */
export type HostStep = 'ask' | 'restart' | 'logout' | 'user'

/** What happens to one of the tabs, and how long it takes until the next step. */
export interface TabStep {
  readonly kind: 'send' | 'pass' | 'crash' | 'close' | 'reload' | 'freeze' | 'deafen' | 'thaw' | 'open' | HostStep
  /** 0 is the leader, the others in order. */
  readonly tab: number
  readonly waitMs: number
}

/** What can happen to a tab: the more often it is listed, the more probable. */
export const TAB_KINDS = [
  'send',
  'send',
  'send',
  'send',
  'pass',
  'crash',
  'close',
  'reload',
  'freeze',
  'thaw',
  'open',
] as const satisfies readonly TabStep['kind'][]

/** What hosts do, as {@link TAB_KINDS}. */
export const HOST_KINDS = ['ask', 'ask', 'restart', 'logout'] as const satisfies readonly HostStep[]

/** Times between two steps, as {@link TAB_KINDS}. */
export const WAITS_MS = [0, 0, 1, 20, 300, 4_000] as const

/** The highest number of steps of a history. */
export const MOST_STEPS = 30

/** The highest number of a tab in a history. Numbers beyond the last open tab begin with the second again. */
export const LAST_TAB = 5

/** What a history has shown to be wrong. */
export interface TabViolation {
  readonly kind: 'lost' | 'duplicated' | 'reordered' | 'untrue report' | 'transcript' | 'stuck' | 'user data'
  readonly text: string
}

const FIRST_TABS = 3
const MOST_TABS = 5

interface OpenTab {
  readonly tab: FakeTab
  readonly agent: AiAgent
  /** The last state of each message, as the tab reported it. */
  readonly outcomes: Map<string, DeliveryState>
  /** Whether it knows the session. */
  hasJoined: boolean
  /** The user whose token its host has given it last. */
  user: string
  /** How many logouts of other tabs it has been told. */
  logouts: number
  /** Whether it has ended, and could tell the others nothing in the end. */
  hasEndedSilently: boolean
}

/** Plays a history of up to five tabs against the emulated service, and checks the rules of sharing. */
export class TabCampaign {
  readonly #browser: FakeBrowser
  #open: OpenTab[] = []
  /** Those that have ended too. */
  readonly #all: OpenTab[] = []
  readonly #sent: { readonly id: string; readonly text: string; readonly by: OpenTab; readonly isLate: boolean }[] = []
  readonly #sending: Promise<unknown>[] = []
  /** Texts that were passed to `ask()`. */
  readonly #asked: string[] = []
  /** Changes of a delivery after its outcome, except a late acknowledgement. */
  readonly #undone: string[] = []
  /** Tokens in the stores of the tabs of a conversation when one of them signed out. */
  readonly #endedTokens = new Set<string>()
  /** Number of messages of the agent that were found after an outage. */
  #recovered = 0
  /** What each tab has said at the end. */
  readonly #last = new Set<string>()
  /** Restarts and logouts, of which each may create a session. */
  #renewals = 0
  /** Whether a page was stopped that lost what the others posted to it. */
  #hasDeaf = false
  #logouts = 0
  #texts = 0
  readonly #isSignedIn: boolean
  /** Who is signed in to the host app of all tabs. */
  #user = 'user-0'
  #users = 0
  readonly #userOf = new Map<string, string>()

  private constructor(browser: FakeBrowser, isSignedIn: boolean) {
    this.#browser = browser
    this.#isSignedIn = isSignedIn
  }

  /**
   * Plays a history.
   *
   * @param capabilities what the service announces
   * @param isSignedIn whether the agent needs a user, whose token the hosts have
   */
  static async play(
    steps: readonly TabStep[],
    capabilities: readonly (typeof CAPABILITIES)[number][],
    isSignedIn = false,
  ): Promise<TabCampaign> {
    const clock = new ManualClock()
    const settings = { heartbeatBeforeReply: false, capabilities: [...capabilities] }
    const emulator = createEmulator({ clock, settings, reply: ({ text }) => ({ content: `You said: ${text}` }) })
    const campaign = new TabCampaign(new FakeBrowser(clock, emulator), isSignedIn)
    await campaign.#play(steps)
    return campaign
  }

  async #play(steps: readonly TabStep[]): Promise<void> {
    for (let tab = 0; tab < FIRST_TABS; tab++) this.#openTab()
    // The first run of a process loads the chunks.
    await eventually(() => this.#open.every(({ agent }) => agent.isConnected()), 'the first connections')
    for (const step of steps) {
      this.#apply(step)
      // A browser runs all microtasks before the next event of any tab.
      for (let hop = 0; hop < 200; hop++) await Promise.resolve()
      if (step.waitMs > 0) await this.#browser.clock.advance(step.waitMs)
    }
    for (const { tab } of this.#open) tab.thaw()
    // Longer than the wait for a history, and than the highest wait before a reconnect.
    for (let turn = 0; turn < 60; turn++) await this.#browser.clock.advance(1_000)
    await Promise.all(this.#sending)
    await this.#connected()
    const before = this.#texts
    for (const open of this.#open) this.#send(open)
    for (let text = before + 1; text <= this.#texts; text++) this.#last.add(`message ${text}`)
    for (let turn = 0; turn < 5; turn++) await this.#browser.clock.advance(1_000)
    await Promise.all(this.#sending)
  }

  /** Passes more time where the machine has not kept up with the clock: keys are hashed beside it. */
  async #connected(): Promise<void> {
    const until = Date.now() + 10_000
    while (Date.now() < until && this.#open.some(({ agent }) => !agent.isConnected())) {
      await turnEventLoop()
      await this.#browser.clock.advance(100)
    }
  }

  violations(isExact: boolean): TabViolation[] {
    const { emulator, written } = this.#browser
    const found: TabViolation[] = []
    const add = (kind: TabViolation['kind'], text: string) => found.push({ kind, text })
    for (const change of this.#undone) add('untrue report', `changed after the outcome: ${change}`)
    const sessions = [...emulator.world.sessions.values()]
    // Each tab may begin again after a logout before it is notified of the session of another one.
    if (sessions.length > 1 + this.#renewals * MOST_TABS) add('duplicated', `${sessions.length} sessions were created`)
    const accepted = this.#accepted
    for (const { id, text, by, isLate } of this.#sent) {
      const times = accepted.filter(each => each === text).length
      if (times > 1) add('duplicated', `${text} was accepted ${times} times`)
      if (times > 0) continue
      // A tab that ends when the others have left its user is the last one that knows.
      if ((isLate || this.#userOf.get(text) !== this.#user) && !this.#open.includes(by)) continue
      // Nor does a tab know it that was stopped when all others ended that did.
      if (this.#hasDeaf && this.#all.every(each => each.hasEndedSilently || !each.outcomes.has(id))) continue
      const tabs = this.#renewals > 0 ? this.#all : this.#open
      const told = tabs.flatMap(({ outcomes }) => outcomes.get(id) ?? [])
      // What a tab has posted to a page that was stopped may end with that tab.
      if (isExact && this.#renewals === 0 && !this.#hasDeaf) add('lost', `${text} was lost, told ${told.join(', ')}`)
      else if (!told.some(outcome => outcome === 'unknown' || outcome === 'failed'))
        add('lost', `${text} was lost silently, told ${told.join(', ')}`)
    }
    for (const text of this.#asked) {
      const times = accepted.filter(each => each === text).length
      if (times > 1) add('duplicated', `${text} was accepted ${times} times`)
    }
    // Which socket wrote what the service accepted, in the order of acceptance.
    const socketsOf = new Map<string, Set<number>>()
    for (const { socket, text } of written) {
      const { content } = parseClientMessage(text)
      if (content !== undefined) socketsOf.set(content, (socketsOf.get(content) ?? new Set()).add(socket))
    }
    let last = 0
    // Sessions follow each other, so that only the order in one of them is known.
    for (const content of sessions.length > 1 ? [] : accepted) {
      const [socket = last, another] = socketsOf.get(content) ?? []
      if (another !== undefined) continue
      if (socket < last) add('reordered', `${content} was accepted from socket ${socket} after socket ${last}`)
      last = socket
    }
    for (const [index, open] of this.#open.entries()) {
      const sent = open.agent.getTranscript().filter(({ direction }) => direction === 'sent')
      const shown = sent.map(({ message }) => message.content ?? '')
      const twice = shown.filter((text, at) => text !== '' && shown.indexOf(text) !== at)
      if (twice.length > 0) add('transcript', `tab ${index} shows ${twice.join(', ')} twice`)
      const answers = open.agent
        .getTranscript()
        .flatMap(({ direction, message }) =>
          direction === 'received' && message.content?.startsWith('You said: ') ? [message.content] : [],
        )
      const again = answers.filter((text, at) => answers.indexOf(text) !== at)
      if (again.length > 0) add('transcript', `tab ${index} shows ${again.join(', ')} twice`)
      const unseen = this.#renewals > 0 ? [] : accepted.filter(text => !answers.includes(`You said: ${text}`))
      if (unseen.length > 0) add('transcript', `tab ${index} does not show the answers to ${unseen.join(', ')}`)
      const hidden = accepted.filter(text => this.#sent.some(each => each.text === text) && !shown.includes(text))
      if (this.#renewals === 0 && hidden.length > 0)
        add('transcript', `tab ${index} does not show ${hidden.join(', ')}`)
    }
    for (const { id, text } of this.#renewals > 0 ? [] : this.#sent) {
      const states = new Set(this.#open.flatMap(({ agent }) => agent.delivery(id)?.state ?? []))
      if (states.size > 1) add('untrue report', `${text} is ${[...states].join(' and ')}`)
    }
    for (const [index, { tab }] of this.#open.entries()) {
      const left = storedTokens(tab).filter(token => this.#endedTokens.has(token))
      if (left.length > 0) add('user data', `tab ${index} stores ${left.length} tokens from before a sign-out`)
    }
    found.push(...this.mixedUsers())
    const connected = this.#open.filter(({ agent }) => agent.isConnected()).length
    if (connected !== this.#open.length)
      add('stuck', `${connected} of ${this.#open.length} tabs are connected at the end`)
    const lastSessions = sessions.filter(({ accepted }) =>
      accepted.entries().some(({ message }) => this.#last.has(String(message.content))),
    )
    if (lastSessions.length > 1) add('stuck', `the tabs are in ${lastSessions.length} sessions at the end`)
    return found
  }

  /** Texts that the service accepted, session by session. A context has none. */
  get #accepted(): string[] {
    return [...this.#browser.emulator.world.sessions.values()].flatMap(({ accepted }) =>
      accepted.entries().flatMap(({ message, duplicate }) => (duplicate ? [] : (message.content ?? []))),
    )
  }

  /** What became of the messages that `send()` accepted, as any of the tabs reported it. */
  get counts() {
    const accepted = new Set(this.#accepted)
    const states = this.#sent.map(({ id }) => this.#all.flatMap(({ outcomes }) => outcomes.get(id) ?? []))
    const isAcknowledged = (reported: DeliveryState[]) => reported.includes('acknowledged')
    const others = states.filter(reported => !isAcknowledged(reported))
    return {
      messages: this.#sent.length,
      arrived: this.#sent.filter(({ text }) => accepted.has(text)).length,
      acknowledged: states.filter(isAcknowledged).length,
      failed: others.filter(reported => reported.includes('failed')).length,
      unknown: others.filter(reported => reported.includes('unknown')).length,
      recovered: this.#recovered,
    }
  }

  /** What one user has of another one. */
  mixedUsers(): TabViolation[] {
    if (!this.#isSignedIn) return []
    const found: TabViolation[] = []
    const add = (kind: TabViolation['kind'], text: string) => found.push({ kind, text })
    for (const { subject, received } of this.#browser.emulator.world.sessions.values())
      for (const { message } of received.entries()) {
        const { content = '', messageData = {} } = message ?? {}
        const context = messageData['context'] as { user?: string } | undefined
        const users = [this.#userOf.get(content), context?.user, subjectOf(messageData['token'])]
        for (const user of users)
          if (user !== undefined && user !== subject)
            add('user data', `${subject} has ${content || message?.role} of ${user}`)
      }
    for (const { agent, user } of this.#open) {
      if (user !== this.#user) add('user data', `a tab of ${user} is left, when ${this.#user} is signed in`)
      const said = agent.getTranscript().map(({ message }) => message.content?.replace('You said: ', '') ?? '')
      for (const text of said)
        if ((this.#userOf.get(text) ?? user) !== user) add('user data', `a tab of ${user} shows ${text}`)
    }
    return found
  }

  #apply({ kind, tab: index }: TabStep): void {
    const chosen = this.#pick(index)
    if (kind === 'open') {
      if (this.#open.length < MOST_TABS) this.#openTab()
      return
    }
    if (!chosen) return
    const { tab } = chosen
    // The last tab that runs and knows the session goes on: without one nothing can be said about its messages.
    const isLast = !this.#open.some(each => each.tab.isRunning && each.hasJoined && each !== chosen)
    if (kind === 'send' && tab.isRunning) this.#send(chosen)
    else if ((kind === 'ask' || kind === 'restart' || kind === 'logout' || kind === 'user') && tab.isRunning)
      this.#host(chosen, kind)
    else if (kind === 'thaw') tab.thaw()
    else if ((kind === 'freeze' || kind === 'deafen') && !isLast) {
      tab.freeze({ isDeaf: kind === 'deafen' })
      this.#hasDeaf ||= kind === 'deafen'
    } else if ((kind === 'crash' || kind === 'close' || kind === 'reload') && !isLast) {
      this.#open = this.#open.filter(each => each !== chosen)
      chosen.hasEndedSilently = kind === 'crash' || !tab.isRunning
      if (kind === 'crash') tab.crash()
      else tab.close()
      if (kind === 'reload') this.#openTab(tab)
    }
  }

  #pick(index: number): OpenTab | undefined {
    const { leader } = this.#browser.locks
    const others = this.#open.filter(({ tab }) => tab !== leader)
    if (index === 0) return this.#open.find(({ tab }) => tab === leader)
    return others[(index - 1) % Math.max(1, others.length)]
  }

  #openTab(previous?: FakeTab): void {
    const { emulator } = this.#browser
    const tab = this.#browser.open(previous?.sessionStorage)
    const agent = new AiAgent(
      {
        ...(this.#isSignedIn
          ? { id: 'account', auth: { type: 'pre-auth', accessToken: this.#token() } }
          : { id: 'help' }),
        endpoint: emulator.origin,
        tabs: 'share',
        resume: true,
        autoConnect: true,
        connectOnSend: true,
        enableLogging: false,
      },
      tab.environment,
    )
    const outcomes = new Map<string, DeliveryState>()
    const opened: OpenTab = {
      tab,
      agent,
      outcomes,
      hasJoined: false,
      user: this.#user,
      logouts: this.#logouts,
      hasEndedSilently: false,
    }
    agent.on('deliveryUpdate', ({ payload: { id, state } }) => {
      const before = outcomes.get(id)
      outcomes.set(id, state)
      const isLate = state === 'acknowledged' && (before === 'unknown' || before === 'failed')
      if (before && isSettled(before) && !isLate) this.#undone.push(`${id} in ${tab.id}: ${before} → ${state}`)
    })
    agent.on('messagesRecovered', ({ payload: { messages } }) => {
      this.#recovered += messages.length
    })
    agent.on('userChanged', () => {
      opened.logouts = this.#logouts
      this.#start(opened)
    })
    agent.on('connected', () => {
      opened.hasJoined = true
    })
    this.#start(opened)
    this.#open.push(opened)
    this.#all.push(opened)
  }

  #send(opened: OpenTab): void {
    const { agent, user } = opened
    const text = this.#text(user)
    // A tab that does not know its user yet has nothing that it could share: such a message ends with it.
    if (!agent.getIsInitialized()) return
    // The others have signed out, which this tab has not been told.
    const isLate = opened.logouts < this.#logouts
    const sending = agent.send(text).then(
      id => this.#sent.push({ id, text, by: opened, isLate }),
      // The host is told.
      () => {},
    )
    this.#sending.push(sending)
  }

  /** A host starts again when the user has left. */
  #start(opened: OpenTab): void {
    this.#begin(opened).catch(() => {})
  }

  async #begin(opened: OpenTab): Promise<void> {
    const { agent } = opened
    await this.#signIn(opened)
    await agent.initialize()
    if (!this.#isSignedIn) return
    // The user may have changed before the tab was one of those that are notified.
    await this.#signIn(opened)
    if (agent.getIsInitialized()) await agent.setContext({ user: opened.user })
  }

  async #signIn(opened: OpenTab): Promise<void> {
    if (!this.#isSignedIn || opened.user === this.#user) return
    opened.user = this.#user
    await opened.agent.updateAccessToken(this.#token())
  }

  #token(): string {
    return this.#browser.emulator.control.issueToken({ subject: this.#user })
  }

  #text(user: string): string {
    const text = `message ${++this.#texts}`
    this.#userOf.set(text, user)
    return text
  }

  #host(opened: OpenTab, step: HostStep): void {
    const { agent } = opened
    if (step === 'ask') {
      const text = this.#text(opened.user)
      this.#asked.push(text)
      // A failure is for the host of the tab.
      agent.ask(text).catch(() => {})
      return
    }
    if (!agent.getIsInitialized()) return
    this.#renewals++
    if (step === 'user') {
      opened.user = this.#user = `user-${++this.#users}`
      // The event `userChanged` follows.
      agent.updateAccessToken(this.#token()).catch(() => {})
    } else if (step === 'restart') agent.restartConnection().catch(() => {})
    else {
      opened.logouts = ++this.#logouts
      // Only tabs of one conversation are notified of each other's sign-outs.
      const sharing = agent.isConnected() ? this.#open.filter(each => each.agent.isConnected()) : []
      for (const token of sharing.flatMap(each => storedTokens(each.tab))) this.#endedTokens.add(token)
      agent.logout().then(
        () => this.#start(opened),
        () => {},
      )
    }
  }
}

/** Access tokens in the stores of a tab. */
function storedTokens({ sessionStorage, localStorage }: FakeTab): string[] {
  const stored = [...sessionStorage.items.values(), ...localStorage.items.values()]
  return stored.flatMap(text => text.match(/eyJ[\w-]+\.[\w-]+\.[\w-]+/g) ?? [])
}

/** The user of a token. */
function subjectOf(token: unknown): string | undefined {
  if (typeof token !== 'string') return undefined
  const { sub } = JSON.parse(atob(token.split('.')[1] ?? '')) as { sub?: string }
  return sub
}
