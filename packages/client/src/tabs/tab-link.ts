import { readFencedReason } from '@aiagent/protocol'
import type { DeliveryReason } from '../log/delivery-state.ts'
import type { Logger } from '../logger.ts'
import type { Clock } from '../platform/clock.ts'
import { hold, names } from '../platform/locks.ts'
import type { PageWindow } from '../platform/page.ts'
import { fnv1a } from '../util/fnv1a.ts'
import { LeaderWatch } from './leader-watch.ts'
import { Leadership } from './leadership.ts'
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

/** How long the other tabs may take to let go of a session, in milliseconds. */
const LET_GO_LIMIT_MS = 1_000

/** How long a leader may have no session before it lets another tab try, in milliseconds. */
const SESSION_LIMIT_MS = 10_000

export interface TabLinkOptions {
  readonly window: PageWindow
  readonly clock: Clock
  /** Unique for this tab and agent. */
  readonly id: string
  readonly signOuts: SignOuts
  readonly logger: Pick<Logger, 'warn'>
  /** The session of the group, and that in which its conversation began; undefined while there is none. */
  place(): { readonly sessionId: string | undefined; readonly conversation: string | undefined }
  /** This tab leads from now on, or no longer. */
  onLeads(leads: boolean): void
  /** Another tab leads, or none: it has still to be told. */
  onLeader(): void
  /** This tab tells the others what it has, as after it has joined. */
  onJoined(): void
  onMessage(envelope: TabEnvelope): void
  /** What other tabs had said when this one left them, in order: it is not told what becomes of that. */
  onUnheard(envelopes: readonly TabEnvelope[], reason: DeliveryReason): void
  /** This tab has missed something that another one has posted, as the numbers of its messages show. */
  onMissed(tab: string): void
  /** Other tabs have ended. Only the leader is told. */
  onEnded(tabs: readonly string[]): void
  /** The user of the group has signed out, which this tab was not told. */
  onSignedOut(): void
  /** Something is about to happen in the group: what this tab was not told may have ended its session. */
  checkSession(): void
}

interface Membership {
  /** Start of all names: a fingerprint of deployment, agent and user. */
  readonly name: string
  readonly key: string
  /** The last sign-out when this tab joined. */
  readonly signOut: string | undefined
  readonly leadership: Leadership
  readonly releaseTab: () => void
  timer: unknown
}

export class TabLink {
  readonly #options: TabLinkOptions
  readonly #channel: TabChannel
  readonly #watch = new LeaderWatch()
  #membership: Membership | undefined
  /** Since when this tab leads, on the monotonic clock; undefined while it does not. */
  #leadsSince: number | undefined
  #leader: string | undefined
  #fence = 0
  /** Whether this tab neither leads nor waits to lead. */
  #isResting = false
  /** The tabs that have said something. */
  readonly #tabs = new Set<string>()
  /** Calls that wait for an answer: `from` is the tab that gives it, undefined when there is another leader, or none. */
  readonly #syncing = new Map<number, (from: string | undefined) => void>()
  #nonce = 0

