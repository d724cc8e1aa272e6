import { type Capability, PERSONA, ROLE } from '@aiagent/protocol'
import { AuthenticationService } from '../auth/authentication-service.ts'
import { asAuthFailure } from '../auth/host-call.ts'
import { LazyPkceStrategy } from '../auth/sign-in/pkce-login.ts'
import { Chat } from '../chat/chat.ts'
import { chatAddress } from '../chat/chat-address.ts'
import { ChatSession, isSessionKnown } from '../chat/chat-session.ts'
import { ConnectionState } from '../chat/connection-state.ts'
import { webSocketTransport } from '../chat/websocket-transport.ts'
import { requireSessionId } from '../config.ts'
import { withPortalAttribute } from '../contact-center/portal/portal-context.ts'
import type { ContextStore } from '../conversation/context-store.ts'
import { emitInbound, historyOf } from '../conversation/inbound-events.ts'
import { Inbox } from '../conversation/inbox.ts'
import { createContextMessage, isContextMessage } from '../conversation/message-helpers.ts'
import { Recovery } from '../conversation/recovery.ts'
import { Transcript } from '../conversation/transcript.ts'
import type { Upkeep, UpkeepOptions } from '../conversation/upkeep.ts'
import { WorkingState } from '../conversation/working-state.ts'
import { MessageError, SDKError } from '../errors.ts'
import type { UnreadableFrame } from '../events.ts'
import { Message } from '../outbox/message.ts'
import type { QueueSnapshot } from '../outbox/outbox-store.ts'
import { Sending } from '../outbox/sending.ts'
import type { StoredQueue } from '../outbox/stored-queue.ts'
import type { SessionResume, SessionResumeParts } from '../resume/session-resume.ts'
import { type LazyPart, lazyPart } from '../util/lazy-part.ts'
import { subjectFingerprint } from '../util/subject-fingerprint.ts'
import type { AgentLoader } from './agent-loader.ts'
import type { CallHolder, EarlyParts, LateParts } from './agent-parts.ts'
import type { AgentScope } from './agent-scope.ts'
import { fetchAgent, openDeployment, prepareAgent } from './load-agent.ts'
import { SharedTabs } from './shared-tabs.ts'
import { UserLoader } from './user-loader.ts'

export { deploymentCall } from '../api/deployment-call.ts'

