import type { Clock } from '../platform/clock.ts'
import { hold } from '../platform/locks.ts'
import type { PageWindow } from '../platform/page.ts'
import { withTimeLimit } from '../util/abort.ts'
import { isAnonymous } from './group-key.ts'
import type { SignOuts } from './sign-outs.ts'
import type { SocketHub } from './socket-hub.ts'
import type { TabLink } from './tab-link.ts'
import { TAB_VERSION } from './tab-message.ts'
import type { TabParts } from './tab-parts.ts'
import type { TabSockets } from './tab-sockets.ts'

/** How long taking the session away from the other tabs may take, in milliseconds. */
const TAKE_LIMIT_MS = 2_000

interface GroupSessionOptions {
  readonly parts: Pick<TabParts, 'session' | 'outbox' | 'dropConversation'>
  readonly window: PageWindow
  readonly clock: Clock
  readonly signOuts: SignOuts
  readonly link: Pick<TabLink, 'key' | 'enter' | 'leave' | 'end' | 'post' | 'postState' | 'take' | 'rest' | 'wake'>
  readonly sockets: Pick<TabSockets, 'handleSession' | 'rest' | 'leave' | 'wake'>
  /** The hub of this tab, while it leads. */
  hub(): Pick<SocketHub, 'reset'> | undefined
  /** Whether a message of another tab is being applied, which is not repeated. */
  isApplying(): boolean
  /** Another tab takes the session; undefined where that tab is not known. It goes on without this one. */
  taken(sessionId: string, by: string | undefined): void
  /** Leaves the other tabs, and calls {@link GroupSession.leave}. */
  leave(reason: 'session_ended' | 'destroyed'): void
}

/*
 * The session that the tabs of a conversation are in, as one of them knows it. A tab of an anonymous group that gets a user
 * takes it away from the others:
 *
 *   shared ── take() ──► taken away ── token used, enter() ──► shared with the tabs of the user
 *     │ ▲
 *     │ └─── something to send: another session ───┐
 *     └── `taken`, or found out later ──► gone ────┘
 */
export class GroupSession {
  readonly #options: GroupSessionOptions
  #id: string | undefined
  /** The session in which the conversation began: it continues in another one where the service has forgotten it. */
  #conversation: string | undefined
  /** The session that other tabs are in, as long as no leader has named one. */
  #reported: string | undefined
  /** Calls of {@link join} that wait for a session. */
  #joining: (() => void)[] = []
  /** Whether this tab takes the session away from the others, and has no use for another one. */
  #isTaking = false
  /** The session that it takes. */
  #own: string | undefined
  /** Sessions that other tabs have taken. Where the browser allows no storage, they are known from messages only. */
  readonly #gone = new Set<string>()

  constructor(options: GroupSessionOptions) {
    this.#options = options
  }

  get id(): string | undefined {
    return this.#id
  }