  constructor(options: TabLinkOptions) {
    this.#options = options
    this.#channel = new TabChannel(options.window, options.id)
    options.window.addEventListener('pagehide', this.#hidden)
    options.window.addEventListener('pageshow', this.#shown)
  }

  get isLeader(): boolean {
    return this.#leadsSince !== undefined
  }

  /** The leading tab; undefined while none is known. */
  get leader(): string | undefined {
    return this.#leader
  }

  /** The fingerprint of the group; undefined while this tab is alone. */
  get key(): string | undefined {
    return this.#membership?.key
  }

  /** Start of the names of the group's locks. */
  get name(): string | undefined {
    return this.#membership?.name
  }

  /** The number of the present leader, above those of all before. */
  get fence(): number {
    return this.#fence
  }

  /** Joins the tabs with a key. Resolves once the others can see this tab. */
  async enter(key: string): Promise<void> {
    const { window, id, signOuts, onJoined } = this.#options
    const signOut = signOuts.last(key)
    // What the tabs of a user say who has signed out, as long as they have not noticed it, reaches no tab of the next user.
    const name = `aiagent-tabs-${TAB_VERSION}-${key}${signOut === undefined ? '' : `-${fnv1a(signOut)}`}`
    this.#channel.open(name, envelope => this.#receive(envelope))
    // Shows the others that this tab lives. Rejected where the page ends.
    const tab = hold(window, `${name}-tab-${id}`).catch(() => () => {})
    const releaseTab = () => void tab.then(release => release())
    const leadership = new Leadership({ window, name, onLead: () => this.#lead(), onLost: () => this.#follow() })
    signOuts.join(key)
    this.#membership = { name, key, signOut, leadership, releaseTab, timer: undefined }
    await tab
    if (this.#membership?.leadership !== leadership) return
    this.#watch.reset()
    this.post(undefined, { kind: 'hello', isNew: true })
    onJoined()
    if (!this.#isResting) leadership.start()
    this.#look()
  }

  /** Leaves the group. What the others have said by then is passed on with the reason once it has arrived. */
  leave(reason: DeliveryReason): void {
    const { onUnheard } = this.#options
    if (this.#channel.isOpen) this.#part(() => this.#channel.leave(envelopes => onUnheard(envelopes, reason)))
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
    const { window } = this.#options
    window.removeEventListener('pagehide', this.#hidden)
    window.removeEventListener('pageshow', this.#shown)
    this.leave('destroyed')
  }

  /** Sends a message to one tab, or to all others. */
  post(to: string | undefined, message: TabMessage): void {
    if (!this.#membership) return
    const { id, onMessage, logger } = this.#options
    if (to === id) return onMessage({ from: id, to, number: undefined, message })
    try {
      this.#channel.post(to, message)
    } catch (error) {
      logger.warn('A message to the other tabs could not be posted.', { error })
    }
  }

  /** Looks after a tab that was heard of, as after those that were heard. */
  watch(tab: string): void {
    this.#tabs.add(tab)
  }

  /** Tells all who leads, and in which session. */
  postState(): void {
    this.post(undefined, { kind: 'state', fence: this.#fence, ...this.#options.place() })
  }

  /** Resolves when everything has arrived that the leader had passed on by now. */
  async synced(): Promise<void> {
    const nonce = ++this.#nonce
    let isAnswered = false
    while (!isAnswered && this.#membership && !this.isLeader) {
      isAnswered = await new Promise<boolean>(resolve => {
        this.#syncing.set(nonce, from => resolve(from !== undefined))
        if (this.#leader !== undefined) this.post(this.#leader, { kind: 'sync', nonce })
      })
      this.#syncing.delete(nonce)
    }
  }

  /**
   * Makes the other tabs let go of a session. Resolves when each of them has, or at the time limit: one that is frozen finds
   * out when it runs again.
   */
  async take(sessionId: string): Promise<void> {
    const { clock } = this.#options
    const membership = this.#membership
    if (!membership) return
    const nonce = ++this.#nonce
    const waiting = await this.#living(membership)
    waiting.delete(this.#options.id)
    await new Promise<void>(resolve => {
      const timer = clock.setTimeout(resolve, LET_GO_LIMIT_MS)
      const answered = (from?: string) => {
        if (from !== undefined) waiting.delete(from)
        if (waiting.size > 0 && this.#membership === membership) return
        clock.clearTimeout(timer)
        resolve()
      }
      this.#syncing.set(nonce, answered)
      this.post(undefined, { kind: 'taken', sessionId, nonce })
      answered()
    })
    this.#syncing.delete(nonce)
  }

  /**
   * The service has closed the socket for good, or refused the number. The tab then waits behind the others, unless it was
   * a plain end.
   *
   * @param reason of a refusal: names the number of the present holder
   * @returns whether another tab may have connected
   */
  async handleEviction(isRefused: boolean, reason: string): Promise<boolean> {
    const { leadership, name } = this.#membership ?? {}
    if (!leadership) return false
    const isHolder = await leadership.isHolder(`${name}-tab-${this.#options.id}`)
    if (isRefused) this.#fence = Math.max(this.#fence, readFencedReason(reason, this.#options.clock.now()) ?? 0)
    if (isHolder && !isRefused) return false
    leadership.release()
    // The hub first tells its own tab of the end.
    void Promise.resolve().then(() => this.#follow())
    return true
  }

  #lead(): void {
    const { clock, id, onLeads } = this.#options
    this.#fence = Math.max(clock.now(), this.#fence + 1)
    this.#leadsSince = clock.monotonic()
    onLeads(true)
    this.#setLeader(id)
    this.postState()
  }

  /** Another tab leads now, or may. */
  #follow(): void {
    if (this.#stopLeading() && this.#leader === this.#options.id) this.#setLeader(undefined)
    if (!this.#isResting) this.#membership?.leadership.start()
  }

  /** Returns whether this tab led. */
  #stopLeading(): boolean {
    const wasLeading = this.isLeader
    this.#leadsSince = undefined
    if (wasLeading) this.#options.onLeads(false)
    return wasLeading
  }

  #setLeader(leader: string | undefined): void {
    if (leader === this.#leader) return
    this.#leader = leader
    this.#wake()
    this.#options.onLeader()
  }

  #wake(): void {
    for (const resolve of [...this.#syncing.values()]) resolve(undefined)
  }

  /** Looks after the other tabs, regularly. */
  #look(): void {
    const membership = this.#membership
    if (!membership || this.#hasLeft()) return
    membership.timer = this.#options.clock.setTimeout(() => this.#look(), LOOK_MS)
    if (this.isLeader) return void this.#findEnded(membership)
    if (this.#isResting) return
    const next = this.#watch.look()
    if (next === 'take') membership.leadership.take()
    else if (next === 'greet') this.post(undefined, { kind: 'hello', isNew: false })
  }

  /** Whether the user of the group has signed out, which this tab was not told. Then it leaves too. */
  #hasLeft(): boolean {
    const { signOuts, onSignedOut, checkSession } = this.#options
    if (!this.#membership) return false
    if (signOuts.last(this.#membership.key) !== this.#membership.signOut) {
      onSignedOut()
      return true
    }
    checkSession()
    return false
  }

  async #living({ name }: Membership): Promise<Set<string>> {
    const start = `${name}-tab-`
    const held = await names(this.#options.window, start)
    return new Set([...held.keys()].map(each => each.slice(start.length)))
  }

  async #findEnded(membership: Membership): Promise<void> {
    const { id, onEnded } = this.#options
    const living = await this.#living(membership)
    if (!this.isLeader || this.#membership?.name !== membership.name) return
    const ended = [...this.#tabs].filter(tab => tab !== id && !living.has(tab))
    for (const tab of ended) {
      this.#tabs.delete(tab)
      this.#channel.forget(tab)
    }
    if (ended.length > 0) onEnded(ended)
  }

  #receive(envelope: TabEnvelope): void {
    const { id, onMessage, onMissed } = this.#options
    // Frames are many, and come from a leader that has answered something else first.
    if (envelope.message.kind !== 'frame' && this.#hasLeft()) return
    if (this.#channel.count(envelope)) onMissed(envelope.from)
    if ((envelope.to ?? id) !== id) return
    this.#handle(envelope)
    onMessage(envelope)
  }

  #handle({ from, message }: TabEnvelope): void {
    this.#tabs.add(from)
    if (from === this.#leader) this.#watch.handleSign()
    if (message.kind === 'hello' && this.isLeader) this.#answerHello()
    else if (message.kind === 'state') this.#handleState(from, message.fence)
    else if (message.kind === 'sync' && this.isLeader) this.post(from, { kind: 'synced', nonce: message.nonce })
    else if (message.kind === 'synced') this.#syncing.get(message.nonce)?.(from)
    else if (message.kind === 'bye' && from === this.#leader) this.#setLeader(undefined)
  }

  #answerHello(): void {
    const { clock, place } = this.#options
    const isStuck =
      place().sessionId === undefined && clock.monotonic() - (this.#leadsSince ?? Infinity) > SESSION_LIMIT_MS
    if (!isStuck) return this.postState()
    // This tab cannot create a session, for example because its calls fail.
    this.post(undefined, { kind: 'bye' })
    this.#membership?.leadership.release()
    this.#follow()
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
    if (leadsAgain) this.#options.onLeader()
    else this.#setLeader(from)
  }

  /** Two tabs may take the lock at the same moment. Whichever has it leads, whatever the other one has said before. */
  async #reclaim(): Promise<void> {
    const membership = this.#membership
    if (!(await membership?.leadership.isHolder(`${membership.name}-tab-${this.#options.id}`))) return
    if (this.#membership === membership && !this.isLeader) this.#lead()
  }

  /** Gives back everything that only a running page may hold. */
  #part(close: () => void): void {
    const { leadership, releaseTab, timer } = this.#membership ?? {}
    close()
    this.#options.clock.clearTimeout(timer)
    this.#stopLeading()
    leadership?.release()
    releaseTab?.()
  }

  /** The browser may keep the page in its back/forward cache, frozen. Another tab continues at once. */
  readonly #hidden = () => {
    if (this.#channel.isOpen) this.#part(() => this.#channel.close())
  }

  readonly #shown = ({ persisted }: { persisted?: boolean }) => {
    const membership = this.#membership
    if (!persisted || !membership) return
    if (this.#hasLeft()) return
    this.#membership = undefined
    this.#setLeader(undefined)
    void this.enter(membership.key)
  }
}
