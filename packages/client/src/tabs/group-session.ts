import { PERSONA } from '@aiagent/protocol'
import { withTimeLimit } from '../util/abort.ts'
import { subjectFingerprint } from '../util/jwt.ts'
import type { LogReplica } from './log-replica.ts'
import type { SignOuts } from './sign-outs.ts'
import type { SocketHub } from './socket-hub.ts'
import type { TabLink } from './tab-link.ts'
import type { TabParts } from './tab-parts.ts'
import type { TabSockets } from './tab-sockets.ts'

/** How long taking the session away from the other tabs may take, in milliseconds. */
const TAKE_LIMIT_MS = 2_000

/** How long a leader may have no session before it lets another tab try, in milliseconds. */
const SESSION_LIMIT_MS = 10_000

/** The parts of the group that it uses. */
export interface GroupParts {
  readonly signOuts: SignOuts
  readonly link: TabLink
  readonly hub: SocketHub
  readonly sockets: TabSockets
  readonly replica: LogReplica
}

/*
 * The session that the tabs of a conversation are in, as one of them knows it. A tab of an anonymous group that gets a user
 * takes it away from the others:
 *
 *   shared ── takeAway() ► taken away ── token used, enter() ──► shared with the tabs of the user
 *     │ ▲
 *     │ └─── something to send: another session ───┐
 *     └── `taken`, or found out later ──► gone ────┘
 */
export class GroupSession {
  readonly #parts: TabParts
  readonly #group: GroupParts
  #id: string | undefined
  /** The session in which the conversation began: it continues in another one where the service has forgotten it. */
  #conversation: string | undefined
  /** The session that other tabs are in, as long as no leader has named one. */
  #reported: string | undefined
  /** Calls of {@link take} that wait for a session. */
  #joining: (() => void)[] = []
  /** This tab takes the session away from the others, and has no use for another one: it waits to do so, or has begun. */
  #taking: 'waiting' | 'begun' | undefined

  constructor(parts: TabParts, group: GroupParts) {
    this.#parts = parts
    this.#group = group
  }

  // ── The session of all tabs: the first one restores or creates it, the others use it ──────────────────────────────

  async take(key: string, takeOwn: () => Promise<string | undefined>): Promise<string | undefined> {
    const shared = await this.#join(key)
    const sessionId = shared ?? (await takeOwn())
    if (sessionId === undefined || this.isGone(sessionId, key)) return undefined
    this.use(sessionId)
    return sessionId
  }

