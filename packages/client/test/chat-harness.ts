import { FakeWebSocket, ManualClock, turnEventLoop } from '@aiagent/test-support'
import type { AuthenticationService } from '../src/auth/authentication-service.ts'
import { ReconnectPolicy } from '../src/chat/backoff.ts'
import { Chat } from '../src/chat/chat.ts'
import { ChatSession, type SessionKeeper } from '../src/chat/chat-session.ts'
import { Connection } from '../src/chat/connection.ts'
import { ContextStore } from '../src/chat/context-store.ts'
import { Liveness } from '../src/chat/liveness.ts'
import { ApiError, ConnectionError, SDKError } from '../src/errors.ts'
import type { AgentEventPayloadMap, AgentEventType } from '../src/events.ts'
import { MessageLog } from '../src/log/message-log.ts'
import { Masking } from '../src/masking/masking.ts'
import { Outbox } from '../src/outbox/outbox.ts'
import type { ApiHelper } from '../src/rest/api-helper.ts'
import { listen, setUpScope } from './fake-scope.ts'

interface SessionSetUp {
  create?(signal: AbortSignal): Promise<string>
  /** Whether the service knows a session. @default it knows each */
  isKnown?(id: string): Promise<boolean>
  /** Session id supplied by the host. */
  suppliedId?: string | undefined
}

/** The REST calls about sessions. */
function sessionApi({ create, isKnown }: SessionSetUp): Partial<ApiHelper> {
  return {
    getAiAgentSession: ({ signal }) =>
      create ? create(signal as AbortSignal) : Promise.reject(new Error('not expected')),
    getPreviousTranscript: async ({ sessionId }) => {
      if ((await isKnown?.(sessionId)) !== false) return []
      throw new ApiError('unknown', { reason: 'status', status: 404 } as never)
    },
  }
}

/** A session whose calls the test answers. */
export function createSession(given: SessionSetUp, keeper?: SessionKeeper): ChatSession {
  const config = { ...(given.suppliedId !== undefined && { sessionId: given.suppliedId }) }
  const environment = { clock: new ManualClock(), WebSocket: FakeWebSocket }
  const scope = setUpScope({ config, api: sessionApi(given), environment })
  const log = new MessageLog({}, scope)
  const context = { plan: 'gold' }
  return new ChatSession(scope, { get: () => context }, log, keeper && (async use => use(keeper)))
}

/** Whether the next opening of the chat sends the context to the session. */
export async function sendsContext(session: ChatSession): Promise<boolean> {
  let count = 0
  await session.begin(new AbortController().signal)
  session.sendContext({ bufferedAmount: 0, send: () => void count++, close() {} })
  return count > 0
}

export interface ChatSetUp {
  maxQueueSize?: number
  maxReconnectAttempts?: number
  /** Session id supplied by the host. */
  sessionId?: string
  createSession?(signal: AbortSignal): Promise<string>
  /** Set for an agent that requires a token. */
  token?: Partial<Pick<AuthenticationService, 'getToken' | 'refresh'>>
  context?: Record<string, unknown>
  /** Stores the session for the next page. */
  keeper?: SessionKeeper
  /** Whether the service knows a session. */
  isKnown?(id: string): Promise<boolean>
  /** Whether the service confirms each frame. */
  hasReceipts?: boolean
}

/**
 * Creates a chat over fake sockets and a manual clock. `told` records the notifications of its listener as strings. Backoff
 * waits have no jitter: 1, 2, 4 … 15 s.
 */
