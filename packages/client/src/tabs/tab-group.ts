import { CAPABILITY, isJsonObject } from '@aiagent/protocol'
import { takeStoredLogin } from '../auth/stored-login.ts'
import { type OpenTransport, WebSocketTransport } from '../chat/transport.ts'
import type { DeliveryReason, DeliveryUpdate } from '../log/delivery-state.ts'
import type { Message } from '../log/message.ts'
import type { Delivery } from '../outbox/delivery.ts'
import { hasLocks } from '../platform/locks.ts'
import type { PageWindow } from '../platform/page.ts'
import { clearStored } from '../storage/clear-stored.ts'
import { ForeignMessages, type ForeignMessagesOptions } from './foreign-messages.ts'
import { isAnonymous, keyFor } from './group-key.ts'
import { GroupSession } from './group-session.ts'
import { QuestionTurn } from './question-turn.ts'
import { Recall } from './recall.ts'
import { ReplicatedStore } from './replicated-store.ts'
import { answeredIds, openMessages, said, saidByAgent } from './said-messages.ts'
import { ShownMessages } from './shown-messages.ts'
import { SignOuts } from './sign-outs.ts'
import { SocketHub } from './socket-hub.ts'
import { TabLink } from './tab-link.ts'
import type { TabEnvelope, TabMessage } from './tab-message.ts'
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
export class TabGroup {
  readonly #parts: TabParts
  readonly #id: string
  readonly #link: TabLink
  /** The queues of the tabs, where no store of the browser holds them. */
  readonly store: ReplicatedStore
  /** Whose turn it is to ask. */
  readonly turn: QuestionTurn
  readonly #sockets: TabSockets
  readonly #foreignOptions: ForeignMessagesOptions
  readonly #foreign: ForeignMessages
  /** What the history of the session shows. */
  readonly shown: ShownMessages
  readonly #recalling: Recall
  readonly #signOuts: SignOuts
  readonly #openAlone: OpenTransport
  readonly #session: GroupSession
  #hub: SocketHub | undefined
  /** Whether a message of another tab is being applied, which is not repeated. */
  #isApplying = false
  #token: string | undefined

