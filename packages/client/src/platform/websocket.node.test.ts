import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { eventually } from '@aiagent/test-support'
import { afterEach, describe, expect, it } from 'vitest'
import { WebSocketServer } from 'ws'
import type { SocketCloseEvent, WebSocketLike } from './environment.ts'
import { WebSocketImplementation } from './websocket.node.ts'

const undo: Array<() => void> = []
afterEach(() => {
  for (const step of undo.splice(0)) step()
})

async function listen(server: Server): Promise<string> {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  undo.push(() => {
    server.close()
    server.closeAllConnections()
  })
  return `ws://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

function watch(url: string) {
  const socket: WebSocketLike = new WebSocketImplementation(url)
  const opened: unknown[] = []
  const texts: unknown[] = []
  const errors: unknown[] = []
  const closed: SocketCloseEvent[] = []
  socket.onopen = event => opened.push(event)
  socket.onmessage = ({ data }: { data: unknown }) => texts.push(data)
  socket.onerror = event => errors.push(event)
  socket.onclose = (event: SocketCloseEvent) => closed.push(event)
  return { socket, opened, texts, errors, closed }
}

describe('WebSocketImplementation on Node', () => {
  it('[SEC-51] closes with 1009 on a frame above 8 MiB without reading it', async () => {
    const http = createServer()
    const service = new WebSocketServer({ server: http })
    service.on('connection', peer => peer.send('x'.repeat(8 * 1024 * 1024 + 1)))
    const { texts, closed } = watch(await listen(http))
    await eventually(() => closed.length === 1)
    expect(closed).toMatchObject([{ code: 1009, reason: expect.stringContaining('8 MiB') }])
    expect(texts).toEqual([])
    service.close()
  })

  it('sends and receives text, and reports how the service closed', async () => {
    const http = createServer()
    const service = new WebSocketServer({ server: http })
    service.on('connection', peer => {
      peer.on('message', data => {
        peer.send(`echo ${data}`)
        peer.send(Buffer.from([1, 2]))
        peer.close(4404, 'unknown')
      })
    })
    const { socket, opened, texts, errors, closed } = watch(await listen(http))
    await eventually(() => opened.length)
    expect(socket.readyState).toBe(1)
    socket.send('hello')
    await eventually(() => closed.length)
    expect(texts).toEqual(['echo hello', Buffer.from([1, 2])])
    expect(closed).toEqual([{ code: 4404, reason: 'unknown', wasClean: true, httpStatus: undefined }])
    expect(errors).toEqual([])
    expect(socket.readyState).toBe(3)
  })

  it('sends the frames of one turn together and in order, and counts them as buffered until then', async () => {
    const http = createServer()
    const chunks: number[] = []
    const received: string[] = []
    http.on('connection', net => net.on('data', chunk => chunks.push(chunk.length)))
    new WebSocketServer({ server: http }).on('connection', peer =>
      peer.on('message', data => received.push(String(data))),
    )
    const { socket, opened } = watch(await listen(http))
    await eventually(() => opened.length)
    chunks.length = 0
    const sent = Array.from({ length: 50 }, (_, index) => `message ${index}`)
    for (const text of sent) socket.send(text)
    expect(socket.bufferedAmount).toBeGreaterThan(50 * 9)
    await eventually(() => received.length === 50)
    expect(received).toEqual(sent)
    expect(chunks.length).toBeLessThan(5)
    socket.send('another turn')
    await eventually(() => received.length === 51)
    socket.close(1000)
  })

  it('delivers a burst in slices, in order, and the close after the last frame', async () => {
    const http = createServer()
    new WebSocketServer({ server: http, perMessageDeflate: false }).on('connection', peer => {
      for (let index = 0; index < 5_000; index++) peer.send(String(index))
      peer.close(4000, 'enough')
    })
    const { socket, texts, closed } = watch(await listen(http))
    let turns = 0
    let told = 0
    let longest = 0
    const count = socket.onmessage as unknown as (event: { data: unknown }) => void
    let turn = setImmediate(function next() {
      turns++
      longest = Math.max(longest, texts.length - told)
      told = texts.length
      turn = setImmediate(next)
    })
    undo.push(() => clearImmediate(turn))
    const closedWhen: number[] = []
    socket.onmessage = (event: { data: unknown }) => {
      closedWhen.push(closed.length)
      count(event)
    }
    await eventually(() => closed.length)
    expect(texts).toEqual(Array.from({ length: 5_000 }, (_, index) => String(index)))
    expect(closed).toMatchObject([{ code: 4000, reason: 'enough' }])
    expect(closedWhen.every(length => length === 0)).toBe(true)
    expect(longest).toBeLessThanOrEqual(256)
    expect(turns).toBeGreaterThan(20)
  })

  it.each(['0', '500'])('continues when a listener throws at frame %s of a burst', async thrownAt => {
    const http = createServer()
    new WebSocketServer({ server: http, perMessageDeflate: false }).on('connection', peer => {
      for (let index = 0; index < 1_000; index++) peer.send(String(index))
      peer.close(1000)
    })
    const { socket, closed } = watch(await listen(http))
    const uncaught: unknown[] = []
    const others = process.listeners('uncaughtException')
    process.removeAllListeners('uncaughtException')
    process.on('uncaughtException', error => uncaught.push(error))
    undo.push(() => {
      process.removeAllListeners('uncaughtException')
      for (const listener of others) process.on('uncaughtException', listener)
    })
    const texts: unknown[] = []
    socket.onmessage = ({ data }: { data: unknown }) => {
      texts.push(data)
      if (data === thrownAt) throw new Error('no')
    }
    await eventually(() => closed.length)
    expect(texts).toHaveLength(1_000)
    expect(uncaught).toMatchObject([{ message: 'no' }])
  })

  it.each([
    [404, ''],
    [410, ''],
    [401, ''],
    [302, 'not a chat service: a proxy or the sign-in page of a network may have answered'],
    [503, ''],
  ])('closes once with 1006 and the status when the upgrade is refused with %i', async (status, why) => {
    const http = createServer()
    http.on('upgrade', (_request, net) => net.end(`HTTP/1.1 ${status} Refused\r\nContent-Length: 2\r\n\r\nno`))
    const { opened, errors, closed } = watch(await listen(http))
    await eventually(() => closed.length)
    expect(closed).toEqual([{ code: 1006, reason: '', wasClean: false, httpStatus: status, why }])
    expect(errors).toHaveLength(1)
    expect(opened).toEqual([])
  })

  it('closes once with 1006 when no server listens', async () => {
    const http = createServer()
    const url = await listen(http)
    await new Promise(resolve => http.close(resolve))
    const { errors, closed } = watch(url)
    await eventually(() => closed.length)
    expect(closed).toMatchObject([{ code: 1006, httpStatus: undefined }])
    expect(errors).toHaveLength(1)
  })

  it('closes once when it is closed before it is open', async () => {
    const http = createServer()
    http.on('upgrade', () => {})
    const { socket, closed } = watch(await listen(http))
    socket.close()
    await eventually(() => closed.length)
    expect(closed).toMatchObject([{ code: 1006 }])
  })

  it('disconnects a peer that never answers the close frame well before thirty seconds', async () => {
    const http = createServer()
    const service = new WebSocketServer({ server: http, autoPong: false })
    // The peer never reads our close frame.
    service.on('connection', (_peer, request) => request.socket.pause())
    const { socket, opened, closed } = watch(await listen(http))
    await eventually(() => opened.length)
    socket.close(1000)
    await eventually(() => closed.length)
    expect(closed).toMatchObject([{ code: 1006 }])
  })
})
