// A proxy that damages connections below HTTP, in front of any server on TCP: here one for WebSockets that repeats what it hears.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { startFaultProxy } from '@aiagent/emulator/node'
import WebSocket, { WebSocketServer } from 'ws'

const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
server.on('connection', socket => socket.on('message', data => socket.send(String(data))))
await once(server, 'listening')
const { port } = server.address() as AddressInfo

// #region start
const proxy = await startFaultProxy({ target: `http://127.0.0.1:${port}` })
const socket = new WebSocket(proxy.url.replace('http', 'ws'))
// #endregion
const heard: string[] = []
socket.on('message', data => heard.push(String(data)))
socket.on('error', () => {})
await once(socket, 'open')

// #region stall
proxy.stall() // neither end learns of it, as with a phone in a tunnel
socket.send('hello')
assert.equal(socket.readyState, WebSocket.OPEN)
assert.deepEqual(heard, [])
proxy.resume() // what was sent arrives
// #endregion
await once(socket, 'message')
assert.deepEqual(heard, ['hello'])

// #region cut
proxy.refuse() // later connections are reset, until proxy.refuse(false)
proxy.cut() // and those that are open
const [code] = await once(socket, 'close')
assert.equal(code, 1006)
// #endregion
await proxy.close()
server.close()