export function setUpChat(given: ChatSetUp = {}) {
  FakeWebSocket.reset()
  const clock = new ManualClock()
  const { told, errors, tell, fail, when } = toldByListener()
  let sessions = 0
  const scope = setUpScope({
    config: {
      ...(given.maxQueueSize !== undefined && { maxQueueSize: given.maxQueueSize }),
      ...(given.sessionId !== undefined && { sessionId: given.sessionId }),
    },
    environment: { clock, WebSocket: FakeWebSocket },
    capabilities: given.hasReceipts ? ['receipts'] : [],
    isAuthenticated: given.token !== undefined,
    api: sessionApi({
      create: given.createSession ?? (async () => `session-${++sessions}`),
      ...(given.isKnown && { isKnown: given.isKnown }),
    }),
  })
  scope.status.isReady = true
  for (const type of ['stateChanged', 'closed', 'connected', 'tokenExpiring'] as const satisfies AgentEventType[])
    listen(scope, type, payload => tell(labelOf({ [type]: payload })))
  listen(scope, 'error', ({ error }) => fail(error))
  listen(scope, 'queueFlushed', ({ count }) => tell(`flushed ${count}`))
  const { keeper } = given
  const context = new ContextStore(scope)
  if (given.context) context.merge(given.context)
  const log = new MessageLog({}, scope)
  const session = new ChatSession(scope, context, log, keeper && (async use => use(keeper)))
  const noToken = () => Promise.reject(new Error('no token expected'))
  const authentication = {
    getToken: noToken,
    refresh: noToken,
    checkExpiry() {},
    watchExpiry() {},
    setTokenExpiringCallback() {},
    ...given.token,
  } as unknown as AuthenticationService
  const policy = new ReconnectPolicy(
    {
      maxReconnectAttempts: given.maxReconnectAttempts ?? Number.POSITIVE_INFINITY,
      baseReconnectDelay: 1_000,
      maxReconnectDelay: 30_000,
    },
    { random: () => 0 },
  )
  const connection = new Connection(scope, policy, { session, authentication })
  const chat = new Chat(scope, { connection, session, authentication, log })
  connection.observe({ handleFrame: data => tell(`received ${data}`) })
  const liveness = new Liveness(scope, connection, session)
  const masking = new Masking({})
  const outbox = new Outbox(scope, {
    authentication,
    masking,
    connection,
    chat,
    session,
    context,
    log,
    liveness,
  })
  return {
    scope,
    connection,
    chat,
    outbox,
    clock,
    session,
    told,
    errors,
    when,
    /** Number of sockets that are open or opening. */
    liveSockets: () => FakeWebSocket.made.filter(socket => socket.readyState < 2).length,
  }
}

/** An event of the chat as a string. */
function labelOf({ stateChanged, closed, tokenExpiring }: Partial<AgentEventPayloadMap>): string {
  if (stateChanged) return stateChanged.state
  if (closed) return `closed ${closed.code}${closed.willReconnect ? ', reconnecting' : ''}`
  return tokenExpiring ? `token needed: ${tokenExpiring.reason}` : 'connected'
}

/** The frame of a user's text. */
export const userFrame = (content: string) => ({ persona: 'customer', role: 'human', content })

/** The contents of the frames that were written to a socket, in order. */
export const contentsOf = (socket: FakeWebSocket): unknown[] =>
  socket.sent.map(frame => (JSON.parse(frame) as { content?: unknown }).content)

/** Records notifications as strings, in order. */
export function toldByListener() {
  const told: string[] = []
  const errors: SDKError[] = []
  const reactions = new Map<string, () => void>()
  const tell = (label: string) => {
    told.push(label)
    const react = reactions.get(label)
    reactions.delete(label)
    react?.()
  }
  const fail = (error: SDKError) => {
    errors.push(error)
    tell(`failed ${error instanceof ConnectionError ? error.reason : error.code}`)
  }
  /** Runs a function at the next notification with this label. */
  const when = (label: string, react: () => void) => void reactions.set(label, react)
  return { told, errors, tell, fail, when }
}

/** As {@link setUpChat}, with the chat open; `connecting` is the outcome of its `connect()`. */
export async function setUpOpenChat(given: ChatSetUp = {}) {
  const setUp = setUpChat(given)
  const connecting = watch(setUp.chat.connect())
  await turnEventLoop()
  FakeWebSocket.last.accept()
  await turnEventLoop()
  return { ...setUp, connecting }
}

/** Observes a promise; its outcome is the code of its error when it rejects. */
export function watch(promise: Promise<unknown>): { outcome: string; error: unknown } {
  const seen: { outcome: string; error: unknown } = { outcome: 'pending', error: undefined }
  promise.then(
    () => {
      seen.outcome = 'done'
    },
    (error: unknown) => {
      seen.outcome = error instanceof SDKError ? error.code : String(error)
      seen.error = error
    },
  )
  return seen
}

/** A promise with functions that settle it. */
export function deferred<T>() {
  let resolve: (value: T) => void = () => {}
  let reject: (cause: unknown) => void = () => {}
  const promise = new Promise<T>((onResolve, onReject) => {
    resolve = onResolve
    reject = onReject
  })
  return { promise, resolve, reject }
}
