import { connect } from 'node:net'
import { networkInterfaces } from 'node:os'
import { ANONYMOUS_CLIENT, paths } from '@aiagent/protocol'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { openSession } from '../../test/port-caller.ts'
import { type EmulatorServer, type ServeOptions, serveEmulator } from './serve.ts'

const servers: EmulatorServer[] = []
afterEach(async () => {
  vi.restoreAllMocks()
  for (const server of servers.splice(0)) await server.close()
})

async function serve(options: ServeOptions = {}): Promise<EmulatorServer> {
  const server = await serveEmulator({ reply: () => ({ content: 'Hello.' }), ...options })
  servers.push(server)
  return server
}

/** Writes a request as text and resolves with the first line of the answer; empty when the connection closes without. */
function ask({ url }: EmulatorServer, lines: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    let text = ''
    const finish = () => {
      resolve(text.split('\r\n', 1)[0] ?? '')
      socket.destroy()
    }
    socket.on('data', data => {
      text += String(data)
      if (text.includes('\r\n')) finish()
    })
    socket.on('close', finish)
    socket.on('error', reject)
    socket.write(`${lines.join('\r\n')}\r\n\r\n`)
  })
}

const INFO = paths.deploymentInfo()
const LOGIN = '/acme/customer-sign-in/.well-known/openid-configuration'
const UPGRADE = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
]

describe('the Host of a request', () => {
  it.each([
    ['a path', `GET ${INFO} HTTP/1.1`, ['Host: evil.test']],
    ['a path and a port', `GET ${INFO} HTTP/1.1`, ['Host: evil.test:80']],
    ['a login', `GET ${LOGIN} HTTP/1.1`, ['Host: evil.test']],
    ['a name that begins like an address', `GET ${INFO} HTTP/1.1`, ['Host: 127.0.0.1.evil.test']],
    ['a user before a name of this machine', `GET ${INFO} HTTP/1.1`, ['Host: localhost@evil.test']],
    ['HTTP/1.0', `GET ${INFO} HTTP/1.0`, ['Host: evil.test']],
    ['an absolute target', `GET http://evil.test${INFO} HTTP/1.1`, ['Host: evil.test']],
    ['an absolute target, and a Host of this machine', `GET http://evil.test${INFO} HTTP/1.1`, ['Host: localhost']],
    [
      'an absolute target of this machine, and a foreign Host',
      `GET http://localhost${INFO} HTTP/1.1`,
      ['Host: evil.test'],
    ],
    ['a target with the host of another scheme', `GET //evil.test${INFO} HTTP/1.1`, ['Host: localhost']],
    ['two Host headers', `GET ${INFO} HTTP/1.1`, ['Host: localhost', 'Host: evil.test']],
    ['no Host at all', `GET ${INFO} HTTP/1.0`, []],
    ['the controls', 'GET /_control/requests HTTP/1.1', ['Host: evil.test']],
  ])('[SEC-41] is rejected if it is foreign: %s', async (_what, line, headers) => {
    expect(await ask(await serve(), [line, ...headers, 'Connection: close'])).toMatch(/^HTTP\/1\.1 4(?:00|03) /)
  })

  it.each([
    ['Host', (id: string) => [`GET /?sessionId=${id} HTTP/1.1`, 'Host: evil.test:8600']],
    ['absolute target', (id: string) => [`GET http://evil.test/?sessionId=${id} HTTP/1.1`, 'Host: 127.0.0.1']],
  ])('[SEC-41] is rejected in the %s of an upgrade', async (_what, request) => {
    const server = await serve()
    const id = await openSession(server)
    expect(await ask(server, [...request(id), ...UPGRADE])).toMatch(/^HTTP\/1\.1 403 /)
    expect(server.emulator.world.sessions.get(id)?.connections).toBe(0)
  })

  it.each(['127.0.0.1', '127.0.0.1:1', 'localhost', 'LOCALHOST:80', 'chat.localhost:1', '[::1]:8600'])(
    '[SEC-41] is accepted when it names this machine: %s',
    async host => {
      const server = await serve()
      expect(await ask(server, [`GET ${INFO} HTTP/1.1`, `Host: ${host}`])).toMatch(/ 200 /)
      expect(await ask(server, [`GET http://${host}${INFO} HTTP/1.1`, `Host: ${host}`])).toMatch(/ 200 /)
      const id = await openSession(server)
      expect(await ask(server, [`GET /?sessionId=${id} HTTP/1.1`, `Host: ${host}`, ...UPGRADE])).toMatch(/ 101 /)
    },
  )

  it('[SEC-41] is accepted when it is the origin that the emulator was given', async () => {
    const server = await serve({ origin: 'https://agents.example.test' })
    expect(await ask(server, [`GET ${INFO} HTTP/1.1`, 'Host: agents.example.test'])).toMatch(/ 200 /)
  })
})