/** Constructs the parts of an agent that it needs to connect, each after the parts that it uses. */
export function buildAgent(early: EarlyParts): LateParts {
  const { scope, loader, language, masking, context, origin, newId, outbox, streams, processor, calls, policy, late } =
    early
  const { config, environment, facts, logger, emit, reportError, userState } = scope
  const { clock } = environment

  const authentication = new AuthenticationService(config.auth, {
    environment,
    logger: logger.createChild('auth'),
    endpoint: config.endpoint,
    // A restored login may need the user too. Read late, since a call that may ask can join a run of initialize().
    mayAsk: () => scope.status.isInteractive !== false,
  })
  authentication.setTokenExpiringCallback(({ expiresAt }) =>
    emit('tokenExpiring', () => ({ reason: 'expiring', expiresAt })),
  )
  const tabs =
    config.tabs &&
    new SharedTabs(scope, () => ({
      scope,
      session,
      transcript,
      context,
      outbox,
      sending,
      authentication,
      lifecycle: {
        dropConversation: () => late.lifecycle?.dropConversation(),
        handleUserChange: async () => late.lifecycle?.handleUserChange(),
      },
      hasCapability,
      address: (sessionId, lastSeq) => sessionAddress(scope, calls, sessionId, lastSeq),
    }))
  authentication.setTokenHandler(token => tabs?.group?.handleToken(token))
  const users = new UserLoader(scope, masking)
  const transcript = new Transcript(config.transcript, {
    newId,
    recorded: entry => emit('transcriptUpdate', () => ({ ...entry, entry })),
    trimmed: removed => emit('transcriptTrimmed', () => ({ removed })),
    cleared: () => emit('transcriptCleared', () => ({})),
  })
  const session = new ChatSession({
    create: signal => createSession(scope, loader, context, signal),
    isKnown: (id, signal) =>
      isSessionKnown(clock, signal, inner => loadTranscript(scope, loader, id, inner), reportError),
    // The host may have set it since the construction.
    suppliedId: facts.sessionId,
    facts,
  })

  const hasCapability = (name: Capability) => facts.deployment?.deployment.capabilities?.includes(name) === true
  const openTransport = webSocketTransport(environment.WebSocket)
  const hasPing = () => hasCapability('receipts') || hasCapability('resume')
  const chat = new Chat({
    clock,
    page: environment.page,
    policy,
    openTransport: (address, listener) => (tabs?.group?.open ?? openTransport)(address, listener),
    session,
    address: sessionId => {
      authentication.checkExpiry()
      return sessionAddress(scope, calls, sessionId, recovery.beginAttempt(sessionId))
    },
    token: {
      required: () => facts.agent?.isAuthenticated === true,
      getToken: () => authentication.getToken(),
      refresh: () => authentication.refresh(),
    },
    contextFrame: () => contextFrame(context),
    newFrameId: () => (hasCapability('receipts') ? newId() : undefined),
    listener: {
      stateChanged: (state, previousState, retryInMs) => {
        logger.debug(`Connection: ${previousState} → ${state}`)
        authentication.watchExpiry(state !== ConnectionState.CLOSED && !tabs?.group?.isFollower)
        scope.status.retryAt = retryInMs === undefined ? undefined : clock.monotonic() + retryInMs
        emit('stateChanged', () => ({ state, previousState, ...(retryInMs === undefined ? {} : { retryInMs }) }))
      },
      connected: () => {
        scope.status.closed = scope.status.failure = undefined
        recovery.handleConnected()
        emit('connected', () => ({}))
      },
      closed: event => {
        recovery.handleLost()
        working.end()
        scope.status.closed = event
        scope.status.failure = undefined
        emit('closed', () => event)
      },
      received: data => {
        // The socket stays open for the goodbye: what arrives by then belongs to the user who leaves.
        if (!scope.status.isLeaving) inbox.receive(data)
      },
      failed: error => {
        scope.status.failure = error
        reportError(error)
      },
      tokenNeeded: () => emit('tokenExpiring', () => ({ reason: 'transport_request' })),
    },
  })
  const user = () => userOf(authentication)
  const store = createStoredQueue(scope, user, () => sending.snapshot(), tabs)
  const sending = outbox.attach(
    {
      page: environment.page,
      chat,
      isOwnSession: () => session.isOwn,
      questionGate: tabs,
      store,
      accepted: (message, size, isAgain) => {
        if (isContextMessage(message)) context.merge(message.messageData.context)
        const isShown = (isAgain || tabs) && transcript.get().some(each => each.message.messageId === message.messageId)
        tabs?.group?.handleAccepted(message)
        if (!isShown) transcript.record(message, 'sent', message.timestamp ?? clock.now(), undefined, size)
        if (message.persona === PERSONA.CUSTOMER) recovery.handleSent()
      },
      found: () => late.lifecycle?.connectForMessage(),
    },
    (options, hooks) => new Sending(options, hooks),
  )
  const resume = createResume(scope, { loader, context, transcript, processor, origin, user }, tabs)
  if (resume) session.storeWith(resume)
  if (resume && facts.sessionId !== undefined) session.supply(facts.sessionId)
  const working = userState.own(new WorkingState(clock, emit))
  const handleAnswer = (message: Message) => {
    streams.push(message)
    working.end()
  }
  const recovery: Recovery = userState.own(
    new Recovery({
      session,
      outbox: sending,
      emit,
      hasResume: () => hasCapability('resume'),
      hasPing,
      warn: (text, details) => logger.warn(text, details),
      upkeep: createUpkeep(scope, {
        transcript,
        processor,
        origin,
        loadTranscript: (id, signal) => loadTranscript(scope, loader, id, signal),
        onMessage: handleAnswer,
        onHistory: history => {
          void resume?.(part => part.historyArrived(history))
          sending.handleHistory(history.map(({ message }) => message))
        },
        onEnd: () => recovery.end(),
        chat,
        hasPing,
      }),
    }),
  )
  const inbox: Inbox = userState.own(
    new Inbox(processor, () => origin, {
      isConsumed: (message, seq) => sending.handleReceipt(message) || recovery.isConsumed(message, seq),
      arrived: (message, type, size) => {
        if (message.persona === PERSONA.AGENT) chat.confirm()
        transcript.record(message, 'received', message.timestamp ?? clock.now(), type, size, recovery.isReplaying)
      },
      handled: (message, result) => {
        emitInbound(emit, message, result, recovery.isReplaying)
      },
      finished: (message, result) => {
        if (message.persona === PERSONA.AGENT) handleAnswer(message)
        else if (message.role === ROLE.HEARTBEAT) working.start()
        else if (message.role === ROLE.ERROR) working.end()
        recovery.handleFrame(message, historyOf(message, result))
      },
      unclaimed: message => logger.warn('No handler accepts a message that arrived.', { role: message.role }),
      unreadable: (error, data) => {
        reportError(MessageError.unreadable(error))
        emit('message', () => ({ data: data as UnreadableFrame }))
      },
      handlerFailed: error => logger.error('A message handler failed.', error),
    }),
  )

  authentication.setUserChangeHandler(() => late.lifecycle?.handleUserChange())
  const stepParts = { scope, authentication, language, loader, context, users }
  return {
    authentication,
    users,
    transcript,
    session,
    chat,
    inbox,
    recovery,
    working,
    resume,
    tabs,
    sending,
    prepare: (openContactCenter, signal) => prepareAgent(stepParts, openContactCenter, signal),
    openDeployment: deployment => openDeployment(deployment, stepParts),
    fetchAgent: (deployment, signal) => fetchAgent(deployment, stepParts, signal),
    forgetStored: () => Promise.all([resume?.(part => part.forgetUser(undefined)), store?.(part => part.forgetUser())]),
    endLogin: ({ input, session: stored }, options) =>
      new LazyPkceStrategy(input, { environment, logger: logger.createChild('auth') })
        .logout(options, stored)
        .catch(error => {
          throw asAuthFailure(error)
        }),
  }
}

