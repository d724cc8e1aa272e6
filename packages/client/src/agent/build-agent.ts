import { PERSONA, type Portal, parseServerMessage } from '@aiagent/protocol'
import { LanguageChoice } from '../api/language-choice.ts'
import { AuthenticationService } from '../auth/authentication-service.ts'
import { Chat } from '../chat/chat.ts'
import { chatAddress } from '../chat/chat-address.ts'
import { ChatSession } from '../chat/chat-session.ts'
import { createReconnectPolicy } from '../chat/reconnect-policy.ts'
import { webSocketTransport } from '../chat/websocket-transport.ts'
import { type AiAgentConfig, type ResolvedConfig, requireSessionId, resolveConfig } from '../config.ts'
import { CallState } from '../contact-center/connector/call-state.ts'
import { withPortalAttribute } from '../contact-center/portal/portal-context.ts'
import { ContextStore } from '../conversation/context-store.ts'
import { emitInbound } from '../conversation/inbound-events.ts'
import { Inbox } from '../conversation/inbox.ts'
import { createContextMessage, isContextMessage } from '../conversation/message-helpers.ts'
import { MessageProcessor } from '../conversation/message-processor.ts'
import { MessageStreams } from '../conversation/message-streams.ts'
import { Transcript, type TranscriptEntry } from '../conversation/transcript.ts'
import { MessageError, type SDKError } from '../errors.ts'
import type { AgentEvent, AgentEvents, AgentEventType, Emit } from '../events.ts'
import { readInitParams } from '../init-params.ts'
import { type LogContext, Logger } from '../logger.ts'
import { Masking } from '../masking/masking.ts'
import { createMessageIds } from '../outbox/compose.ts'
import { Message, MessageOrigin, type ReceivedIn, receivedMessage } from '../outbox/message.ts'
import { Outbox } from '../outbox/outbox.ts'
import { resolveEnvironment } from '../platform/default-environment.ts'
import type { Environment } from '../platform/environment.ts'
import type { Resumption } from '../resume/session-resume.ts'
import { resolveOwnAdapter } from '../storage/create-cache-adapter.ts'
import { EventEmitter } from '../util/event-emitter.ts'
import { type LazyPart, lazyPart } from '../util/lazy-part.ts'
import { subjectFingerprint } from '../util/subject-fingerprint.ts'
import { Startup } from './lifecycle.ts'
import { leaveForPortal } from './portal-changes.ts'

/** The parts of one agent, introduced to each other. */
export interface Parts {
  readonly config: ResolvedConfig
  readonly environment: Environment
  readonly logger: Logger
  readonly events: EventEmitter<AgentEvents>
  readonly emitError: (error: SDKError) => void
  readonly authentication: AuthenticationService
  readonly startup: Startup
  readonly language: LanguageChoice
  readonly session: ChatSession
  /** Keeps the session for a later page, where the host wants that. */
  readonly resumption: LazyPart<Resumption> | undefined
  readonly chat: Chat
  readonly outbox: Outbox
  readonly streams: MessageStreams
  readonly inbox: Inbox
  readonly processor: MessageProcessor
  readonly transcript: Transcript
  readonly context: ContextStore
  readonly calls: CallState
  readonly masking: Masking
  /** Tells the host that the agent is ready, with what was chosen. */
  readonly emitInitialized: () => void
  /** Warns of a deprecated name, once for each. */
  readonly warnOnce: (warning: string) => void
}

/**
 * Builds every part once and connects what one calls back to what another does or the host hears. The only file that
 * knows all parts.
 */