  /** The session, and the one in which the conversation began. */
  get place(): { readonly sessionId: string | undefined; readonly conversation: string | undefined } {
    return { sessionId: this.#id, conversation: this.#conversation }
  }

  /** Joins the tabs with this key. Resolves with their session; undefined for the first tab, which creates one. */
  async join(key: string): Promise<string | undefined> {
    const { link, hub, leave } = this.#options
    if (link.key !== key) {
      leave('session_ended')
      await link.enter(key)
    }
    link.wake()
    while (link.key === key && this.#id === undefined && !hub())
      await new Promise<void>(resolve => this.#joining.push(resolve))
    return link.key === key ? this.#id : undefined
  }

  /** This tab uses a session. */
  use(sessionId: string): void {
    const { link, hub, isApplying } = this.#options
    if (link.key === undefined || sessionId === this.#id) return
    this.#id = sessionId
    link.wake()
    const conversation = (this.#conversation ??= sessionId)
    hub()?.reset(sessionId)
    if (!isApplying()) link.post(undefined, { kind: 'session', sessionId, conversation })
  }

  /** The session of the group is no longer used. */
  drop(): void {
    if (this.#options.hub()) this.#id = undefined
  }

  /** The agent was destroyed. */
  end(): void {
    this.#options.leave('destroyed')
    this.#options.link.end()
  }

  /** Another tab has named the session: the agent of this tab joins it. */
  moveTo(sessionId: string, conversation: string | undefined): void {
    const { parts, link, hub, sockets } = this.#options
    const { session } = parts
    // Said before that tab knew.
    if (this.#isTaking || this.isGone(sessionId)) return
    const isMoving = session.id !== undefined && session.id !== sessionId
    const isAnother = conversation !== this.#conversation
    this.#id = sessionId
    hub()?.reset(sessionId)
    if (isMoving) {
      if (isAnother) parts.dropConversation()
      session.join(sessionId)
      sockets.handleSession(sessionId)
    }
    this.#conversation = conversation
    this.wake()
    this.#wake()
    if (hub()) link.postState()
  }

  /**
   * A tab opens a socket in a session, which becomes that of the group if it has none.
   *
   * @returns false where the group is in another session
   */
  accept(sessionId: string): boolean {
    return !this.isGone(sessionId) && (this.#id ??= sessionId) === sessionId
  }

  /** A tab that does not lead has named its session; undefined once a leader has announced itself. */
  report(sessionId: string | undefined): void {
    this.#reported = sessionId !== undefined && this.isGone(sessionId) ? undefined : sessionId
  }

  /** This tab leads. The leader that could name the session is frozen or gone. */
  lead(): void {
    this.#id ??= this.#reported
    this.#wake()
  }

  /** This tab gets a user: the anonymous ones let go of the session, which it takes with it by {@link enter}. */
  async take(): Promise<void> {
    const { window, clock, signOuts, link, sockets } = this.#options
    const { key } = link
    const id = this.#id
    if (key === undefined || id === undefined) return
    const take = async () => {
      if (this.isGone(id)) return this.handleTaken(id, undefined)
      this.#own = id
      signOuts.addTaken(key, id)
      // As long as the others may still write over this tab.
      await link.take(id)
      sockets.rest()
      link.rest()
    }
    this.#isTaking = true
    try {
      // Another tab may be taking it now, and may be frozen.
      const takeAlone = async (signal: AbortSignal) => {
        const release = await hold(window, `aiagent-taken-${TAB_VERSION}-${key}`, { signal })
        await take().finally(release)
      }
      await withTimeLimit(clock, TAKE_LIMIT_MS, undefined, takeAlone).catch(() => this.handleTaken(id, undefined))
    } finally {
      this.#isTaking = false
      this.#own = undefined
    }
  }

  /** This tab has a user now. */
  enter(key: string): void {
    const { link } = this.#options
    link.leave('session_ended')
    void link.enter(key)
    this.wake()
  }

  /** Another tab has taken the session: this one needs none before it has something to send. What it shows stays. */
  handleTaken(sessionId: string, by: string | undefined): void {
    const { parts, link, sockets, taken } = this.#options
    if (isAnonymous(link.key)) this.#gone.add(sessionId)
    if (sessionId !== this.#id) return
    this.#id = this.#conversation = this.#reported = undefined
    sockets.leave()
    parts.session.forget(sessionId)
    link.rest()
    taken(sessionId, by)
    if (parts.outbox.size > 0) this.wake()
  }

  /** Whether a session was taken out of the group, as far as this tab can know. */
  isGone(sessionId: string, key = this.#options.link.key): boolean {
    if (key === undefined || !isAnonymous(key) || sessionId === this.#own) return false
    return this.#gone.has(sessionId) || this.#options.signOuts.isTaken(key, sessionId)
  }

  /** Finds out what this tab was not told. */
  check(): void {
    if (this.#id !== undefined && this.isGone(this.#id)) this.handleTaken(this.#id, undefined)
  }

  /** There is something to send. */
  wake(): void {
    if (this.#isTaking) return
    this.#options.link.wake()
    this.#options.sockets.wake()
  }

  /** The transcript was dropped: the next session begins a conversation. */
  endConversation(): void {
    this.#conversation = undefined
  }

  /** This tab leaves the group. */
  leave(): void {
    this.#id = this.#conversation = this.#reported = undefined
    this.#wake()
  }

  #wake(): void {
    for (const resolve of this.#joining.splice(0)) resolve()
  }
}
