import { FakeWebSocket, turnEventLoop } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { watch } from '../../test/chat-harness.ts'
import { setUpConnection as setUp } from '../../test/connection-harness.ts'
import { listen } from '../../test/fake-scope.ts'
import { ConnectionError, SDKError } from '../errors.ts'
import type { ChatClosed } from '../events.ts'
import { DEAD_CONNECTION_REASON } from '../platform/socket-limits.ts'

const last = () => FakeWebSocket.last

/** A connection that records what follows each close and each change of its state. */
function setUpWaits() {
  const { clock, scope, connection, errors, open } = setUp({ maxReconnectAttempts: 9 })
  const closed: ChatClosed[] = []
  const waits: (number | undefined)[] = []
  listen(scope, 'stateChanged', ({ retryInMs }) => void waits.push(retryInMs))
  listen(scope, 'closed', event => void closed.push(event))
  return { clock, connection, closed, waits, errors, open }
}

describe('the wait before the next attempt', () => {
  it('is told with the state and with the close, and with no other', async () => {
    const { open, waits, closed } = setUpWaits()
    await open()
    expect(waits).toEqual([undefined, undefined])
    last().end(1006)
    expect(waits).toEqual([undefined, undefined, 1_000])
    expect(closed).toEqual([{ code: 1006, reason: '', cause: 'network', willReconnect: true, retryInMs: 1_000 }])
  })

  it('is left out once for a dead connection, and not for those that follow', async () => {
    const { clock, connection, open, closed, waits } = setUpWaits()
    await open()
    connection.replace()
    expect(closed).toEqual([
      { code: 1006, reason: DEAD_CONNECTION_REASON, cause: 'dead_connection', willReconnect: true, retryInMs: 0 },
    ])
    await clock.advance(0)
    last().accept()
    await turnEventLoop()
    connection.replace()
    expect(waits.at(-1)).toBe(2_000)
    expect(closed.at(-1)).toMatchObject({ cause: 'dead_connection', retryInMs: 2_000 })
  })

  it('is counted again from the shortest one, once the service works', async () => {
    const { clock, connection, open, waits } = setUpWaits()
    await open()
    expect(connection.retry.attempts).toBe(0)
    last().end(1006)
    expect(connection.retry.attempts).toBe(1)
    await clock.advance(1_000)
    last().end(1006)
    await turnEventLoop()
    expect([connection.retry.attempts, waits.at(-1)]).toEqual([2, 2_000])
    await clock.advance(2_000)
    last().accept()
    connection.retry.attempts = 0
    last().end(1006)
    expect(waits.at(-1)).toBe(1_000)
  })
})

describe('a failed attempt', () => {
  const refuse = (code: number, httpStatus?: number) => {
    last().readyState = 3
    last().onclose?.(Object.assign({ code, reason: '', wasClean: false }, httpStatus !== undefined && { httpStatus }))
  }

  it.each([
    ['HTTP status 503', 1006, 503, 'refused'],
    ['close code 1011', 1011, undefined, 'closed'],
    ['close code 1006', 1006, undefined, 'refused'],
    ['HTTP status 503', 1011, 503, 'refused'],
  ])('names %s', async (words, code, httpStatus, reason) => {
    const { connection, errors } = setUp()
    const opening = watch(connection.open())
    await turnEventLoop()
    refuse(code, httpStatus)
    await turnEventLoop()
    expect(opening.error).toMatchObject({ reason, closeCode: code, message: expect.stringContaining(words) })
    expect((opening.error as ConnectionError).httpStatus).toBe(httpStatus)
    expect(errors).toEqual([opening.error])
  })

  it('names the time limit in seconds', async () => {
    const { connection, clock } = setUp()
    const opening = watch(connection.open())
    await clock.advance(10_000)
    expect(opening.error).toMatchObject({ reason: 'timeout', message: expect.stringContaining(' 10 s') })
  })

  it.each([
    ['an address that cannot be determined', new TypeError('odd'), { reason: 'no_address' }],
    ['an agent that is not initialized', new SDKError('Not yet.', 'NOT_INITIALIZED'), { code: 'NOT_INITIALIZED' }],
    ['an unusable session', new SDKError('Not that.', 'SESSION_ID_INVALID'), { code: 'SESSION_ID_INVALID' }],
  ])('is the last one for %s', async (_case, cause, expected) => {
    const { connection, clock } = setUp({ begin: () => Promise.reject(cause) })
    const opening = watch(connection.open())
    await turnEventLoop()
    expect(opening.error).toMatchObject(expected)
    if (cause instanceof SDKError) expect(opening.error).toBe(cause)
    else expect(opening.error).toMatchObject({ cause })
    await clock.advance(60_000)
    expect([connection.state, FakeWebSocket.made.length]).toEqual(['CLOSED', 0])
  })

  it('is followed by another one for any other error', async () => {
    let asked = 0
    const begin = () => (asked++, Promise.reject(new ConnectionError('Not now.', 'refused')))
    const { connection, clock } = setUp({ begin })
    watch(connection.open())
    await clock.advance(1_000)
    expect([connection.state, asked]).toEqual(['RECONNECTING', 2])
  })
})

describe('an open connection', () => {
  it('that is closed twice reports one close', async () => {
    const { connection, open, closed } = setUpWaits()
    await open()
    connection.close()
    connection.close()
    expect(closed).toEqual([{ code: 1000, reason: '', cause: 'left', willReconnect: false }])
    expect(last().closedWith).toEqual({ code: 1000, reason: '' })
  })

  it('is not replaced while there is none', async () => {
    const { connection, open, closed } = setUpWaits()
    connection.replace()
    expect([connection.state, closed]).toEqual(['IDLE', []])
    await open()
    connection.close()
    connection.replace()
    expect([connection.state, closed.length]).toEqual(['CLOSED', 1])
  })

  it('whose session is unknown names the code', async () => {
    const { open, errors } = setUpWaits()
    await open()
    last().end(4404)
    expect(errors).toMatchObject([{ reason: 'closed', closeCode: 4404 }])
  })

  it('does not open for a caller who gave up before, and names the call', async () => {
    const { connection } = setUp()
    const given = new AbortController()
    given.abort()
    const refused = watch(connection.open(given.signal))
    await turnEventLoop()
    expect(refused.error).toMatchObject({ code: 'ABORTED', message: expect.stringContaining('connect()') })
    const later = new AbortController()
    const waiting = watch(connection.open(later.signal))
    later.abort()
    await turnEventLoop()
    expect(waiting.error).toMatchObject({ code: 'ABORTED', message: expect.stringContaining('connect()') })
    expect(connection.state).toBe('CLOSED')
  })

  it('that comes back goes on when a caller gives up who had ended its wait', async () => {
    const { connection, open } = setUp()
    await open()
    last().end(1006)
    expect(connection.state).toBe('RECONNECTING')
    const given = new AbortController()
    const waiting = watch(connection.open(given.signal))
    await turnEventLoop()
    given.abort()
    await turnEventLoop()
    expect([waiting.outcome, connection.state]).toEqual(['ABORTED', 'CONNECTING'])
    last().accept()
    expect(connection.state).toBe('CONNECTED')
  })
})
