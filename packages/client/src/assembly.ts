import { isJsonObject, PERSONA, ROLE } from '@aiagent/protocol'
import { AuthenticationService } from './auth/authentication-service.ts'
import { Chat } from './chat/chat.ts'
import { chatAddress } from './chat/chat-address.ts'
import { ChatSession } from './chat/chat-session.ts'
import { queueFull } from './chat/outbound-lane.ts'
import { createReconnectPolicy } from './chat/reconnect-policy.ts'
import { webSocketTransport } from './chat/websocket-transport.ts'
import { type AiAgentConfig, type ResolvedConfig, requireSessionId, resolveConfig } from './config.ts'
import { ContextStore } from './conversation/context-store.ts'
import { type Emit, emitInbound } from './conversation/inbound-events.ts'
import { Inbox } from './conversation/inbox.ts'
import { Message } from './conversation/message.ts'
import { createContextMessage } from './conversation/message-helpers.ts'
import { createMessageIds } from './conversation/message-ids.ts'
import { MessagePlace } from './conversation/message-place.ts'
import { MessageProcessor } from './conversation/message-processor.ts'
import { OutgoingMessages } from './conversation/outgoing-messages.ts'
import { Transcript } from './conversation/transcript.ts'
import { MessageError, type SDKError } from './errors.ts'
import type { AgentEvent, AgentEvents } from './events.ts'
import { type LogContext, Logger } from './logger.ts'
import type { CacheAdapter, CacheConfig } from './platform/cache-adapter.ts'
import { createCacheAdapter } from './platform/create-cache-adapter.ts'
import { resolveEnvironment } from './platform/default-environment.ts'
import type { Environment } from './platform/environment.ts'
import { MemoryCacheAdapter } from './platform/memory-cache-adapter.ts'
import { Startup } from './startup/startup.ts'
import { EventEmitter } from './util/event-emitter.ts'
import { subjectFingerprint } from './util/subject-fingerprint.ts'

/** The parts of one agent, introduced to each other. */
export interface Parts {
  readonly config: ResolvedConfig
  readonly environment: Environment
  readonly logger: Logger
  readonly events: EventEmitter<AgentEvents>
  readonly emitError: (error: SDKError) => void
  readonly authentication: AuthenticationService
  readonly startup: Startup
  readonly session: ChatSession
  readonly chat: Chat
  readonly outgoing: OutgoingMessages
  readonly inbox: Inbox
  readonly processor: MessageProcessor
  readonly transcript: Transcript
  readonly context: ContextStore
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
  const session: ChatSession = new ChatSession(async signal => {
    const { api } = await startup.findDeployment(signal)
    return requireSessionId(
      await api.getAiAgentSession({ agentId: config.id, ...contextOf(context), signal }),
      'The answer of the session call',
    )
  }, config.sessionId)

  const logger = config.logger ?? ownLogger(config, environment, () => ({ sessionId: session.id, agentId: config.id }))

  const events = new EventEmitter<AgentEvents>((error, name) => logger.error(`A listener of '${name}' failed.`, error))
  const emit: Emit = (type, payload) => {
    if (events.listenerCount(type) === 0) return
    const { id: sessionId } = session
    const timestamp = clock.now()
    const agentId = config.id
    const event = (
      sessionId === undefined
        ? { type, timestamp, agentId, payload: payload() }
        : { type, timestamp, sessionId, agentId, payload: payload() }
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
    adapter: contextAdapter(config.cache, environment),
    agentId: config.id,
    keyPrefix: config.cache.keyPrefix,
    now: clock.now,
    onFailure: error => logger.warn('The store of the context failed; it lives in memory only.', { error }),
  })
  const storedContext = context.restore()

