import { isJsonObject, ROLE } from '@aiagent/protocol'
import { takeStoredLogin } from '../auth/stored-login.ts'
import type { Transport, TransportListener } from '../chat/transport.ts'
import type { DeliveryRecord, DeliveryUpdate } from '../log/delivery.ts'
import { hasLocks } from '../platform/locks.ts'
import { openChannel, type PageWindow } from '../platform/page.ts'
import type { SharedConversation } from '../scope.ts'
import { clearStored } from '../storage/clear-stored.ts'
import { type GroupParts, GroupSession, isAnonymous, keyFor } from './group-session.ts'
import { LogReplica } from './log-replica.ts'
import { QuestionTurn } from './question-turn.ts'
import { SignOuts } from './sign-outs.ts'
import { SocketHub } from './socket-hub.ts'
import { type LinkEvent, TabLink } from './tab-link.ts'
import type { TabMessage } from './tab-message.ts'
import type { TabParts } from './tab-parts.ts'
import { TabSockets } from './tab-sockets.ts'

/*
 * The conversation that the tabs of a browser share, as one of them sees it. A separate chunk, for hosts that set
 * `tabs: 'share'`.
 *
 * Each tab runs its whole agent over virtual sockets (tab-sockets.ts). The leader connects them to the one real socket
 * (socket-hub.ts). When the leader ends, the virtual sockets break, and each agent does what it does after any other broken
 * connection: it reconnects, recovers what it missed, and decides about the messages in doubt. Everything else that the
 * tabs tell each other is below: session, messages and their delivery, context, token, sign-out.
 */
export class TabGroup implements SharedConversation {
  readonly #parts: TabParts
  readonly #own: GroupParts
  /** The messages of the other tabs. */
  readonly replica: LogReplica
  /** The session of all tabs. */
  readonly session: GroupSession
  /** Whose turn it is to ask. */
  readonly turn: QuestionTurn
  /** Whether the context, or the sign-out, of another tab is being applied, which is not repeated. */
  #isApplying = false
  #token: string | undefined
  /** The last message of the agent that the user has read in any of the tabs. */
  #read: string | undefined

