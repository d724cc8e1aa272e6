import { FakeWebSocket, ManualClock, turnEventLoop } from '@aiagent/test-support'
import type { AuthenticationService } from '../src/auth/authentication-service.ts'
import { ReconnectPolicy } from '../src/chat/backoff.ts'
import type { ChatSession, Opening } from '../src/chat/chat-session.ts'
import { Connection } from '../src/chat/connection.ts'
import type { Environment } from '../src/platform/environment.ts'
import { toldByListener, watch } from './chat-harness.ts'
import { listen, setUpScope } from './fake-scope.ts'

interface ConnectionSetUp extends Partial<Pick<Environment, 'page' | 'WebSocket'>> {
  maxReconnectAttempts?: number
  /** Jitter. @default none: waits are 1, 2, 4, 8, 15, 15 … s */
  random?(): number
  /** The id of the session, asked for each attempt. */
  begin?(signal: AbortSignal): Promise<string>
}

/** Creates a connection over fake sockets and a manual clock, of a session that records what it is told. */
export function setUpConnection({
  maxReconnectAttempts = Number.POSITIVE_INFINITY,
  random = () => 0,
  begin,
  ...platform
}: ConnectionSetUp = {}) {
  FakeWebSocket.reset()
  const clock = new ManualClock()
  const { told, errors, tell, fail, when } = toldByListener()
  const ends = { count: 0 }
  let asked = 0
  const policy = new ReconnectPolicy(
    { maxReconnectAttempts, baseReconnectDelay: 1_000, maxReconnectDelay: 30_000 },
    { random },
  )
  const scope = setUpScope({ environment: { clock, WebSocket: FakeWebSocket, ...platform } })
  const session: Partial<ChatSession> = {
    begin: async signal => ({ sessionId: begin ? await begin(signal) : String(++asked) }) as Opening,
    handleOpened: () => ({}) as Opening,
    handleClosed() {},
    handleFailure: () => false,
    handleRefused: () => tell('session refused'),
    handleEnded: () => void (ends.count += 1),
  }
  const authentication: Partial<AuthenticationService> = { checkExpiry() {}, watchExpiry() {} }
  const connection = new Connection(scope, policy, { session, authentication } as ConstructorParameters<
    typeof Connection
  >[2])
  listen(scope, 'stateChanged', ({ state, previousState }) => tell(`${previousState} to ${state}`))
  listen(scope, 'closed', ({ code, willReconnect }) => tell(`closed ${code}${willReconnect ? ', reconnecting' : ''}`))
  listen(scope, 'error', ({ error }) => fail(error))
  connection.observe({ handleOpened: () => tell('opened'), handleFrame: data => tell(`received ${data}`) })
  const open = async () => {
    const opening = watch(connection.open())
    await turnEventLoop()
    FakeWebSocket.last.accept()
    await turnEventLoop()
    return opening
  }
  return { clock, scope, session, connection, told, errors, ends, open, when }
}
