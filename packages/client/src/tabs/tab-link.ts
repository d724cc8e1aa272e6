import { readFencedReason } from '@aiagent/protocol'
import type { DeliveryReason } from '../log/delivery.ts'
import type { Clock } from '../platform/environment.ts'
import { hold, names, type Release, tryHold } from '../platform/locks.ts'
import type { PageWindow } from '../platform/page.ts'
import type { AgentScope } from '../scope.ts'
import { fnv1a } from '../util/text.ts'
import { Leadership, LeaderWatch } from './leadership.ts'
import type { SignOuts } from './sign-outs.ts'
import { TabChannel } from './tab-channel.ts'
import { TAB_VERSION, type TabEnvelope, type TabMessage } from './tab-message.ts'

/*
 * The tie between the tabs of one conversation: which of them live, and who leads.
 *
 *   alone ── enter(key) ──► follower ── the lock is granted ──► leader
 *     ▲                       │  ▲                                │
 *     │                       │  └── taken away, or evicted ──────┤
 *     └──── leave() ──────────┴────────────────────────────────────┘
 *
 * A leader that ends releases its lock. One that is frozen does not: its followers ask it each second, and take the lock
 * away when it does not answer.
 */

/** Time between two looks after the other tabs, in milliseconds. */
const LOOK_MS = 1_000

/** How long the other tabs may take to answer, in milliseconds. */
const ANSWER_LIMIT_MS = 1_000

/** How long a look is enough for what is sent, in milliseconds: less than another tab waits for this one to let go of the session. */
const LOOK_VALID_MS = ANSWER_LIMIT_MS / 2

/** What a tab is told when it joins: it is not posted before another tab has said something. */
const TOLD_WHEN_JOINING: ReadonlySet<TabMessage['kind']> = new Set(['said', 'delivery', 'frame', 'read', 'context'])

/** What happens in the group, for the part above. */
export type LinkEvent =
  /** Something is about to happen: what this tab was not told may have ended the session of the group. */
  | { readonly kind: 'look' }
  /** Another tab leads, this one, or none. */
  | { readonly kind: 'leader' }
  /** This tab no longer leads. A `leader` follows, unless the page is left. */
  | { readonly kind: 'demoted' }
  /** A message of another tab, or of this one to itself. */
  | { readonly kind: 'message'; readonly from: string; readonly message: TabMessage }
  /**
   * Something that another tab has posted was lost, as the numbers of its messages show; undefined where something of any tab may
   * be lost, before this tab has a leader again.
   */
  | { readonly kind: 'missed'; readonly tab: string | undefined }
  /** The page is being left: the last moment to tell the other tabs something. */
  | { readonly kind: 'leaving' }
  /** Other tabs have ended, some of which may come back. Only the leader learns of it. */
  | { readonly kind: 'ended'; readonly tabs: readonly string[]; readonly mayReturn: ReadonlySet<string> }
  /** The user of the group has signed out, which this tab was not told. */
  | { readonly kind: 'signed out' }
  /** This tab has left the group. */
  | { readonly kind: 'left'; readonly reason: DeliveryReason }
  /** What the others had said by then, in order: this tab does not learn what becomes of it. */
  | { readonly kind: 'unheard'; readonly envelopes: readonly TabEnvelope[]; readonly reason: DeliveryReason }

interface Membership {
  /** Start of all names: a fingerprint of deployment, agent and user. */
  readonly name: string
  readonly key: string
  /** The last sign-out when this tab joined. */
  readonly signOut: string | undefined
  readonly leadership: Leadership
  readonly releaseTab: Release
  timer: unknown
}

export class TabLink {
  /** Unique for this tab and agent. */
  readonly id: string
  readonly #window: PageWindow
  readonly #scope: AgentScope<never>
  readonly #signOuts: SignOuts
  readonly #handle: (event: LinkEvent) => void
  readonly #channel: TabChannel
  readonly #watch = new LeaderWatch()
  #membership: Membership | undefined
  /** A lock that a page holds until it ends or leaves the group, also while it is in the back/forward cache: it has its queue. */
  #page: Promise<Release> | undefined
  /** Since when this tab leads, on the monotonic clock; undefined while it does not. */
  #leadsSince: number | undefined
  #leader: string | undefined
  #fence = 0
  /** On the monotonic clock. */
  #lookedAt = -Infinity
  /** Whether this tab neither leads nor waits to lead. */
  #isResting = false
  /** The tabs that have said something. */
  readonly #tabs = new Set<string>()
  /** Calls that wait for an answer: `from` is the tab that gives it, undefined when there is another leader, or none. */
  readonly #syncing = new Map<number, (from: string | undefined) => void>()
  #nonce = 0