  constructor(parts: TabParts, window: PageWindow) {
    const { scope } = parts
    this.#parts = parts
    const signOuts = new SignOuts(scope)
    const link = new TabLink(scope, window, signOuts, event => this.#handle(event))
    const hub = new SocketHub(parts, link)
    const sockets = new TabSockets(link, hub)
    this.replica = new LogReplica(parts, link)
    this.#own = { signOuts, link, hub, sockets, replica: this.replica }
    this.session = new GroupSession(parts, this.#own)
    this.turn = new QuestionTurn(this.#own.link, this.session)
  }

  /** Whether another tab renews the token. */
  get isFollower(): boolean {
    return this.#own.link.key !== undefined && !this.#own.link.isLeader
  }

  /**
   * If the user of an earlier page of this tab has signed out since in another tab, removes what that page has left in this one.
   *
   * @returns what the initialized strategy has still to forget
   */
  async forgetMissed(): Promise<(() => Promise<void>) | undefined> {
    const { scope, context, authentication, resume } = this.#parts
    const { environment, logger } = scope
    const { auth, endpoint, cache } = scope.config
    if (!(await this.#own.signOuts.leaveMissed())) return undefined
    logger.info('The user signed out in another tab, which an earlier page of this one did not notice.')
    context.forgetPrevious()
    const onError = (error: unknown) =>
      logger.warn('Stored data of the user who signed out could not be removed.', { error })
    resume?.(part => part.forgetUser(undefined)).catch(onError)
    // In the store of all tabs that tab has removed the user, and another one may have signed in since.
    const ownStore = { ...environment, localStorage: undefined, page: undefined }
    takeStoredLogin(auth, ownStore, endpoint)
    await clearStored(ownStore, endpoint, cache, { cause: 'logout' }).catch(onError)
    const isOwnLogin = auth && 'type' in auth && auth.type === 'pkce'
    return isOwnLogin ? undefined : () => authentication.forgetUser()
  }

  // ── The other tabs ────────────────────────────────────────────────────────────────────────────────────────────────

  #handle(event: LinkEvent): void {
    switch (event.kind) {
      case 'look':
        return this.session.check()
      case 'leader':
        return this.#handleLeader()
      case 'demoted':
        return this.#own.hub.end()
      case 'message':
        return this.#receive(event.from, event.message)
      case 'missed':
        return this.#catchUp(event.tab)
      case 'leaving':
        return this.replica.handOver()
      case 'ended':
        return void this.#takeOver(event.tabs, event.mayReturn)
      case 'signed out':
        return this.#leaveUser()
      case 'left':
        this.session.leave()
        this.#token = this.#read = undefined
        this.replica.clear(event.reason)
        return this.turn.end()
      case 'unheard':
        return this.replica.reportUnheard(event.envelopes, event.reason)
      default:
        event satisfies never
    }
  }

  #handleLeader(): void {
    const { isLeader } = this.#own.link
    this.#parts.authentication.watchExpiry(isLeader)
    if (isLeader) this.session.lead()
    this.#own.sockets.handleLeader()
    this.replica.recall()
    if (!isLeader) return
    this.session.announce()
    void this.#parts.outbox.ledger.restore()
  }

  /** What another tab has posted was lost: frames of the service, what it wrote to the service, what it said. */
  #catchUp(tab: string | undefined): void {
    this.#own.sockets.handleMissed()
    if (tab === undefined) return
    if (this.#own.link.isLeader) this.#own.hub.interrupt(tab)
    if (tab === this.#own.link.leader) this.#own.sockets.renew()
    this.replica.recall()
  }

  /** Sends what tabs that have ended left unsent. What none sends, and no history shows, is unknown. */
  async #takeOver(ended: readonly string[], mayReturn: ReadonlySet<string>): Promise<void> {
    const { outbox, scope } = this.#parts
    for (const tab of ended) this.#own.hub.forget(tab)
    // Another tab may have sent what is left, or withdrawn it, which this one has missed. A wait for nothing would take a page that
    // leaves at this moment out of the back/forward cache.
    if (this.replica.hasUnsettled(ended)) {
      this.replica.recall()
      await this.#own.link.syncedWithAll()
    }
    // Ends that nobody has dealt with are found again.
    if (!this.#own.link.isLeader || !scope.status.isReady) return this.#own.link.watch(...ended)
    const gone = ended.filter(tab => !mayReturn.has(tab))
    this.replica.takeOver(gone)
    await outbox.ledger.restore(gone)
    await this.replica.handleEnded(ended)
    // The last thing that such a tab has said may be known to another one only.
    this.replica.recall()
  }

  #receive(from: string, message: TabMessage): void {
    const isFromLeader = from === this.#own.link.leader
    switch (message.kind) {
      case 'hello':
        this.session.answerHello(from, message.isNew)
        if (message.isNew) this.#greet(from)
        return
      case 'state': {
        const { sessionId, conversation } = message
        this.session.report(undefined)
        if (isFromLeader && sessionId !== undefined) this.session.moveTo(sessionId, conversation)
        return
      }
      case 'bye':
        return this.#own.hub.forget(from)
      case 'open':
        return this.#open(from, message)
      case 'write':
        return this.#own.hub.write(from, message.socket, message.text)
      case 'close':
        return this.#own.hub.close(from, message.socket)
      case 'opened':
      case 'frame':
      case 'closed':
        if (!isFromLeader) return
        if (message.kind === 'opened') this.replica.handleOpened()
        return this.#own.sockets.handle(message)
      case 'known':
        return this.session.report(message.sessionId)
      case 'session':
        return this.session.moveTo(message.sessionId, message.conversation)
      case 'said': {
        const { owner = from, state, message: said } = message
        const context = said.role === ROLE.CONTEXT ? said.messageData?.context : undefined
        // Of a message of before, a later one may have changed it.
        if (owner === from && state === undefined && isJsonObject(context)) this.#applyContext(context)
        return this.replica.receive(from, message)
      }
      case 'recall':
        this.replica.answer(from, message.known)
        if (message.known) this.#tellFacts(from)
        return
      case 'delivery':
        return this.replica.update(from, message.id, message.state, message.reason)
      case 'read': {
        const { messageId } = message
        if (messageId === this.#read) return
        this.#read = messageId
        return this.#parts.scope.emit('conversationRead', () => ({ messageId }))
      }
      case 'act':
        return void this.replica.handleAct(from, message.id, message.action)
      case 'context':
        return this.#applyContext(message.attributes)
      case 'token':
        if (!isAnonymous(this.#own.link.key)) this.#adoptToken(message.token)
        return
      case 'taken':
        this.session.handleTaken(message.sessionId, from)
        return this.#own.link.post(from, { kind: 'synced', nonce: message.nonce })
      case 'left':
        return this.#leaveUser()
      case 'sync':
      case 'synced':
        return
      default:
        message satisfies never
    }
  }

  #open(from: string, message: TabMessage & { readonly kind: 'open' }): void {
    if (!this.#own.link.isLeader) return
    const { sessionId } = message
    if (this.session.isGone(sessionId)) return this.#own.link.post(from, { kind: 'taken', sessionId, nonce: 0 })
    // The tab learns of the present session, and opens again.
    if (!this.session.accept(sessionId)) return this.session.announce()
    this.#own.hub.open(from, message)
  }

  /** Tells a new tab what it cannot learn from the service. */
  #greet(tab: string): void {
    this.replica.greet(tab)
    if (!this.#own.link.isLeader) return
    this.#tellFacts(tab)
    if (this.#token !== undefined) this.#own.link.post(tab, { kind: 'token', token: this.#token })
  }

  /** The leader tells a tab the context, and what the user has read. */
  #tellFacts(tab: string): void {
    if (!this.#own.link.isLeader) return
    const attributes = this.#parts.context.get()
    if (attributes) this.#own.link.post(tab, { kind: 'context', attributes: { ...attributes } })
    if (this.#read !== undefined) this.#own.link.post(tab, { kind: 'read', messageId: this.#read })
  }

  #applyContext(attributes: Record<string, unknown> | null): void {
    const { context } = this.#parts
    this.#apply(() => (attributes ? context.merge(attributes) : void context.remove()))
  }

  #adoptToken(token: string): void {
    const { authentication, scope } = this.#parts
    this.#token = token
    if (token === authentication.getCachedToken()) return
    authentication
      .updateToken(token, { isBorrowed: true })
      .catch(error => scope.logger.warn('The token of another tab could not be used.', { error }))
  }

  #leaveUser(): void {
    const { authentication, handleUserChange } = this.#parts
    // Everything in memory is removed before the first await. The responses in the cache are found by the token.
    this.#apply(() => {
      void handleUserChange()
      void authentication.forgetUser()
    })
    this.#own.link.leave('signed_out')
  }

  #apply(work: () => void): void {
    this.#isApplying = true
    try {
      work()
    } finally {
      this.#isApplying = false
    }
  }

  // ── The agent of this tab ─────────────────────────────────────────────────────────────────────────────────────────

  /** The id of this tab in the group. */
  get id(): string {
    return this.#own.link.id
  }

  /** Whether this tab is one of a group, which sends what it leaves unsent. */
  get isJoined(): boolean {
    return this.#own.link.key !== undefined
  }

  /** Opens a connection of the agent; undefined while it shares none. */
  open(address: string, listener: TransportListener): Transport | undefined {
    return this.#own.link.key === undefined ? undefined : this.#own.sockets.open(address, listener)
  }

  /** The user is signed out, or is another one: so it is in all tabs. */
  forgetUser(): void {
    const { key } = this.#own.link
    if (!this.#isApplying) {
      // Behind the removal of the tokens: a tab to which the browser shows these writes late sees no token beside the note.
      if (key !== undefined) void Promise.resolve().then(() => this.#own.signOuts.add(key))
      this.#own.link.post(undefined, { kind: 'left' })
    }
    if (key !== undefined) this.#own.signOuts.leave(key)
    this.#own.link.leave('signed_out')
  }

  /** The transcript of this tab was dropped: its next session begins a conversation. */
  handleDropped(): void {
    this.#read = undefined
    this.session.endConversation()
    this.replica.endConversation()
  }

  /** The outbox has accepted a message of this tab. */
  handleAccepted(record: DeliveryRecord): void {
    this.replica.handleAccepted(record)
    // Outside of the call that sends it.
    void Promise.resolve().then(() => this.session.wake())
  }

  /** The delivery of a message of this tab has changed. */
  handleUpdate({ id, state, reason }: DeliveryUpdate): void {
    if (state !== 'sending') this.#own.link.post(undefined, { kind: 'delivery', id, state, reason })
  }

  /** The user has read everything that this tab shows. */
  markRead(): void {
    const messageId = this.#parts.log.entries({ direction: 'received' }).at(-1)?.message.messageId
    if (messageId === undefined) return
    this.#read = messageId
    this.#own.link.post(undefined, { kind: 'read', messageId })
  }

  /** The context has changed; null when it was removed. */
  handleContext(attributes: Record<string, unknown> | null): void {
    if (!this.#isApplying) this.#own.link.post(undefined, { kind: 'context', attributes })
  }

  /** The token of a user is about to be used: until then the anonymous tabs let go of the session, and of the queue. */
  async handleUser(): Promise<void> {
    if (!isAnonymous(this.#own.link.key)) return
    await this.session.takeAway()
    await this.#parts.outbox.ledger.leaveStore()
  }

  /** The agent has a token that the others do not have. */
  handleToken(token: string): void {
    const { key } = this.#own.link
    if (token === this.#token || key === undefined) return
    this.#token = token
    if (!isAnonymous(key)) return this.#own.link.post(undefined, { kind: 'token', token })
    this.replica.handleMoved()
    this.turn.end()
    this.session.enter(keyFor(token, key))
    void this.#parts.outbox.ledger.restore()
  }
}

/** Shares the conversation where the browser can; undefined elsewhere. */
export async function createTabGroup(parts: TabParts): Promise<TabGroup | undefined> {
  const { environment, config, logger } = parts.scope
  const window = environment.page?.window
  const channel = window && openChannel(window, 'aiagent-probe')
  channel?.close()
  if (channel && config.sessionId === undefined && (await hasLocks(window))) return new TabGroup(parts, window)
  logger.warn(
    '`tabs` has no effect: it needs a page with Web Locks and BroadcastChannel, over HTTPS and with site data allowed, and no `sessionId`.',
  )
  return undefined
}