export function assemble(given: AiAgentConfig, replacements: Partial<Environment> | undefined): Parts {
  const environment = resolveEnvironment(replacements)
  const config = resolveConfig(given)
  const { clock } = environment

  // The parts call each other back, so most of what follows is named in a callback before it exists; none is called by then.
  const loadResumption = async () => {
    const { Resumption } = await import('../resume/session-resume.ts')
    const read = (text: string, where: ReceivedIn) => receivedMessage(parseServerMessage(text), where)
    const restored = (entries: readonly TranscriptEntry[]) => emit('transcriptRestored', () => ({ entries }))
    return new Resumption({
      ...shared,
      startup,
      context,
      transcript,
      processor,
      received: origin,
      personOf,
      read,
      restored,
    })
  }
  // The host's own session id is the host's to keep.
  const resumption =
    config.resume && config.sessionId === undefined
      ? lazyPart(loadResumption, error => logger.warn('What keeps the session could not be loaded.', { error }))
      : undefined

  const session: ChatSession = new ChatSession(
    async signal => {
      const { api } = await startup.findDeployment(signal)
      return requireSessionId(
        await api.getAiAgentSession({ agentId: agentId(), ...sessionContext(context, startup.portal), signal }),
        'The answer of the session call',
      )
    },
    config.sessionId,
    resumption,
  )

  /** The agent the chat runs under: the configured one, or the one that was picked in a portal. */
  let agentId = () => config.id
  const logger = config.logger ?? ownLogger(config, environment, () => ({ sessionId: session.id, agentId: agentId() }))

  const events = new EventEmitter<AgentEvents>((error, name) => logger.error(`A listener of '${name}' failed.`, error))
  const emit: Emit<AgentEventType> = (type, payload) => {
    if (events.listenerCount(type) === 0) return
    const { id: sessionId } = session
    const timestamp = clock.now()
    const event = (
      sessionId === undefined
        ? { type, timestamp, agentId: agentId(), payload: payload() }
        : { type, timestamp, sessionId, agentId: agentId(), payload: payload() }
    ) as AgentEvent<typeof type>
    events.emit(type, event as AgentEvents[typeof type])
  }
  const told = new WeakSet<SDKError>()
  const emitError = (error: SDKError) => {
    // Several callers may wait for what failed, and each tells of it.
    if (told.has(error)) return
    told.add(error)
    logger.warn(error.message, { code: error.code })
    emit('error', () => ({ error }))
  }

  const authentication = new AuthenticationService(config.auth, { environment, logger: logger.createChild('auth') })
  authentication.setTokenExpiringCallback(({ expiresAt }) =>
    emit('tokenExpiring', () => ({ reason: 'expiring', expiresAt })),
  )

  const transcript = new Transcript(config.transcript)
  const record = (message: Message, direction: 'sent' | 'received', type?: string) => {
    const entry = transcript.record(message, direction, message.timestamp ?? clock.now(), type)
    if (entry && events.listenerCount('transcriptUpdate') > 0) emit('transcriptUpdate', () => ({ ...entry, entry }))
  }

  const context = new ContextStore({
    adapter: resolveOwnAdapter(config.cache, environment, (...warning) => logger.warn(...warning)),
    agentId: config.id,
    endpoint: config.endpoint,
    keyPrefix: config.cache.contextPrefix ?? config.cache.keyPrefix,
    now: clock.now,
    onFailure: error => logger.warn('The store of the context failed; it lives in memory only.', { error }),
  })
  const storedContext = context.restore()

  const calls = new CallState({ clock, context, emit })

  const masking = new Masking(config.masking)

  // An anonymous token is anybody's, and its subject may change with every token.
  const personOf = (token: string) => (authentication.isAnonymousStrategy() ? undefined : subjectFingerprint(token))
  const language = new LanguageChoice()
  const params = readInitParams(config.initParams)
  // Named one by one: the copy of a frozen object has a shape of its own, which costs every agent half a kilobyte.
  const { endpoint, cache, authScheme, initParams, connector } = config
  const shared = {
    endpoint,
    cache,
    authScheme,
    initParams,
    connector,
    agentId: config.id,
    params,
    language,
    environment,
    logger,
    authentication,
    calls,
    emitError,
  }
  const startup: Startup = new Startup({
    ...shared,
    loginScopes: loginScopes(config.auth),
    initialContext: config.context,
    openContext: async extra => {
      await storedContext
      context.merge(config.context)
      context.merge(extra)
    },
    onSignedIn: token => context.belongTo(personOf(token)),
    masking: {
      required: config.masking.required === true,
      logger,
      onRefused: patterns => emit('maskingPatternsRefused', () => ({ patterns })),
      onUnavailable: (reason, error) =>
        emit('maskingUnavailable', () => (error === undefined ? { reason } : { reason, error })),
    },
    onMaskingSettled: found => masking.settle(found),
    openSession: signal => session.require(signal),
    moveContext: id => context.moveTo(id),
    onReady: () => {
      outbox.release()
      emitInitialized()
      // A listener may have destroyed the agent. A failed attempt is an `error` event already.
      if ((config.autoConnect || startup.takeReconnect()) && startup.isReady)
        chat.connect().catch(error => logger.debug('The first connection failed.', { error }))
    },
    desk: {
      ...shared,
      onMessage: listener => events.subscribe('message', ({ payload }) => listener(payload)),
      send: async text => outbox.send(text),
      gates: {
        onPortals: portals => emit('portalsAvailable', () => ({ portals })),
        onAgents: agents => emit('agentsAvailable', () => ({ agents })),
        onProfiles: (profiles, selectedPortal) => emit('profilesAvailable', () => ({ profiles, selectedPortal })),
        onSwitch: () => {
          const wasUp = chat.state !== 'IDLE' && chat.state !== 'CLOSED'
          // A switch that failed has left the chat already: the next one still owes it.
          const requireCurrent = startup.reopen(startup.takeReconnect() || wasUp)
          return leaveForPortal({ chat, session, outbox, inbox, transcript, emitError }, requireCurrent)
        },
      },
    },
  })
  agentId = () => startup.resolvedAgentId ?? config.id
  const emitInitialized = () => emit('initialized', () => startup.readiness())

  const processor = new MessageProcessor({ onRefreshRequired: expired => chat.renewToken(expired) })
  const origin = new MessageOrigin(clock, startup, session, () => agentId())
  const inbox = new Inbox(processor, () => origin, {
    arrived: (message, type) => {
      if (message.persona === PERSONA.AGENT) chat.confirm()
      record(message, 'received', type)
    },
    handled: (message, result) => {
      const history = result?.type === 'chat_history_processed' ? (message.messageData?.chat_history ?? []) : undefined
      if (history) void resumption?.(part => part.historyArrived(history))
      emitInbound(emit, message, result)
      streams.push(message)
      if (history) outbox.handleHistory(history)
      else outbox.handleMessage(message)
    },
    unclaimed: message => logger.warn('A message arrived that no handler takes.', { role: message.role }),
    unreadable: (error, data) => {
      emitError(MessageError.unreadable(error))
      emit('message', () => ({ data }))
    },
    handlerFailed: error => logger.error('A message handler failed.', error),
  })

  const { maxReconnectAttempts, baseReconnectDelay, maxReconnectDelay } = config
  const chat = new Chat({
    clock,
    page: environment.page,
    policy: createReconnectPolicy({
      maxReconnectAttempts,
      baseReconnectDelay,
      maxReconnectDelay,
      random: environment.random,
    }),
    openTransport: webSocketTransport(environment.WebSocket),
    session,
    address: sessionId => {
      authentication.checkExpiry()
      const { agent, deployment } = startup.requireFacts('connect()')
      const conversationId = calls.getConversationId()
      return chatAddress({
        agent,
        deployment,
        sessionId: requireSessionId(sessionId, 'The session id'),
        conversationId,
      })
    },
    token: {
      required: () => startup.agent?.isAuthenticated === true,
      getToken: () => authentication.getToken(),
      refresh: () => authentication.refresh(),
    },
    contextFrame: () => {
      const attributes = context.get()
      return attributes
        ? Message.fromJSON(createContextMessage({ context: { ...attributes } })).toPayloadString()
        : undefined
    },
    listener: {
      stateChanged: (state, previousState, retryInMs) => {
        logger.debug(`Connection: ${previousState} → ${state}`)
        emit('stateChanged', () => ({ state, previousState, ...(retryInMs === undefined ? {} : { retryInMs }) }))
      },
      connected: () => emit('connected', () => ({})),
      closed: event => emit('closed', () => event),
      received: data => inbox.receive(data),
      failed: emitError,
      tokenNeeded: () => emit('tokenExpiring', () => ({ reason: 'transport_request' })),
    },
  })

  const outbox = new Outbox({
    clock,
    page: environment.page,
    maxQueueSize: config.maxQueueSize,
    chat,
    origin,
    newId: createMessageIds(() => environment.randomUUID()),
    isReady: () => startup.isReady,
    mask: (content, messageId) => masking.maskOutgoing(content, messageId),
    listener: {
      accepted: message => {
        if (isContextMessage(message)) context.merge(message.messageData.context)
        record(message, 'sent')
      },
      flushed: count => emit('queueFlushed', () => ({ count })),
      failed: emitError,
      warn: (text, details) => logger.warn(text, details),
    },
  })

  const streams = new MessageStreams()
  const warned = new Set<string>()
  const warnOnce = (warning: string) => {
    if (!warned.has(warning)) logger.warn(warning)
    warned.add(warning)
  }
  for (const warning of config.warnings) warnOnce(warning)
  return {
    config,
    environment,
    logger,
    events,
    emitError,
    authentication,
    startup,
    language,
    session,
    resumption,
    chat,
    outbox,
    streams,
    inbox,
    processor,
    transcript,
    context,
    calls,
    masking,
    emitInitialized,
    warnOnce,
  }
}

function ownLogger(config: ResolvedConfig, environment: Environment, contextProvider: () => LogContext): Logger {
  return new Logger(
    { name: `AiAgent:${config.id}`, level: config.logLevel, enableConsole: config.enableLogging, contextProvider },
    { console: environment.console, now: environment.clock.now },
  )
}

/** The context as a new session gets it, with the portal that was chosen. */
function sessionContext(context: ContextStore, portal: Portal | undefined): { context?: Record<string, unknown> } {
  const attributes = context.get()
  if (portal) return { context: withPortalAttribute(attributes ?? {}, portal.id) }
  return attributes ? { context: { ...attributes } } : {}
}

/** The scopes of a login that the host configured. */
function loginScopes(auth: ResolvedConfig['auth']): readonly string[] | undefined {
  return auth && 'type' in auth && auth.type === 'pkce' ? auth.config.scopes : undefined
}