  constructor(scope: AgentScope<never>, window: PageWindow, signOuts: SignOuts, handle: (event: LinkEvent) => void) {
    this.#scope = scope
    this.id = scope.environment.randomUUID()
    this.#window = window
    this.#signOuts = signOuts
    this.#handle = handle
    this.#channel = new TabChannel(window, this.id)
    window.addEventListener('pagehide', this.#hidden)
    window.addEventListener('pageshow', this.#shown)
  }

  get #clock(): Clock {
    return this.#scope.environment.clock
  }

  get isLeader(): boolean {
    return this.#leadsSince !== undefined
  }

  /** How long this tab has led, in milliseconds; 0 while it does not. */
  get leadsForMs(): number {
    return this.#leadsSince === undefined ? 0 : this.#clock.monotonic() - this.#leadsSince
  }

  /** The leading tab; undefined while none is known. */
  get leader(): string | undefined {
    return this.#leader
  }

  /** The fingerprint of the group; undefined while this tab is alone. */
  get key(): string | undefined {
    return this.#membership?.key
  }

  /** The number of the present leader, above those of all before. */
  get fence(): number {
    return this.#fence
  }

  /** Joins the tabs with a key. Resolves once the others can see this tab. */
  async enter(key: string): Promise<void> {
    const window = this.#window
    const signOut = this.#signOuts.last(key)
    // What the tabs of a user say who has signed out, as long as they have not noticed it, reaches no tab of the next user.
    const name = `aiagent-tabs-${TAB_VERSION}-${key}${signOut === undefined ? '' : `-${fnv1a(signOut)}`}`
    this.#channel.open(name, envelope => this.#receive(envelope))
    // Shows the others that this tab lives. Rejected where the page ends.
    const tabLock = `${name}-tab-${this.id}`
    const tab = hold(window, tabLock).catch(() => () => {})
    const releaseTab = () => void tab.then(release => release())
    this.#releasePage()
    this.#page = hold(window, `${name}-page-${this.id}`).catch(() => () => {})
    const leadership = new Leadership(window, name, tabLock, isLeading => (isLeading ? this.#lead() : this.#lose()))
    this.#signOuts.join(key)
    this.#membership = { name, key, signOut, leadership, releaseTab, timer: undefined }
    await tab
    if (this.#membership?.leadership !== leadership) return
    this.#watch.reset()
    this.post(undefined, { kind: 'hello', isNew: true })
    if (!this.#isResting) leadership.start()
    this.#lookAfter()
  }

  /** Leaves the group. What the others have said by then is an event with the reason once it has arrived. */
  leave(reason: DeliveryReason): void {
    this.#leave(reason)
    this.#handle({ kind: 'left', reason })
  }

  /** Leaves the group for another one, with everything that this tab has of the conversation. */
  async move(key: string): Promise<void> {
    this.#leave('session_ended')
    await this.enter(key)
  }

  #releasePage(): void {
    void this.#page?.then(release => release())
    this.#page = undefined
  }

  #leave(reason: DeliveryReason): void {
    const unheard = (envelopes: readonly TabEnvelope[]) => this.#handle({ kind: 'unheard', envelopes, reason })
    this.#part(() => this.#channel.leave(unheard))
    this.#releasePage()
    this.#membership = undefined
    this.#leader = undefined
    this.#isResting = false
    this.#tabs.clear()
    this.#wake()
  }

  /** Neither leads nor waits to lead until {@link wake}: this tab needs no connection. */
  rest(): void {
    this.#isResting = true
    this.#membership?.leadership.release()
    this.#stopLeading()
    this.#setLeader(undefined)
  }

  wake(): void {
    if (!this.#isResting) return
    this.#isResting = false
    this.#watch.reset()
    this.#membership?.leadership.start()
  }

  /** The agent is destroyed. */
  end(): void {
    const window = this.#window
    window.removeEventListener('pagehide', this.#hidden)
    window.removeEventListener('pageshow', this.#shown)
    this.leave('destroyed')
  }

  /**
   * Waits for a lock of the group.
   *
   * @throws the reason of the signal when it is aborted; `DOMException` when the page is about to end
   */
  hold(name: string, signal?: AbortSignal): Promise<Release> {
    return hold(this.#window, `${this.#membership?.name}-${name}`, { ...(signal && { signal }) })
  }

  /** Takes a lock of the group if it is free. Resolves with undefined if it is not. */
  tryHold(name: string): Promise<Release | undefined> {
    return tryHold(this.#window, `${this.#membership?.name}-${name}`)
  }

  /** Sends a message to one tab, or to all others. */
  post(to: string | undefined, message: TabMessage): void {
    if (!this.#membership) return
    if (to === undefined && this.#tabs.size === 0 && TOLD_WHEN_JOINING.has(message.kind)) return
    if (to === this.id) return this.#handle({ kind: 'message', from: to, message })
    try {
      this.#channel.post(to, message)
    } catch (error) {
      this.#scope.logger.warn('A message to the other tabs could not be posted.', { error })
    }
  }

  /** Sends a message to the leader, if there is one. */
  postToLeader(message: TabMessage): void {
    if (this.#leader !== undefined) this.post(this.#leader, message)
  }

  /** Something is about to happen: finds out what this tab was not told. */
  look(): void {
    this.#lookedAt = this.#clock.monotonic()
    this.#handle({ kind: 'look' })
  }

  /** Something is about to be sent: as {@link look}, unless this tab has just looked. */
  lookBeforeSend(): void {
    if (!(this.#clock.monotonic() - this.#lookedAt < LOOK_VALID_MS)) this.look()
  }

  /** Looks after tabs that were heard of, as after those that were heard. */
  watch(...tabs: readonly string[]): void {
    for (const tab of tabs) this.#tabs.add(tab)
  }

  /** Whether a tab of the group runs, or is frozen. */
  async isLiving(tab: string): Promise<boolean> {
    return this.#membership !== undefined && (await this.#living(this.#membership)).has(tab)
  }

  /** Resolves when everything has arrived that the leader had passed on by now. */
  async synced(): Promise<void> {
    const nonce = ++this.#nonce
    let isAnswered = false
    while (!isAnswered && this.#membership && !this.isLeader) {
      isAnswered = await new Promise<boolean>(resolve => {
        this.#syncing.set(nonce, from => resolve(from !== undefined))
        this.postToLeader({ kind: 'sync', nonce })
      })
      this.#syncing.delete(nonce)
    }
  }

  /** Resolves when everything has arrived that all other tabs have said by now, or at the time limit: one may be frozen. */
  syncedWithAll(): Promise<void> {
    return this.#askAll(nonce => ({ kind: 'sync', nonce }))
  }

  /**
   * Makes the other tabs let go of a session. Resolves when each of them has, or at the time limit: one that is frozen finds
   * out when it runs again.
   */
  take(sessionId: string): Promise<void> {
    return this.#askAll(nonce => ({ kind: 'taken', sessionId, nonce }))
  }

  /** Asks all other tabs for something that each of them answers with `synced`. */
  async #askAll(questionOf: (nonce: number) => TabMessage): Promise<void> {
    const clock = this.#clock
    const membership = this.#membership
    if (!membership) return
    const nonce = ++this.#nonce
    const waiting = await this.#living(membership)
    waiting.delete(this.id)
    await new Promise<void>(resolve => {
      const timer = clock.setTimeout(resolve, ANSWER_LIMIT_MS)
      const answered = (from?: string) => {
        if (from !== undefined) waiting.delete(from)
        if (waiting.size > 0 && this.#membership === membership) return
        clock.clearTimeout(timer)
        resolve()
      }
      this.#syncing.set(nonce, answered)
      this.post(undefined, questionOf(nonce))
      answered()
    })
    this.#syncing.delete(nonce)
  }

  /**
   * The service has closed the socket for good, or refused the number. The tab then waits behind the others, unless it was
   * a plain end.
   *
   * @param reason of a refusal: names the number of the present holder
   */
  async handleEviction(isRefused: boolean, reason: string): Promise<void> {
    this.look()
    const { leadership } = this.#membership ?? {}
    if (!leadership) return
    const isHolder = await leadership.isHolder()
    if (isRefused) this.#fence = Math.max(this.#fence, readFencedReason(reason, this.#clock.now()) ?? 0)
    if (isHolder && !isRefused) return
    leadership.release()
    this.#follow()
  }

  /** Lets another tab lead, if one waits. */
  yield(): void {
    this.post(undefined, { kind: 'bye' })
    this.#membership?.leadership.release()
    this.#follow()
  }

  #lead(): void {
    // It ended, or froze, without a goodbye. Its last messages are lost if this page was stopped too, which nothing shows.
    if (this.#leader !== undefined && this.#leader !== this.id) this.#handle({ kind: 'missed', tab: undefined })
    this.#fence = Math.max(this.#clock.now(), this.#fence + 1)
    this.#leadsSince = this.#clock.monotonic()
    this.#setLeader(this.id)
  }

  /** Another tab has taken the lock away, since this page was stopped. */
  #lose(): void {
    this.#handle({ kind: 'missed', tab: undefined })
    this.#follow()
  }

  /** Another tab leads now, or may. */
  #follow(): void {
    if (this.#stopLeading() && this.#leader === this.id) this.#setLeader(undefined)
    if (!this.#isResting) this.#membership?.leadership.start()
  }

  /** Returns whether this tab led. */
  #stopLeading(): boolean {
    const wasLeading = this.isLeader
    this.#leadsSince = undefined
    if (wasLeading) this.#handle({ kind: 'demoted' })
    return wasLeading
  }

  #setLeader(leader: string | undefined): void {
    if (leader === this.#leader) return
    this.#leader = leader
    this.#wake()
    this.#handle({ kind: 'leader' })
  }

  #wake(): void {
    for (const resolve of [...this.#syncing.values()]) resolve(undefined)
  }

  /** Looks after the other tabs, regularly. */
  #lookAfter(): void {
    const membership = this.#membership
    if (!membership || this.#hasLeft()) return
    membership.timer = this.#clock.setTimeout(() => this.#lookAfter(), LOOK_MS, { background: true })
    if (this.isLeader) return void this.#findEnded(membership)
    if (this.#isResting) return
    const next = this.#watch.look()
    if (next === 'take') membership.leadership.take()
    else if (next === 'greet') this.post(undefined, { kind: 'hello', isNew: false })
  }

  /** Whether the user of the group has signed out, which this tab was not told. Then it leaves too. */
  #hasLeft(): boolean {
    if (!this.#membership) return false
    if (this.#signOuts.last(this.#membership.key) !== this.#membership.signOut) {
      this.#handle({ kind: 'signed out' })
      return true
    }
    this.look()
    return false
  }

  /** The tabs that run, or those whose page may run again. */
  async #living({ name }: Membership, what: 'tab' | 'page' = 'tab'): Promise<Set<string>> {
    const start = `${name}-${what}-`
    const held = await names(this.#window, start)
    return new Set([...held.keys()].map(each => each.slice(start.length)))
  }

  async #findEnded(membership: Membership): Promise<void> {
    const living = await this.#living(membership)
    if (!this.isLeader || this.#membership?.name !== membership.name) return
    const ended = [...this.#tabs].filter(tab => !living.has(tab))
    for (const tab of ended) {
      this.#tabs.delete(tab)
      this.#channel.forget(tab)
    }
    if (ended.length === 0) return
    const mayReturn = await this.#living(membership, 'page')
    this.#handle({ kind: 'ended', tabs: ended, mayReturn })
  }

  #receive(envelope: TabEnvelope): void {
    const { from, to = this.id, message } = envelope
    // Frames are many, and come from a leader that has answered something else first.
    if (message.kind !== 'frame' && this.#hasLeft()) return
    if (this.#channel.count(envelope)) this.#handle({ kind: 'missed', tab: from })
    if (to !== this.id) return
    this.#tabs.add(from)
    if (from === this.#leader) this.#watch.handleSign()
    if (message.kind === 'state') this.#handleState(from, message.fence)
    else if (message.kind === 'sync' && (this.isLeader || envelope.to === undefined))
      this.post(from, { kind: 'synced', nonce: message.nonce })
    else if (message.kind === 'synced') this.#syncing.get(message.nonce)?.(from)
    else if (message.kind === 'bye' && from === this.#leader) this.#setLeader(undefined)
    this.#handle({ kind: 'message', from, message })
  }

  #handleState(from: string, fence: number): void {
    // A leader that was frozen does not know yet that another one has followed.
    if (fence < this.#fence || (fence === this.#fence && this.isLeader)) return
    const leadsAgain = fence > this.#fence && from === this.#leader
    this.#fence = fence
    if (this.isLeader) {
      this.#follow()
      void this.#reclaim()
    }
    this.#watch.handleSign()
    // It has lost the lock meanwhile, and with it everything that was opened.
    if (leadsAgain) this.#handle({ kind: 'leader' })
    else this.#setLeader(from)
  }

  /** Two tabs may take the lock at the same moment. Whichever has it leads, whatever the other one has said before. */
  async #reclaim(): Promise<void> {
    const membership = this.#membership
    if (!(await membership?.leadership.isHolder())) return
    if (this.#membership === membership && !this.isLeader) this.#lead()
  }

  /** Gives back everything that only a running page may hold. */
  #part(close: () => void): void {
    const { leadership, releaseTab, timer } = this.#membership ?? {}
    close()
    this.#clock.clearTimeout(timer)
    this.#stopLeading()
    leadership?.release()
    releaseTab?.()
  }

  /** The browser may keep the page in its back/forward cache, frozen. Another tab continues at once. */
  readonly #hidden = () => {
    this.#handle({ kind: 'leaving' })
    this.#part(() => this.#channel.close())
  }

  readonly #shown = ({ persisted }: { persisted?: boolean }) => {
    const membership = this.#membership
    if (!persisted || !membership) return
    if (this.#hasLeft()) return
    this.#membership = undefined
    this.#setLeader(undefined)
    this.#handle({ kind: 'missed', tab: undefined })
    void this.enter(membership.key)
  }
}
