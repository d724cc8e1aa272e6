import { FakeWebSocket, ManualClock, turnEventLoop } from '@aiagent/test-support'
import { ReconnectPolicy } from '../src/chat/backoff.ts'
import { Connection } from '../src/chat/connection.ts'
import { WebSocketTransport } from '../src/chat/transport.ts'
import type { Page } from '../src/platform/page.ts'
import { toldByListener, watch } from './chat-harness.ts'

interface ConnectionSetUp {
  page?: Page
  maxReconnectAttempts?: number
  address?(signal: AbortSignal): Promise<string>
}

/** Creates a connection over fake sockets and a manual clock. Backoff waits have no jitter: 1, 2, 4, 8, 15, 15 … s. */
export function setUpConnection({
  maxReconnectAttempts = Number.POSITIVE_INFINITY,
  address,
  page,
}: ConnectionSetUp = {}) {
  FakeWebSocket.reset()
  const clock = new ManualClock()
  const { told, errors, tell, fail, when } = toldByListener()
  const ends = { count: 0 }
  let asked = 0
  const policy = new ReconnectPolicy(
    { maxReconnectAttempts, baseReconnectDelay: 1_000, maxReconnectDelay: 30_000 },
    { random: () => 0 },
  )
  const connection = new Connection(clock, page, policy, {
    openTransport: (url, listener) => new WebSocketTransport(new FakeWebSocket(url), listener),
    resolveAddress: address ?? (async () => `wss://chat.example/${++asked}`),
    handleStateChange: (state, previous) => tell(`${previous} to ${state}`),
    handleOpened: () => tell('opened'),
    handleFrame: data => tell(`received ${data}`),
    handleClosed: ({ code, willReconnect }) => tell(`closed ${code}${willReconnect ? ', reconnecting' : ''}`),
    handleFailure: fail,
    handleSessionRefused: () => tell('session refused'),
    handleEnded: () => void (ends.count += 1),
  })
  const open = async () => {
    const opening = watch(connection.open())
    await turnEventLoop()
    FakeWebSocket.last.accept()
    await turnEventLoop()
    return opening
  }
  return { clock, connection, told, errors, ends, open, when }
}
