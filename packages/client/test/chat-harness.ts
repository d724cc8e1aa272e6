import { FakeWebSocket, ManualClock, turnEventLoop } from '@aiagent/test-support'
import { Chat } from '../src/chat/chat.ts'
import { ChatSession, type SessionKeeper } from '../src/chat/chat-session.ts'
import { createReconnectPolicy } from '../src/chat/reconnect-policy.ts'
import type { TokenDialogueOptions } from '../src/chat/token-dialogue.ts'
import { webSocketTransport } from '../src/chat/websocket-transport.ts'
import { ConnectionError, SDKError } from '../src/errors.ts'
import type { AgentEventPayloadMap } from '../src/events.ts'
import { MessageOrigin } from '../src/outbox/message.ts'
import { Outbox } from '../src/outbox/outbox.ts'
import { Sending } from '../src/outbox/sending.ts'

export interface ChatSetUp {
  maxQueueSize?: number
  maxReconnectAttempts?: number
  /** Session id supplied by the host. */
  sessionId?: string
  createSession?(signal: AbortSignal): Promise<string>
  /** Set for an agent that requires a token. */
  token?: Partial<TokenDialogueOptions['authentication']>
  context?: string
  /** Stores the session for the next page. */
  keeper?: SessionKeeper
  /** Whether the service knows a session. */
  isKnown?(id: string): Promise<boolean>
  /** Set for a service that confirms each frame. */
  newFrameId?(): string
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
  const session = new ChatSession(
    {
      create: given.createSession ?? (async () => `session-${++sessions}`),
      suppliedId: given.sessionId,
      ...(given.isKnown && { isKnown: given.isKnown }),
    },
    given.keeper && (async use => use(given.keeper as SessionKeeper)),
  )
  const noToken = () => Promise.reject(new Error('no token expected'))
  const chat = new Chat({
    clock,
    policy: createReconnectPolicy(
      {
        maxReconnectAttempts: given.maxReconnectAttempts ?? Number.POSITIVE_INFINITY,
        baseReconnectDelay: 1_000,
        maxReconnectDelay: 30_000,
      },
      { random: () => 0 },
    ),
    openTransport: webSocketTransport(FakeWebSocket),
    session,
    address: sessionId => `wss://chat.example/?sessionId=${sessionId}`,
    facts: { agent: { isAuthenticated: given.token !== undefined } },
    authentication: { getToken: noToken, refresh: noToken, ...given.token },
    contextFrame: () => given.context,
    handleWritten() {},
    ...(given.newFrameId && { newFrameId: given.newFrameId }),
    handleStateChange() {},
    handleConnected() {},
    handleClosed() {},
    handleFrame: data => tell(`received ${data}`),
    handleFailure: fail,
    emit: (type, payload) => tell(labelOf({ [type]: payload() })),
  })
  let ids = 0
  const outbox = new Outbox({
    clock,
    maxQueueSize: given.maxQueueSize ?? 1_000,
    doubtAfterMs: 20_000,
    delivery: 'at-most-once',
    hasReceipts: () => false,
    hasResume: () => false,
    origin: new MessageOrigin(clock, {
      agentName: 'Help Centre',
      agentId: 'help',
      get sessionId() {
        return session.id
      },
    }),
    newId: () => `id-${ids++}`,
    isReady: () => true,
    mask: content => content,
    flushed: count => tell(`flushed ${count}`),
    failed: fail,
    updated() {},
    logger: { warn() {} },
  })
  outbox.attach({ chat, isOwnSession: () => session.isOwn, accepted() {} }, (...given) => new Sending(...given))
  return {
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