  constructor(parts: TabParts, window: PageWindow) {
    this.#parts = parts
    const { scope } = parts
    const { environment, config, logger } = scope
    const { clock, randomUUID, WebSocket } = environment
    this.#id = randomUUID()
    this.#signOuts = new SignOuts(parts.scope)
    this.#openAlone = (address, listener) => new WebSocketTransport(new WebSocket(address), listener)
    const link = new TabLink({
      window,
      clock,
      id: this.#id,
      signOuts: this.#signOuts,
      logger,
      place: () => this.#session.place,
      onLeads: leads => (leads ? this.#lead() : this.#stopLeading()),
      onLeader: () => this.#handleLeader(),
      onJoined: () => this.store.repeat(),
      onMissed: tab => this.#catchUp(tab),
      onMessage: envelope => this.#receive(envelope),
      onUnheard: (envelopes, reason) => this.#report(envelopes, reason),
      onEnded: tabs => void this.#takeOver(tabs),
      onSignedOut: () => this.#leaveUser(),
      checkSession: () => this.#session.check(),
    })
    this.#link = link
    this.store = new ReplicatedStore(clock.now, (key, value, version) =>
      link.post(undefined, { kind: 'stored', key, value, version }),
    )
    const questionLock = () => (link.name === undefined ? undefined : `${link.name}-question`)
    const settled = () => {
      this.#session.wake()
      return link.synced()
    }
    this.turn = new QuestionTurn(window, questionLock, settled)
    this.#sockets = new TabSockets({
      toLeader: message => {
        if (link.leader !== undefined) link.post(link.leader, message)
      },
      bufferedAmount: () => this.#hub?.bufferedAmount ?? 0,
      checkSession: () => this.#session.check(),
    })
    this.#foreignOptions = {
      now: clock.now,
      doubtAfterMs: config.doubtAfterMs,
      updated: update => scope.emit('deliveryUpdate', () => update),
      act: (owner, id, action) => link.post(owner, { kind: 'act', id, action }),
    }
    this.#foreign = new ForeignMessages(this.#foreignOptions)
    this.#recalling = new Recall(parts, this.#foreign)
    this.#session = new GroupSession({
      parts,
      window,
      clock,
      signOuts: this.#signOuts,
      link,
      sockets: this.#sockets,
      hub: () => this.#hub,
      isApplying: () => this.#isApplying,
      taken: (sessionId, by) => this.#handleTaken(sessionId, by),
      leave: reason => this.#leave(reason),
    })
    this.shown = new ShownMessages(parts, this.#session, this.#foreign, change => this.handleUpdate(change))
  }

  /** Whether another tab renews the token. */
  get isFollower(): boolean {
    return this.#link.key !== undefined && !this.#link.isLeader
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
    if (!(await this.#signOuts.leaveMissed())) return undefined
    logger.info('The user signed out in another tab, which an earlier page of this one did not notice.')
    context.forgetPrevious()
    const onError = (error: unknown) =>
      logger.warn('Stored data of the user who signed out could not be removed.', { error })
    resume?.(part => part.forgetUser(undefined)).catch(onError)
    // In the store of all tabs that tab has removed the user, and another one may have signed in since.
    const ownStore = { ...environment, localStorage: undefined }
    takeStoredLogin(auth, ownStore, endpoint)
    await clearStored(ownStore, endpoint, cache, { isSignOut: true }).catch(onError)
    const isOwnLogin = auth && 'type' in auth && auth.type === 'pkce'
    return isOwnLogin ? undefined : () => authentication.forgetUser()
  }

  // ── The session of the group ──────────────────────────────────────────────────────────────────────────────────────

  get session(): GroupSession {
    return this.#session
  }

  #leave(reason: DeliveryReason): void {
    this.#link.leave(reason)
    this.#session.leave()
    this.#token = undefined
    this.#recalling.reset()
    this.#foreign.clear(reason)
    this.turn.end()
  }

  // ── Leader and followers ──────────────────────────────────────────────────────────────────────────────────────────

  #lead(): void {
    const { scope, connection, authentication } = this.#parts
    const { facts } = scope
    this.#hub = new SocketHub({
      tabId: this.#id,
      fence: () => (facts.hasCapability(CAPABILITY.FENCING) ? this.#link.fence : undefined),
      hasResume: () => facts.hasResume,
      address: (sessionId, lastSeq) => connection.addressOf(sessionId, lastSeq),
      openTransport: this.#openAlone,
      history: () => saidByAgent(this.#parts.transcript, this.#session.id),
      post: (to, message) => {
        this.#link.post(to, message)
        if (to === undefined) this.#sockets.handle(message)
      },
      ended: (isRefused, reason) => {
        this.#session.check()
        return this.#link.handleEviction(isRefused, reason)
      },
    })
    authentication.watchExpiry(true)
    this.#session.lead()
    void this.#takeOver()
  }

  #stopLeading(): void {
    const hub = this.#hub
    this.#hub = undefined
    hub?.end()
  }

  #handleLeader(): void {
    if (!this.#link.isLeader) this.#parts.authentication.watchExpiry(false)
    this.#sockets.handleLeader()
    this.#recall()
  }

  /** What another tab has posted was lost: frames of the service, what it wrote to the service, what it said. */
  #catchUp(tab: string): void {
    this.#hub?.interrupt(tab)
    if (tab === this.#link.leader) this.#sockets.renew()
    this.#recall(tab)
  }

  /** Asks for what the others have said. */
  #recall(to = this.#link.isLeader ? undefined : this.#link.leader): void {
    if (this.#link.leader === undefined) return
    // The tab that has sent a message may have ended before this one was opened.
    this.#link.post(to, this.#recalling.ask())
  }

  /** Sends what tabs that have ended left unsent. What none sends, and no history shows, is unknown. */
  async #takeOver(ended: readonly string[] = []): Promise<void> {
    const { outbox } = this.#parts
    for (const tab of ended) this.#hub?.forget(tab)
    await outbox.restore()
    outbox.repeatAdopted()
    if (ended.some(tab => this.#foreign.hasDoubt(tab))) await this.shown.read()
    for (const tab of ended)
      for (const change of this.#foreign.settle(tab, id => outbox.delivery(id) !== undefined)) this.handleUpdate(change)
    // The last thing that such a tab has said may be known to another one only.
    if (ended.length > 0) this.#recall()
  }

  // ── Messages of other tabs ────────────────────────────────────────────────────────────────────────────────────────

  #receive({ from, message }: TabEnvelope): void {
    const isFromLeader = from === this.#link.leader
    switch (message.kind) {
      case 'hello':
        if (message.isNew) this.#greet(from)
        return
      case 'state': {
        const { sessionId, conversation } = message
        this.#session.report(undefined)
        if (isFromLeader && sessionId !== undefined) this.#apply(() => this.#session.moveTo(sessionId, conversation))
        return
      }
      case 'bye':
        return this.#hub?.forget(from)
      case 'open':
        return this.#open(from, message)
      case 'write':
        return this.#hub?.write(from, message.socket, message.text)
      case 'close':
        return this.#hub?.close(from, message.socket)
      case 'opened':
      case 'frame':
      case 'closed':
        if (!isFromLeader) return
        if (message.kind === 'opened') this.#foreign.handleOpened(this.#parts.scope.environment.clock.now())
        return this.#sockets.handle(message)
      case 'known':
        return this.#session.report(message.sessionId)
      case 'session':
        return this.#apply(() => this.#session.moveTo(message.sessionId, message.conversation))
      case 'said':
        return this.#apply(() => this.#record(from, message, isFromLeader))
      case 'recall':
        for (const each of this.#recalling.answer(from, message.known)) this.#link.post(from, each)
        if (message.known) this.#tellContext(from)
        return
      case 'delivery':
        return this.#foreign.update(from, message.id, message.state, message.reason)
      case 'read': {
        const { messageId } = message
        return this.#parts.scope.emit('conversationRead', () => ({ messageId }))
      }
      case 'act': {
        const delivery = this.#parts.outbox.delivery(message.id)
        if (message.action === 'retry') delivery?.retry()
        else if (message.action === 'cancel') delivery?.cancel()
        return
      }
      case 'context':
        return this.#apply(() => {
          if (message.attributes) this.#parts.context.merge(message.attributes)
          else void this.#parts.context.remove()
        })
      case 'token':
        if (!isAnonymous(this.#link.key)) this.#adoptToken(message.token)
        return
      case 'taken':
        this.#session.handleTaken(message.sessionId, from)
        return this.#link.post(from, { kind: 'synced', nonce: message.nonce })
      case 'left':
        return this.#leaveUser()
      case 'stored':
        return this.store.receive(message.key, message.value, message.version)
      case 'sync':
      case 'synced':
        return
      default:
        message satisfies never
    }
  }

  #open(from: string, message: TabMessage & { readonly kind: 'open' }): void {
    if (!this.#hub) return
    const { sessionId } = message
    if (this.#session.isGone(sessionId)) return this.#link.post(from, { kind: 'taken', sessionId, nonce: 0 })
    // The tab learns of the present session, and opens again.
    if (!this.#session.accept(sessionId)) return this.#link.postState()
    this.#hub.open(from, message)
  }

  /** Tells a new tab what it cannot learn from the service. */
  #greet(tab: string): void {
    this.store.repeat()
    for (const message of openMessages(this.#parts)) this.#link.post(tab, message)
    const { id: sessionId } = this.#session
    if (!this.#hub) {
      if (sessionId !== undefined) this.#link.post(tab, { kind: 'known', sessionId })
      return
    }
    this.#tellContext(tab)
    if (this.#token !== undefined) this.#link.post(tab, { kind: 'token', token: this.#token })
  }

  #tellContext(tab: string): void {
    const attributes = this.#hub && this.#parts.context.get()
    if (attributes) this.#link.post(tab, { kind: 'context', attributes: { ...attributes } })
  }

  #record(from: string, given: TabMessage & { kind: 'said' }, isFromLeader: boolean): void {
    const { message: said, owner = from, state, reason } = given
    const { context, outbox } = this.#parts
    if (owner !== from) {
      // A leader that was frozen may not know what has become of it.
      if (!isFromLeader && !this.#link.isLeader) return
      if (this.delivery(said.id) ?? outbox.delivery(said.id)) return
      this.#link.watch(owner)
    }
    const message = this.#foreign.add(owner, said)
    if (!message) return
    const attributes = said.messageData?.context
    if (owner === from && state === undefined && said.role === 'context' && isJsonObject(attributes))
      context.merge(attributes)
    this.#foreign.show(message, said, state, this.#parts)
    if (state !== undefined) this.#foreign.update(owner, said.id, state, reason, true)
  }

  /** Reports messages that arrive after this tab has left the tabs that sent them: it does not learn what becomes of them. */
  #report(envelopes: readonly TabEnvelope[], reason: DeliveryReason): void {
    const unheard = new ForeignMessages(this.#foreignOptions)
    for (const { from, message } of envelopes)
      if (message.kind === 'said' && message.state === undefined) unheard.add(from, message.message)
      else if (message.kind === 'delivery') unheard.update(from, message.id, message.state, message.reason)
    unheard.clear(reason)
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
    const { authentication, lifecycle } = this.#parts
    // Everything in memory is removed before the first await. The responses in the cache are found by the token.
    this.#apply(() => {
      void lifecycle?.handleUserChange()
      void authentication.forgetUser()
    })
    this.#leave('signed_out')
  }

  /** @param by the tab that has taken the session with it, if it is known */
  #handleTaken(sessionId: string, by: string | undefined): void {
    const { transcript, outbox, recovery, liveness } = this.#parts
    // Nothing that this tab takes for its connection is checked before it has one.
    recovery.handleLost()
    liveness.handleLost()
    const answered = answeredIds(transcript, sessionId)
    outbox.handleSessionTaken(id => answered.has(id))
    this.#foreign.leaveSession(by, id => answered.has(id))
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

  /** Opens a connection of the agent. */
  readonly open: OpenTransport = (address, listener) =>
    this.#link.key === undefined ? this.#openAlone(address, listener) : this.#sockets.open(address, listener)

  /** The user is signed out, or is another one: so it is in all tabs. */
  forgetUser(): void {
    const { key } = this.#link
    if (!this.#isApplying) {
      // Behind the removal of the tokens: a tab to which the browser shows these writes late sees no token beside the note.
      if (key !== undefined) void Promise.resolve().then(() => this.#signOuts.add(key))
      this.#link.post(undefined, { kind: 'left' })
    }
    if (key !== undefined) this.#signOuts.leave(key)
    this.#leave('signed_out')
    this.store.forget()
  }

  /** The transcript of this tab was dropped: its next session begins a conversation. */
  handleDropped(): void {
    this.#session.endConversation()
    for (const change of this.#foreign.endConversation()) this.handleUpdate(change)
  }

  /** The outbox has accepted a message of this tab. */
  handleAccepted(message: Message): void {
    const { messageId } = message
    if (messageId === undefined || this.#isApplying) return
    this.#foreign.remove(messageId)
    this.#link.post(undefined, { kind: 'said', message: said(message, messageId) })
    // Outside of the call that sends it.
    void Promise.resolve().then(() => this.#session.wake())
  }

  /** The delivery of a message of this tab has changed. */
  handleUpdate({ id, state, previousState, reason }: DeliveryUpdate): void {
    this.#link.post(undefined, { kind: 'delivery', id, state, previousState, reason })
  }

  /** The user has read everything that this tab shows. */
  markRead(): void {
    const received = this.#parts.transcript.get().filter(({ direction }) => direction === 'received')
    const messageId = received.at(-1)?.message.messageId
    if (messageId !== undefined) this.#link.post(undefined, { kind: 'read', messageId })
  }

  /** The context has changed; null when it was removed. */
  handleContext(attributes: Record<string, unknown> | null): void {
    if (!this.#isApplying) this.#link.post(undefined, { kind: 'context', attributes })
  }

  /** The token of a user is about to be used: until then the anonymous tabs let go of the session, and of the queue. */
  async handleUser(): Promise<void> {
    if (!isAnonymous(this.#link.key)) return
    await this.#session.take()
    await this.#parts.outbox.leaveStore()
  }

  /** The agent has a token that the others do not have. */
  handleToken(token: string): void {
    const { key } = this.#link
    if (token === this.#token || key === undefined) return
    this.#token = token
    if (!isAnonymous(key)) return this.#link.post(undefined, { kind: 'token', token })
    this.#recalling.reset()
    this.turn.end()
    this.store.forget()
    this.#session.enter(keyFor(token, key))
    void this.#parts.outbox.restore()
  }

  /** The delivery of a message of another tab. */
  delivery(id: string): Delivery | undefined {
    return this.#foreign.delivery(id)
  }
}

/** Shares the conversation where the browser can; undefined elsewhere. */
export function createTabGroup(parts: TabParts): TabGroup | undefined {
  const { environment, config, logger } = parts.scope
  const window = environment.page?.window
  // A browser has locks only where the page is served over HTTPS.
  if (hasLocks(window) && window.BroadcastChannel && config.sessionId === undefined) return new TabGroup(parts, window)
  logger.warn('`tabs` has no effect: it needs a page with Web Locks, and no `sessionId`.')
  return undefined
}