describe('the body of a request', () => {
  const SIZE = 3 * 1024 * 1024
  const large = () => new Uint8Array(SIZE).fill(0x20)
  const chunks = () => {
    let left = SIZE
    return new ReadableStream({
      pull: controller => {
        controller.enqueue(new Uint8Array(64 * 1024).fill(0x20))
        left -= 64 * 1024
        if (left <= 0) controller.close()
      },
    })
  }

  it.each([
    ['a session', paths.session('help')],
    ['a token request', '/oauth/TEN0001/anonymous/token'],
    ['the controls', '/_control/faults'],
    ['a path without a route', '/nowhere'],
  ])('[SEC-42] is answered with 413 when it is too large: %s', async (_what, path) => {
    const server = await serve()
    const headers = { authorization: `Bearer ${server.emulator.control.issueToken()}` }
    const whole = await fetch(server.url + path, { method: 'POST', headers, body: large() })
    expect(whole.status).toBe(413)
    expect(await whole.json()).toMatchObject({ code: '413-001' })
    const streamed = { method: 'POST', headers, body: chunks(), duplex: 'half' } as RequestInit
    expect((await fetch(server.url + path, streamed)).status).toBe(413)
    // The service goes on.
    expect((await fetch(server.url + INFO)).status).toBe(200)
  })

  it('[SEC-42] is answered with 413 in process too, and a page may read the response', async () => {
    const { emulator } = await serve()
    const response = await emulator.fetch(emulator.origin + paths.session('help'), {
      method: 'POST',
      headers: { origin: 'https://shop.example' },
      body: large(),
    })
    expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([
      413,
      'https://shop.example',
    ])
    expect(emulator.control.requests().at(-1)).toMatchObject({ status: 413, path: paths.session('help') })
    expect(emulator.control.requests().at(-1)).not.toHaveProperty('body')
  })

  it('[SEC-42] is read where requests have no stream, as in Firefox', async () => {
    vi.spyOn(Request.prototype, 'body', 'get').mockReturnValue(undefined as unknown as null)
    const { emulator } = await serve()
    const post = (path: string, body: BodyInit) => emulator.fetch(emulator.origin + path, { method: 'POST', body })
    const credentials = { client_id: ANONYMOUS_CLIENT.id, client_secret: ANONYMOUS_CLIENT.secret }
    const form = new URLSearchParams({ grant_type: 'client_credentials', ...credentials })
    expect((await post('/oauth/TEN0001/anonymous/token', form)).status).toBe(200)
    expect((await post('/oauth/TEN0001/anonymous/token', large())).status).toBe(413)
    expect((await post('/oauth/TEN0001/anonymous/token', '')).status).toBe(400)
  })
})

describe('an emulator that is reachable from other machines', () => {
  const warningsOf = async (options: ServeOptions) => {
    const warnings: Error[] = []
    const hear = (warning: Error) => warnings.push(warning)
    process.on('warning', hear)
    try {
      const server = await serve(options)
      // Node emits a warning in a later turn.
      await fetch(server.url + INFO)
      return warnings.filter(warning => 'code' in warning && warning.code === 'AIAGENT_EMULATOR_EXPOSED')
    } finally {
      process.off('warning', hear)
    }
  }

  it('[SEC-43] warns once that others can sign in as any user', async () => {
    expect(await warningsOf({ host: '0.0.0.0' })).toHaveLength(1)
    expect(await warningsOf({ host: '127.0.0.1' })).toEqual([])
    expect(await warningsOf({ host: 'localhost' })).toEqual([])
  })

  const outside = Object.values(networkInterfaces())
    .flatMap(addresses => addresses ?? [])
    .find(({ family, internal }) => family === 'IPv4' && !internal)
  it.runIf(outside)('[SEC-41] accepts every host name', async () => {
    const server = await serve({ host: '0.0.0.0' })
    expect(await ask(server, [`GET ${INFO} HTTP/1.1`, 'Host: desk-7.example.test'])).toMatch(/ 200 /)
  })
})

describe('the sessions of a served emulator', () => {
  it('[SEC-95] have ids that cannot be guessed, unless a seed is given', async () => {
    const firstOf = async (options: ServeOptions) => openSession(await serve(options))
    const ids = [await firstOf({}), await firstOf({}), await firstOf({ seed: 1 }), await firstOf({ seed: 1 })]
    expect(new Set(ids).size).toBe(3)
    expect(ids[2]).toBe(ids[3])
    expect(ids[0]).toMatch(/^s-[\da-f]{20}$/)
  })
})

describe('the desk of a served emulator', () => {
  const FOREIGN = { Origin: 'https://evil.test' }
  const handleOf = (index: number) => `${index}`.padStart(40, 'x')
  const put = ({ url }: EmulatorServer, index: number) =>
    fetch(`${url}/live-desk/${handleOf(index)}`, { method: 'PUT', headers: FOREIGN })
  const say = async ({ url }: EmulatorServer, index: number, id: string, text: string) => {
    const body = JSON.stringify({ id, text })
    const init = { method: 'POST', headers: FOREIGN, body }
    return (await fetch(`${url}/live-desk/${handleOf(index)}/messages`, init)).status
  }

  it('[SEC-94] has a limit for the chats that wait, and takes more when a colleague has joined one', async () => {
    const server = await serve()
    const statuses: number[] = []
    for (let index = 0; index < 60; index++) statuses.push((await put(server, index)).status)
    expect(statuses).toEqual([...Array(50).fill(200), ...Array(10).fill(409)])
    // A repetition of a known one is answered.
    expect((await put(server, 0)).status).toBe(200)
    await server.emulator.desk.join()
    expect((await put(server, 60)).status).toBe(200)
    expect(server.emulator.desk.chats).toHaveLength(51)
  })

  it('[SEC-94] has a limit for the messages of a chat and for their characters', async () => {
    const server = await serve()
    for (const index of [0, 1]) await put(server, index)
    const large = 'x'.repeat(60_000)
    expect(await say(server, 0, 'a', large)).toBe(200)
    expect(await say(server, 0, 'b', large)).toBe(413)
    expect(await say(server, 0, 'a', large)).toBe(200)
    expect(await say(server, 0, 'c', 'short')).toBe(200)
    expect(await say(server, 0, large, '')).toBe(413)
    const [, many] = server.emulator.desk.chats
    for (let count = 0; count < 1_000; count++) many?.receive(`${count}`, '')
    expect(await say(server, 1, 'one more', 'short')).toBe(413)
    expect(server.emulator.desk.chats.map(({ messages }) => messages.length)).toEqual([2, 1_000])
  })
})
