import { FakeWebSocket } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { WebSocketTransport } from './transport.ts'

/** As platforms do: what is written to a socket that is closing or closed disappears without a word. */
class SilentWebSocket extends FakeWebSocket {
  override send(data: string): void {
    if (this.readyState === 1) this.sent.push(data)
  }
}

function setUp(WebSocket: typeof FakeWebSocket = FakeWebSocket) {
  FakeWebSocket.reset()
  const told: unknown[] = []
  const transport = new WebSocketTransport(new WebSocket('wss://chat.example/'), {
    opened: () => told.push('opened'),
    received: (_transport, data) => told.push(data),
    closed: (_transport, event) => told.push(event),
  })
  return { transport, told, socket: FakeWebSocket.last }
}

describe('WebSocketTransport', () => {
  it('[SEC-51] closes on a frame above 8 MiB without reading it', () => {
    const { told, socket } = setUp()
    socket.accept()
    socket.receive('x'.repeat(8 * 1024 * 1024))
    expect(told).toHaveLength(2)
    socket.receive('x'.repeat(8 * 1024 * 1024 + 1))
    expect(told.slice(2)).toEqual([{ code: 1009, reason: expect.stringContaining('8 MiB') }])
    expect(socket.closedWith?.code).toBe(4009)
    socket.receive('late')
    expect(told).toHaveLength(3)
  })

  it('opens a socket to the address and reports its events', () => {
    const { told, socket } = setUp()
    expect(socket.url).toBe('wss://chat.example/')
    socket.accept()
    socket.receive('hello')
    socket.end(1001, 'bye')
    expect(told).toEqual(['opened', 'hello', { code: 1001, reason: 'bye', httpStatus: undefined }])
  })

  it('passes on with which status the upgrade was refused', () => {
    const { told, socket } = setUp()
    const refusal = { code: 1006, reason: '', wasClean: false, httpStatus: 404 }
    socket.onclose?.(refusal)
    expect(told).toEqual([{ code: 1006, reason: '', httpStatus: 404 }])
  })

  it('reports nothing after the close', () => {
    const { told, socket } = setUp()
    socket.accept()
    socket.end(1006)
    socket.receive('late')
    socket.end(1006)
    expect(told).toHaveLength(2)
  })

  it('reports nothing after its own close()', () => {
    const { transport, told, socket } = setUp()
    transport.close(1000, 'Client disconnect')
    expect(socket.closedWith).toEqual({ code: 1000, reason: 'Client disconnect' })
    socket.accept()
    socket.receive('late')
    socket.onerror?.({})
    socket.end(1006)
    expect(told).toEqual([])
  })

  it('takes an error in silence, for a close follows', () => {
    const { told, socket } = setUp()
    socket.onerror?.({})
    expect(told).toEqual([])
  })

  it('writes, and knows what has not left', () => {
    const { transport, socket } = setUp()
    socket.accept()
    transport.send('a')
    socket.bufferedAmount = 7
    expect(socket.sent).toEqual(['a'])
    expect(transport.bufferedAmount).toBe(7)
  })

  it.each([undefined, {}])('counts the close event %j of a stand-in as an abnormal close', event => {
    const { socket, told } = setUp()
    socket.accept()
    ;(socket.onclose as (event?: object) => void)(event)
    expect(told.at(-1)).toEqual({ code: 1006, reason: '' })
  })

  it('has nothing to wait for where a stand-in does not count what has not left', () => {
    const { transport, socket } = setUp()
    Reflect.deleteProperty(socket, 'bufferedAmount')
    expect(transport.bufferedAmount).toBe(0)
  })

  it.each([2, 3])('refuses to write in ready state %i, where a platform drops the text without a word', state => {
    const { transport, socket } = setUp(SilentWebSocket)
    socket.readyState = state
    expect(() => transport.send('lost')).toThrow('not open')
  })
})