  /** Joins the tabs with this key. Resolves with their session; undefined for the first tab, which creates one. */
  async #join(key: string): Promise<string | undefined> {
    const link = this.#group.link
    if (link.key !== key) {
      link.leave('session_ended')
      await link.enter(key)
      await this.#parts.outbox.handleJoined()
    }
    link.wake()
    while (link.key === key && this.#id === undefined && !link.isLeader)
      await new Promise<void>(resolve => this.#joining.push(resolve))
    return link.key === key ? this.#id : undefined
  }

  /** This tab uses a session. */
  use(sessionId: string): void {
    const link = this.#group.link
    if (link.key === undefined || sessionId === this.#id) return
    link.wake()
    this.#conversation ??= sessionId
    this.#set(sessionId)
    link.post(undefined, { kind: 'session', sessionId, conversation: this.#conversation })
  }

  /** The session of the group is no longer used. */
  drop(): void {
    if (this.#group.link.isLeader) this.#id = undefined
  }

  /** The agent was destroyed. */
  end(): void {
    this.#group.link.end()
  }

  // ── The session that the other tabs name ──────────────────────────────────────────────────────────────────────────

  /** Another tab has named the session: the agent of this tab joins it. */
  moveTo(sessionId: string, conversation: string | undefined): void {
    const { session } = this.#parts
    // Said before that tab knew.
    if (this.#taking || this.isGone(sessionId)) return
    const isMoving = session.id !== undefined && session.id !== sessionId
    const isAnother = conversation !== this.#conversation
    this.#set(sessionId)
    if (isMoving) {
      if (isAnother) this.#parts.dropConversation()
      session.join(sessionId)
      this.#group.sockets.handleSession(sessionId)
    }
    this.#conversation = conversation
    this.wake()
    this.#wake()
    if (this.#group.link.isLeader) this.announce()
  }

  /**
   * A tab opens a socket in a session, which becomes that of the group if it has none.
   *
   * @returns false where the group is in another session
   */
  accept(sessionId: string): boolean {
    if (this.#id === undefined) this.#set(sessionId)
    return this.#id === sessionId
  }

  /** Tells all who leads, and in which session. */
  announce(): void {
    const { fence } = this.#group.link
    this.#group.link.post(undefined, { kind: 'state', fence, sessionId: this.#id, conversation: this.#conversation })
  }

  /** A tab asks who leads. A new one may find no leader that runs. */
  answerHello(tab: string, isNew: boolean): void {
    const link = this.#group.link
    const sessionId = this.#id
    if (!link.isLeader) {
      if (isNew && sessionId !== undefined) link.post(tab, { kind: 'known', sessionId })
      return
    }
    // This tab cannot create a session, for example because its calls fail.
    if (sessionId === undefined && link.leadsForMs > SESSION_LIMIT_MS) link.yield()
    else this.announce()
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
  async takeAway(): Promise<void> {
    const { clock } = this.#parts.scope.environment
    const { key } = this.#group.link
    const id = this.#id
    if (key === undefined || id === undefined) return
    this.#taking = 'waiting'
    const taken = withTimeLimit(clock, TAKE_LIMIT_MS, undefined, async signal => {
      // Another tab may be taking it now, and may be frozen.
      const release = await this.#group.link.hold('taken', signal)
      await this.#takeAlone(key, id).finally(release)
    })
    await taken.catch(() => this.handleTaken(id, undefined))
    this.#taking = undefined
  }

  async #takeAlone(key: string, id: string): Promise<void> {
    if (this.isGone(id)) return this.handleTaken(id, undefined)
    this.#taking = 'begun'
    this.#group.signOuts.addTaken(key, id)
    // As long as the others may still write over this tab.
    await this.#group.link.take(id)
    this.#group.sockets.rest()
    this.#group.link.rest()
  }

  /** This tab has a user now: it is a tab of that user, in the session that it has taken. */
  enter(key: string): void {
    void this.#group.link.move(key).then(() => this.#parts.outbox.handleJoined())
    this.wake()
  }

  /**
   * Another tab has taken the session: this one needs none before it has something to send. What it shows stays.
   *
   * @param by that tab; undefined where it is not known
   */
  handleTaken(sessionId: string, by: string | undefined): void {
    const { session, outbox, recovery, liveness } = this.#parts
    const { key } = this.#group.link
    if (key !== undefined) this.#group.signOuts.noteTaken(key, sessionId)
    if (sessionId !== this.#id) return
    this.#id = this.#conversation = this.#reported = undefined
    this.#group.sockets.leave()
    session.forget(sessionId)
    this.#group.link.rest()
    // Nothing that this tab takes for its connection is checked before it has one.
    recovery.handleLost()
    liveness.handleLost()
    const answered = this.#answeredIds(sessionId)
    outbox.handleSessionTaken(id => answered.has(id))
    this.#group.replica.leaveSession(by, id => answered.has(id))
    if (outbox.size > 0) this.wake()
  }

  /** Whether a session was taken out of the group, as far as this tab can know. */
  isGone(sessionId: string, key = this.#group.link.key): boolean {
    if (key === undefined || !isAnonymous(key) || (this.#taking === 'begun' && sessionId === this.#id)) return false
    return this.#group.signOuts.isTaken(key, sessionId)
  }

  /** Finds out what this tab was not told. */
  check(): void {
    if (this.#id !== undefined && this.isGone(this.#id)) this.handleTaken(this.#id, undefined)
  }

  /** There is something to send. */
  wake(): void {
    if (this.#taking) return
    this.#group.link.wake()
    this.#group.sockets.wake()
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

  /** The ids of what was sent in a session before the last message of the agent. */
  #answeredIds(session: string): ReadonlySet<string | undefined> {
    const entries = this.#parts.log.entries().filter(({ sessionId = session }) => sessionId === session)
    const last = entries.findLastIndex(({ message }) => message.persona === PERSONA.AGENT)
    return new Set(entries.slice(0, Math.max(last, 0)).map(({ message }) => message.messageId))
  }

  /** The sockets of another session are closed, where this tab leads. */
  #set(sessionId: string): void {
    if (sessionId === this.#id) return
    this.#id = sessionId
    this.#group.hub.reset()
  }

  #wake(): void {
    for (const resolve of this.#joining.splice(0)) resolve()
  }
}

/** Where the user is in the parts of a group's key: agent, portal, profile and version follow. A prefix of the host may come first. */
const USER = -5

/** Whether the tabs of a group are anonymous, so that none of them may have the token of a user. */
export function isAnonymous(key = ''): boolean {
  return key.split(':').at(USER) === 'anonymous'
}

/** The key of the tabs of a user, for one of the anonymous tabs with a key. */
export function keyFor(token: string, key: string): string {
  const parts = key.split(':')
  parts.splice(USER, 1, subjectFingerprint(token))
  return parts.join(':')
}