/** Creates a session at the service, with the context and the selected portal. */
async function createSession(
  { facts }: AgentScope,
  loader: AgentLoader,
  context: ContextStore,
  signal: AbortSignal,
): Promise<string> {
  const { api } = await loader.loadDeployment(signal)
  const attributes = context.get()
  const portal = facts.selection?.portal
  const initial = portal ? withPortalAttribute(attributes ?? {}, portal.id) : attributes && { ...attributes }
  const id = await api.getAiAgentSession({ agentId: facts.agentId, ...(initial && { context: initial }), signal })
  return requireSessionId(id, 'The session id in the response of the service')
}

/** Loads what was said in a session, which the service refuses for an unknown one. */
async function loadTranscript(
  { facts }: AgentScope,
  loader: AgentLoader,
  sessionId: string,
  signal: AbortSignal,
): Promise<unknown[]> {
  const { api } = await loader.loadDeployment(signal)
  return api.getPreviousTranscript({ agentId: facts.agentId, sessionId, signal })
}

/** The address of a session's chat. */
function sessionAddress(
  { facts }: AgentScope,
  calls: CallHolder,
  sessionId: string,
  lastSeq: number | undefined,
): string {
  const { loaded } = facts
  if (!loaded) throw new SDKError('connect() is not possible yet. Await initialize() first.', 'NOT_INITIALIZED')
  const { agent, deployment } = loaded
  return chatAddress({
    agent,
    deployment,
    sessionId: requireSessionId(sessionId, 'The session id'),
    lastSeq,
    conversationId: calls.state?.getConversationId() ?? null,
  })
}

/** The context as a frame, for a session that was created without it. */
function contextFrame(context: ContextStore): string | undefined {
  const attributes = context.get()
  return attributes
    ? Message.fromJSON(createContextMessage({ context: { ...attributes } })).toPayloadString()
    : undefined
}

/** The part that recovers what was said while the connection was down, and notices that it is. */
function createUpkeep(
  { config, environment, emit, logger }: AgentScope,
  parts: Omit<UpkeepOptions, 'clock' | 'page' | 'emit' | 'logger' | 'isWatchful'>,
): LazyPart<Upkeep> {
  const load = async () => {
    const { Upkeep } = await import('../conversation/upkeep.ts')
    const { clock, page } = environment
    return new Upkeep({ clock, page, emit, logger, isWatchful: config.doubtAfterMs > 0, ...parts })
  }
  return lazyPart(load, error =>
    logger.warn('The module that recovers missed messages could not be loaded. It is requested again when needed.', {
      error,
    }),
  )
}

/** The part that stores the queue for the next page, with `persistQueue`. */
function createStoredQueue(
  scope: AgentScope,
  user: () => string | undefined,
  snapshot: () => QueueSnapshot,
  tabs: SharedTabs | undefined,
): LazyPart<StoredQueue> | undefined {
  const { config, logger } = scope
  if (config.persistQueueMs === undefined && !tabs) return undefined
  const load = async () => {
    const { createStoredQueue } = await import('../outbox/create-stored-queue.ts')
    return createStoredQueue(scope, user, snapshot, await tabs?.load())
  }
  return lazyPart(load, error => logger.warn('The module that stores the queue could not be loaded.', { error }))
}

/** The part that resumes the session of the previous page, with `resume` and without a session of the host. */
function createResume(
  scope: AgentScope,
  parts: SessionResumeParts,
  tabs: SharedTabs | undefined,
): LazyPart<SessionResume> | undefined {
  const { config, logger } = scope
  if ((!config.resume && !tabs) || config.sessionId !== undefined) return undefined
  const load = async () => {
    const { SessionResume } = await import('../resume/session-resume.ts')
    const group = await tabs?.load()
    return new SessionResume(scope, parts, group && (own => group.sessionStore(own)))
  }
  const resume = lazyPart(load, error => logger.warn('The session-resume module could not be loaded.', { error }))
  // Registered before it is loaded: the previous page may have left a session that this one has not looked up.
  scope.userState.own({
    forgetUser: () => {
      const user = parts.user()
      return resume(part => part.forgetUser(user))
    },
  })
  return resume
}

/** Fingerprint of the signed-in user, `anonymous` for an anonymous one; undefined while there is no token. */
function userOf(authentication: AuthenticationService): string | undefined {
  const token = authentication.getCachedToken()
  if (token === null) return undefined
  return (authentication.isAnonymousStrategy() ? undefined : subjectFingerprint(token)) ?? 'anonymous'
}
