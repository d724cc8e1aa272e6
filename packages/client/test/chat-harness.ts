import { FakeWebSocket, ManualClock, turnEventLoop } from '@aiagent/test-support'
import { Chat, type ChatOptions } from '../src/chat/chat.ts'
import { ChatSession } from '../src/chat/chat-session.ts'
import { createReconnectPolicy } from '../src/chat/reconnect-policy.ts'
import { webSocketTransport } from '../src/chat/websocket-transport.ts'
import { ConnectionError, SDKError } from '../src/errors.ts'
import { MessageOrigin } from '../src/outbox/message.ts'
import { Outbox } from '../src/outbox/outbox.ts'

export interface ChatSetUp {
  maxQueueSize?: number
  maxReconnectAttempts?: number
  /** The session the host brings. */
  sessionId?: string
  createSession?(signal: AbortSignal): Promise<string>
  /** An agent that wants a token has one. */
  token?: Partial<ChatOptions['token']>
  context?: string
}

/**
 * A chat over fake sockets and a clock that stands still. `told` is what the host would hear, in order and in short;
 * waits are drawn at the lower end: 1, 2, 4 … 15 s.
 */
export function setUpChat(given: ChatSetUp = {}) {
  FakeWebSocket.reset()
  const clock = new ManualClock()
  const { told, errors, tell, fail, when } = toldByListener()
  let sessions = 0
  const session = new ChatSession(given.createSession ?? (async () => `session-${++sessions}`), given.sessionId)
  const noToken = () => Promise.reject(new Error('nobody asks'))
  const chat = new Chat({
    clock,
    policy: createReconnectPolicy({
      maxReconnectAttempts: given.maxReconnectAttempts ?? Number.POSITIVE_INFINITY,
      baseReconnectDelay: 1_000,
      maxReconnectDelay: 30_000,
      random: () => 0,
    }),
    openTransport: webSocketTransport(FakeWebSocket),
    session,
    address: sessionId => `wss://chat.example/?sessionId=${sessionId}`,
    token: { required: () => given.token !== undefined, getToken: noToken, refresh: noToken, ...given.token },
    contextFrame: () => given.context,
    listener: {
      stateChanged: state => tell(state),
      connected: () => tell('connected'),
      closed: ({ code, willReconnect }) => tell(`closed ${code}${willReconnect ? ', back soon' : ''}`),
      received: data => tell(`received ${data}`),
      failed: fail,
      tokenNeeded: () => tell('token needed'),
    },
  })
  let ids = 0
  const outbox = new Outbox({
    clock,
    maxQueueSize: given.maxQueueSize ?? 1_000,
    chat,
    origin: new MessageOrigin(clock, { agentName: 'Help Centre' }, session, () => 'help'),
    newId: () => `id-${ids++}`,
    isReady: () => true,
    mask: content => content,
    listener: { accepted() {}, flushed: count => tell(`flushed ${count}`), failed: fail, warn() {} },
  })
  return {
    chat,
    outbox,
    clock,
    session,
    told,
    errors,
    when,
    /** How many sockets are open or being opened. */
    liveSockets: () => FakeWebSocket.made.filter(socket => socket.readyState < 2).length,
  }
}

/** The frame of a user's text. */
export const userFrame = (content: string) => ({ persona: 'customer', role: 'human', content })

/** The contents of the frames that were written to a socket, in order. */
export const contentsOf = (socket: FakeWebSocket): unknown[] =>
  socket.sent.map(frame => (JSON.parse(frame) as { content?: unknown }).content)

/** What a listener was told, in order and in short. */
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
  /** Does something the next time this is told. */
  const when = (label: string, react: () => void) => void reactions.set(label, react)
  return { told, errors, tell, fail, when }
}

/** As {@link setUpChat}, with the chat open and `connecting` what became of its `connect()`. */
export async function setUpOpenChat(given: ChatSetUp = {}) {
  const setUp = setUpChat(given)
  const connecting = watch(setUp.chat.connect())
  await turnEventLoop()
  FakeWebSocket.last.accept()
  await turnEventLoop()
  return { ...setUp, connecting }
}

/** Watches a promise: its error's code when it is rejected. */
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

/** A promise that is settled from outside. */
export function deferred<T>() {
  let resolve: (value: T) => void = () => {}
  let reject: (cause: unknown) => void = () => {}
  const promise = new Promise<T>((onResolve, onReject) => {
    resolve = onResolve
    reject = onReject
  })
  return { promise, resolve, reject }
}
