// The service of both sides, in a separate process, so that its work counts for neither.
import { readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { PERSONA, parseClientMessage, paths, ROLE } from '@aiagent/protocol'
import { parameters, tell } from '@aiagent/test-support/program'
import { type WebSocket, WebSocketServer } from 'ws'
import { DESK, deskRoutes } from '../desk-records.ts'
import { DONE, ECHO, inboundFrame, READY } from '../frames.ts'
import type { Timeline } from '../timeline.ts'

/** `delayMs`: how long each answer and each upgrade waits. `pages`: a folder with the files of a page, which wait as long. */
const { delayMs, pages, certificate } = await parameters<{
  delayMs: number
  pages?: string
  certificate: { cert: string; key: string }
}>()

/** What the service reports once it listens, and whenever it is asked. */
export interface ServiceReport {
  readonly endpoint: string
  /** The calls since the last report. */
  readonly timeline: Timeline
}

/** Frames of one write, and unsent bytes above which the next write waits. */
const PUSH_BURST = 64
const PUSH_CONGESTED_BYTES = 1024 * 1024

const server = createServer(certificate, (request, response) => {
  const done = note(request.url)
  later(() => {
    answer(request, response)
    done()
  })
})
const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false })
server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
  const done = note(request.url)
  later(() => {
    done()
    sockets.handleUpgrade(request, socket, head, chat => converse(chat, socket))
  })
})
// Ends with its starter.
process.once('disconnect', () => process.exit(0))

const timeline: Timeline = []
process.on('message', report)
let endpoint = ''
let sessions = 0
let answers = 0
let routes: Record<string, () => unknown> = {}
server.listen(0, '127.0.0.1', () => {
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  routes = routesOf(host)
  endpoint = `https://${host}`
  report()
})

function report(): void {
  void tell({ endpoint, timeline: timeline.splice(0) } satisfies ServiceReport)
}

function routesOf(host: string): Record<string, () => unknown> {
  const origin = `https://${host}`
  return {
    [`GET ${paths.deploymentInfo()}`]: () => ({ apiDomain: origin, aiAgentDomain: host, tenantId: 'TEN0001' }),
    [`GET ${paths.metadataOfDeployment()}`]: () => ({
      authenticationDetails: {
        oAuthAnonymousCustomer: [{ accessTokenURL: `${origin}/oauth2/token` }],
        apiPermissionPrefix: '',
      },
    }),
    'POST /oauth2/token': () => ({ access_token: token(), token_type: 'Bearer', expires_in: 3600 }),
    [`GET ${paths.agentDetails('help')}`]: () => ({
      agentId: 'help',
      name: 'Help Centre',
      isAuthenticated: false,
      // Tokens for customers have one scope more, so that a second token is requested.
      userType: 'customer',
      webSocketDomain: `wss://${host}`,
    }),
    [`POST ${paths.session('help')}`]: () => ({ sessionId: `S${++sessions}` }),
    ...deskRoutes(host),
    [`POST ${paths.session(DESK.agentId)}`]: () => ({ sessionId: `S${++sessions}` }),
  }
}

/** Notes that a call came; returns what notes that it is answered. */
function note(address = ''): () => void {
  const came = performance.now()
  return () => void timeline.push([came, performance.now(), address])
}

function later(work: () => void): void {
  if (delayMs > 0) setTimeout(work, delayMs)
  else work()
}

function answer(request: IncomingMessage, response: ServerResponse): void {
  const { pathname } = new URL(request.url ?? '/', 'http://service')
  // Pages come from another port than this service's.
  response.setHeader('Access-Control-Allow-Origin', '*')
  response.setHeader('Access-Control-Allow-Headers', request.headers['access-control-request-headers'] ?? '*')
  request.resume()
  if (request.method === 'OPTIONS') return void response.writeHead(204).end()
  if (pages !== undefined && PAGE_FILE.test(pathname)) return sendPageFile(response, pages, pathname)
  const route = routes[`${request.method} ${pathname}`]
  if (!route) return void response.writeHead(404).end()
  json(response, route())
}

/** A file of a page, directly in its folder. */
const PAGE_FILE = /^\/[\w-]+[.](?:html|js)$/

function sendPageFile(response: ServerResponse, folder: string, pathname: string): void {
  const type = pathname.endsWith('.js') ? 'text/javascript' : 'text/html'
  response.writeHead(200, { 'Content-Type': type, 'Cache-Control': 'no-store' }).end(readFileSync(folder + pathname))
}

function json(response: ServerResponse, body: unknown): void {
  response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))
}

/** A token with a readable payload and without a valid signature, which is not checked here. */
function token(): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  return `${part({ alg: 'none' })}.${part({ exp: Math.floor(Date.now() / 1000) + 3600 })}.${part({})}`
}

function converse(chat: WebSocket, socket: Duplex): void {
  let awaited = 0
  chat.on('message', data => {
    if (awaited > 0) {
      if (--awaited === 0) say(chat, DONE)
      return
    }
    const { content = '' } = parseClientMessage(data.toString())
    if (content === ECHO) return say(chat, ECHO)
    const [command, count, bytes] = content.split(' ')
    if (command === '#expect') awaited = Number(count)
    else if (command === '#bytes') {
      countBytes(socket, Number(count), () => say(chat, DONE))
      say(chat, READY)
    } else if (command === '#push') push(chat, inboundFrame(Number(bytes)), Number(count))
  })
  chat.on('error', () => chat.terminate())
}

/** Counts what comes over a connection without reading it as frames, until that many bytes are there. */
function countBytes(socket: Duplex, count: number, done: () => void): void {
  const readers = socket.listeners('data') as ((chunk: Buffer) => void)[]
  let left = count
  const counter = (chunk: Buffer) => {
    left -= chunk.length
    if (left > 0) return
    socket.off('data', counter)
    for (const reader of readers) socket.on('data', reader)
    done()
  }
  for (const reader of readers) socket.off('data', reader)
  socket.on('data', counter)
}

function push(chat: WebSocket, frame: () => string, count: number): void {
  if (chat.readyState !== chat.OPEN) return
  let left = count
  if (chat.bufferedAmount < PUSH_CONGESTED_BYTES) {
    for (let burst = Math.min(left, PUSH_BURST); burst > 0; burst--, left--) chat.send(frame())
  }
  if (left > 0) setImmediate(() => push(chat, frame, left))
}

function say(chat: WebSocket, content: string): void {
  chat.send(
    JSON.stringify({ messageId: `b-${++answers}`, persona: PERSONA.AGENT, role: ROLE.CUSTOMER_SUPPORT, content }),
  )
}
