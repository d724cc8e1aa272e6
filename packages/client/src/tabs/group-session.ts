import type { SessionSharing } from './shared-session-store.ts'
import type { SocketHub } from './socket-hub.ts'
import type { TabLink } from './tab-link.ts'
import type { TabParts } from './tab-parts.ts'
import type { TabSockets } from './tab-sockets.ts'

interface GroupSessionOptions {
  readonly parts: Pick<TabParts, 'session' | 'lifecycle'>
  readonly link: Pick<TabLink, 'key' | 'enter' | 'leave' | 'end' | 'post' | 'postState'>
  readonly sockets: Pick<TabSockets, 'handleSession' | 'handleLeader'>
  /** The hub of this tab, while it leads. */
  hub(): Pick<SocketHub, 'reset'> | undefined
  /** Whether a message of another tab is being applied, which is not repeated. */
  isApplying(): boolean
  /** Leaves the other tabs, and calls {@link GroupSession.leave}. */
  leave(reason: 'session_ended' | 'destroyed'): void
}

/** The session that the tabs of a conversation are in, as one of them knows it. */
export class GroupSession implements SessionSharing {
  readonly #options: GroupSessionOptions
  #id: string | undefined
  /** The session in which the conversation began: it continues in another one where the service has forgotten it. */
  #conversation: string | undefined
  /** The session that other tabs are in, as long as no leader has named one. */
  #reported: string | undefined
  /** Calls of {@link join} that wait for a session. */
  #joining: (() => void)[] = []

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

  async join(key: string): Promise<string | undefined> {
    const { link, hub, leave } = this.#options
    if (link.key !== key) {
      leave('session_ended')
      await link.enter(key)
    }
    while (link.key === key && this.#id === undefined && !hub())
      await new Promise<void>(resolve => this.#joining.push(resolve))
    return link.key === key ? this.#id : undefined
  }

  use(sessionId: string): void {
    const { link, hub, isApplying } = this.#options
    if (link.key === undefined || sessionId === this.#id) return
    this.#id = sessionId
    const conversation = (this.#conversation ??= sessionId)
    hub()?.reset(sessionId)
    if (!isApplying()) link.post(undefined, { kind: 'session', sessionId, conversation })
  }

  drop(): void {
    if (this.#options.hub()) this.#id = undefined
  }

  end(): void {
    this.#options.leave('destroyed')
    this.#options.link.end()
  }

  /** Another tab has named the session: the agent of this tab joins it. */
  moveTo(sessionId: string, conversation: string | undefined): void {
    const { parts, link, hub, sockets } = this.#options
    const { session, lifecycle } = parts
    const isMoving = session.id !== undefined && session.id !== sessionId
    const isAnother = conversation !== this.#conversation
    this.#id = sessionId
    hub()?.reset(sessionId)
    if (isMoving) {
      if (isAnother) lifecycle.dropConversation()
      session.join(sessionId)
      sockets.handleSession(sessionId)
    }
    this.#conversation = conversation
    this.#wake()
    if (hub()) link.postState()
  }

  /**
   * A tab opens a socket in a session, which becomes that of the group if it has none.
   *
   * @returns false where the group is in another session
   */
  accept(sessionId: string): boolean {
    return (this.#id ??= sessionId) === sessionId
  }

  /** A tab that does not lead has named its session; undefined once a leader has announced itself. */
  report(sessionId: string | undefined): void {
    this.#reported = sessionId
  }

  /** This tab leads. The leader that could name the session is frozen or gone. */
  lead(): void {
    this.#id ??= this.#reported
    this.#wake()
  }

  /** This tab has a user now: it leaves the anonymous ones with the session, before the token is used. */
  takeTo(key: string): void {
    const { link, sockets } = this.#options
    if (this.#id !== undefined) link.post(undefined, { kind: 'taken', sessionId: this.#id })
    link.leave()
    void link.enter(key)
    sockets.handleLeader()
  }

  /** A tab that has a user now has taken the session with it: this one needs another. What it shows stays. */
  handleTaken(sessionId: string): void {
    if (sessionId !== this.#id) return
    const { parts, hub, sockets } = this.#options
    this.#id = this.#conversation = this.#reported = undefined
    parts.session.forget(sessionId)
    hub()?.reset(undefined)
    sockets.handleSession('')
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