  const startup = new Startup({
    endpoint: config.endpoint,
    agentId: config.id,
    cache: config.cache,
    authentication,
    loginScopes: loginScopes(config.auth),
    authScheme: config.authScheme,
    initParams: config.initParams,
    environment,
    logger,
    openContext: async extra => {
      await storedContext
      context.merge(config.context)
      context.merge(extra)
    },
    // An anonymous token is anybody's, and its subject may change with every token.
    onSignedIn: token => context.belongTo(authentication.isAnonymousStrategy() ? undefined : subjectFingerprint(token)),
    openSession: signal => session.require(signal),
    onReady: ({ agent }) => {
      outgoing.release()
      emit('initialized', () => ({ agent }))
      // A listener may have destroyed the agent. A failed attempt is an `error` event already.
      if (config.autoConnect && startup.isReady)
        chat.connect().catch(error => logger.debug('The first connection failed.', { error }))
    },
  })

  const processor = new MessageProcessor({ onRefreshRequired: expired => chat.renewToken(expired) })
  const place = new MessagePlace(clock, startup, session, config.id)
  const inbox = new Inbox(processor, () => place, {
    arrived: (message, type) => {
      if (message.persona === PERSONA.AGENT) chat.confirm()
      record(message, 'received', type)
    },
    handled: (message, result) => emitInbound(emit, message, result),
    unclaimed: message => logger.warn('A message arrived that no handler takes.', { role: message.role }),
    unreadable: (error, data) => {
      emitError(MessageError.unreadable(error))
      emit('message', () => ({ data }))
    },
    handlerFailed: error => logger.error('A message handler failed.', error),
  })

  const chat = new Chat({
    clock,
    page: environment.page,
    policy: createReconnectPolicy({ ...config, random: environment.random }),
    openTransport: webSocketTransport(environment.WebSocket),
    maxQueueSize: config.maxQueueSize,
    session,
    address: sessionId => {
      authentication.checkExpiry()
      const { agent, deployment } = startup.requireFacts('connect()')
      return chatAddress({ agent, deployment, sessionId: requireSessionId(sessionId, 'The session id') })
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
      flushed: count => emit('queueFlushed', () => ({ count })),
      tokenNeeded: () => emit('tokenExpiring', () => ({ reason: 'transport_request' })),
    },
  })

  const outgoing = new OutgoingMessages({
    isSettled: () => startup.isReady,
    limit: config.maxQueueSize,
    waitingInLane: () => chat.queueSize,
    newId: createMessageIds(() => environment.randomUUID()),
    now: clock.now,
    place: () => place,
    accept: (id, frame) => chat.send(id, frame),
    accepted: message => {
      if (isContextMessage(message)) context.merge(message.messageData.context)
      record(message, 'sent')
    },
    failed: emitError,
    full: id => queueFull(id, config.maxQueueSize),
  })

  for (const warning of config.warnings) logger.warn(warning)
  return {
    config,
    environment,
    logger,
    events,
    emitError,
    authentication,
    startup,
    session,
    chat,
    outgoing,
    inbox,
    processor,
    transcript,
    context,
  }
}

function ownLogger(config: ResolvedConfig, environment: Environment, contextProvider: () => LogContext): Logger {
  return new Logger(
    { name: `AiAgent:${config.id}`, level: config.logLevel, enableConsole: config.enableLogging, contextProvider },
    { console: environment.console, now: environment.clock.now },
  )
}

/**
 * Where the context is kept. Without a browser's store each agent has a memory of its own: agents of one process may
 * share answers and tokens, but their conversations are different people's.
 */
function contextAdapter(cache: CacheConfig, environment: Environment): CacheAdapter {
  if (cache.enabled === false) return new MemoryCacheAdapter()
  if (cache.adapter) return cache.adapter
  const adapter = createCacheAdapter(cache.storageType, environment)
  return adapter === environment.memory ? new MemoryCacheAdapter() : adapter
}

function contextOf(context: ContextStore): { context?: Record<string, unknown> } {
  const attributes = context.get()
  return attributes ? { context: { ...attributes } } : {}
}

/** The scopes of a login that the host configured. */
function loginScopes(auth: ResolvedConfig['auth']): readonly string[] | undefined {
  return auth && 'type' in auth && auth.type === 'pkce' ? auth.config.scopes : undefined
}

function isContextMessage(
  message: Message,
): message is Message & { messageData: { context: Record<string, unknown> } } {
  return (
    message.persona === PERSONA.SYSTEM && message.role === ROLE.CONTEXT && isJsonObject(message.messageData?.context)
  )
}
