import { turnEventLoop } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { type Approach, EmulatedSocket } from './emulated-socket.ts'
import type { SocketEnd } from './socket-end.ts'

const URL_OF_CHAT = 'ws://service.test/?sessionId=1'

/** A socket, the service's end of it, and everything either of them heard. */
const connect = async (approach?: Approach) => {
  const heard: unknown[] = []
  const ends: SocketEnd[] = []
  const events: unknown[] = []
  const socket = new EmulatedSocket(
    URL_OF_CHAT,
    approach ??
      (() => ({
        accepted: true,
        open: end => {
          ends.push(end)
          return {
            receive: data => heard.push(data),
            closed: () => heard.push('closed'),
            close: (code, reason) => end.close(code, reason),
          }
        },
      })),
  )
  socket.onopen = () => events.push('open')
  socket.onmessage = event => events.push(event.data)
  socket.onerror = () => events.push('error')
  socket.onclose = ({ code, reason, wasClean }) => events.push({ code, reason, wasClean })
  expect(events).toEqual([])
  expect(socket.readyState).toBe(EmulatedSocket.CONNECTING)
  await turnEventLoop()
  return { socket, events, heard, end: ends[0] as SocketEnd }
}

describe('EmulatedSocket', () => {
  it('opens, and delivers text in both directions in order, never within the call', async () => {
    const { socket, events, heard, end } = await connect()
    expect(socket.readyState).toBe(EmulatedSocket.OPEN)
    for (const text of ['a', 'b', 'c']) socket.send(text)
    end.send('x')
    end.send('y')
    expect(heard).toEqual([])
    expect(events).toEqual(['open'])
    await turnEventLoop()
    expect(heard).toEqual(['a', 'b', 'c'])
    expect(events).toEqual(['open', 'x', 'y'])
  })

  it('counts undelivered text in its buffered amount', async () => {
    const { socket } = await connect()
    socket.send('four')
    socket.send(new Uint8Array(3))
    expect(socket.bufferedAmount).toBe(7)
    await turnEventLoop()
    expect(socket.bufferedAmount).toBe(0)
  })

  it('delivers what was sent before a close of the client, then closes on both sides', async () => {
    const { socket, events, heard } = await connect()
    socket.send('last words')
    socket.close(1000, 'Client disconnect')
    expect(socket.readyState).toBe(EmulatedSocket.CLOSING)
    socket.send('too late')
    await turnEventLoop()
    expect(heard).toEqual(['last words', 'closed'])
    expect(events).toEqual(['open', { code: 1000, reason: 'Client disconnect', wasClean: true }])
    expect(socket.readyState).toBe(EmulatedSocket.CLOSED)
  })

  it('reports 1005 when the client closes without a code', async () => {
    const { socket, events } = await connect()
    socket.close()
    await turnEventLoop()
    expect(events).toEqual(['open', { code: 1005, reason: '', wasClean: true }])
  })

  it('receives nothing more once it is closing or closed', async () => {
    const { socket, events, end } = await connect()
    end.send('on its way')
    socket.close(1000)
    end.send('later')
    await turnEventLoop()
    end.send('much later')
    await turnEventLoop()
    expect(events).toEqual(['open', { code: 1000, reason: '', wasClean: true }])
  })

  it('delivers what the service sent before it closed, and then the close', async () => {
    const { events, heard, end } = await connect()
    end.send('goodbye')
    end.close(1001, 'away')
    end.send('nobody hears this')
    await turnEventLoop()
    expect(events).toEqual(['open', 'goodbye', { code: 1001, reason: 'away', wasClean: true }])
    expect(heard).toEqual(['closed'])
  })

  it('reports 1006 when the connection breaks', async () => {
    const { events, end } = await connect()
    end.terminate()
    await turnEventLoop()
    expect(events).toEqual(['open', { code: 1006, reason: '', wasClean: false }])
  })

  it('reports a rejected upgrade as an error and 1006, with the status that a browser would hide', async () => {
    const { socket, events } = await connect(() => ({ accepted: false, status: 404, code: '404-001', message: 'No' }))
    expect(events).toEqual(['error', { code: 1006, reason: '', wasClean: false }])
    expect(socket.httpStatus).toBe(404)
  })

  it('can be closed before it is open', async () => {
    const asked: URL[] = []
    const events: unknown[] = []
    const socket = new EmulatedSocket(URL_OF_CHAT, url => {
      asked.push(url)
      return { accepted: false, status: 404, code: '404-001', message: 'No' }
    })
    socket.onopen = () => events.push('open')
    socket.onclose = event => events.push(event.code)
    socket.close()
    await turnEventLoop()
    expect(events).toEqual([1006])
    expect(asked).toEqual([])
  })

  it('rejects sending before it is open, and closing with an invalid code', async () => {
    const socket = new EmulatedSocket(URL_OF_CHAT, () => ({ accepted: false, status: 404, code: '', message: '' }))
    expect(() => socket.send('x')).toThrow(expect.objectContaining({ name: 'InvalidStateError' }))
    expect(() => socket.close(1001)).toThrow(expect.objectContaining({ name: 'InvalidAccessError' }))
    await turnEventLoop()
  })

  it.each(['not an address', 'ftp://service.test/'])('rejects the address %s', address => {
    expect(() => new EmulatedSocket(address, () => ({ accepted: false, status: 404, code: '', message: '' }))).toThrow(
      SyntaxError,
    )
  })

  it('calls listeners in addition to handlers, once if requested, and none that was removed', async () => {
    const { socket, end } = await connect()
    const seen: string[] = []
    const always = (event: { data: unknown }) => seen.push(`always ${String(event.data)}`)
    const removed = () => seen.push('removed')
    socket.addEventListener('message', always)
    socket.addEventListener('message', always)
    socket.addEventListener('message', event => seen.push(`once ${String(event.data)}`), { once: true })
    socket.addEventListener('message', removed)
    socket.removeEventListener('message', removed)
    end.send('1')
    end.send('2')
    await turnEventLoop()
    expect(seen).toEqual(['always 1', 'once 1', 'always 2'])
  })
})
