import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { get } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { paths } from '@aiagent/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { openChat, openSession, until } from '../../test/port-caller.ts'
import { type ServeOptions, serveEmulator } from './serve.ts'

const undo: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step()
})

const serve = async (options: ServeOptions = {}) => {
  const server = await serveEmulator({ reply: ({ text }) => ({ content: `You said: ${text}` }), ...options })
  undo.push(() => server.close())
  return server
}
const folder = async () => {
  const path = await mkdtemp(join(tmpdir(), 'emulator-'))
  undo.push(() => rm(path, { recursive: true }))
  return path
}

describe('a real port', () => {
  it('serves calls and conversations, under the address that it returns', async () => {
    const server = await serve()
    expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    const info = (await (await fetch(server.url + paths.deploymentInfo())).json()) as { apiDomain: string }
    expect(info.apiDomain).toBe(server.url)
    const { socket, heard } = await openChat(server.url, await openSession(server))
    socket.send(JSON.stringify({ persona: 'customer', role: 'human', content: 'Grüße' }))
    await until(() => expect(heard.map(frame => frame.content)).toEqual([undefined, 'You said: Grüße']))
  })

  it('rejects the upgrade for an unknown session with 404, for an ended one with 410', async () => {
    const server = await serve()
    const id = await openSession(server)
    server.emulator.control.endSession(id)
    expect((await openChat(server.url, 'nope')).outcome.status).toBe(404)
    expect((await openChat(server.url, id)).outcome.status).toBe(410)
    expect((await openChat(server.url, '')).outcome.status).toBe(400)
  })

  it('accepts an unknown session and closes it with 4404, if configured', async () => {
    const server = await serve({ settings: { unknownSession: 'close-4404' } })
    const { heard, outcome } = await openChat(server.url, 'nope')
    await until(() => expect(outcome.code).toBe(4404))
    expect(heard.map(frame => frame.messageData?.error_code)).toEqual(['404-001'])
  })

  it('passes on closes with a code, without one, and breaks', async () => {
    const server = await serve()
    for (const [code, seen] of [
      [1011, 1011],
      [1005, 1005],
      [undefined, 1006],
    ] as const) {
      const { outcome } = await openChat(server.url, await openSession(server))
      server.emulator.control.dropSockets(code)
      await until(() => expect(outcome.code).toBe(seen))
    }
  })

  it('answers a binary frame like any unreadable one, and closes with 1009 above a mebibyte', async () => {
    const server = await serve()
    const { socket, heard, outcome } = await openChat(server.url, await openSession(server))
    socket.send(new Uint8Array([1, 2, 3]))
    await until(() => expect(heard[0]?.messageData?.error_code).toBe('400-001'))
    socket.send('x'.repeat(1024 * 1024 + 1))
    await until(() => expect(outcome.code).toBe(1009))
  })

  it('closes everything with 1001, frees the port, and can be closed twice', async () => {
    const server = await serve()
    const { outcome } = await openChat(server.url, await openSession(server))
    await Promise.all([server.close(), server.close()])
    await until(() => expect(outcome.code).toBe(1001))
    const again = await serve({ port: Number(new URL(server.url).port) })
    expect(again.url).toBe(server.url)
  })

  it('reports that the port is taken', async () => {
    const { url } = await serve()
    const port = Number(new URL(url).port)
    await expect(serve({ port })).rejects.toThrow(`Cannot listen on 127.0.0.1, port ${port}: it is taken.`)
  })
})

describe('the agent on a port', () => {
  const ask = async (options: ServeOptions, content: string) => {
    const server = await serveEmulator(options)
    undo.push(() => server.close())
    const { socket, heard } = await openChat(server.url, await openSession(server))
    socket.send(JSON.stringify({ persona: 'customer', role: 'human', content }))
    await until(() => expect(heard.length).toBeGreaterThan(1))
    return JSON.stringify(heard)
  }

  it('answers from the included help center', async () => {
    expect(await ask({}, 'How do I reset my router?')).toContain('https://help.router-shop.example/')
  })

  it('answers from a folder of articles', async () => {
    const knowledge = await folder()
    await writeFile(join(knowledge, 'lantern.md'), '# The green lantern\n\nThe green lantern burns for 417 hours.\n')
    expect(await ask({ knowledge }, 'How long does the green lantern burn?')).toContain('417 hours')
  })
})

describe('TLS', () => {
  it('serves https and wss with a development certificate that can be trusted', async () => {
    const server = await serve({ tls: true, certificateFolder: await folder() })
    expect(server.url).toMatch(/^https:/)
    const ca = await readFile(server.certificateFile ?? '', 'utf8')
    const info = await new Promise<string>((resolve, reject) => {
      get(server.url + paths.deploymentInfo(), { ca }, response => {
        response.setEncoding('utf8').on('data', resolve)
      }).on('error', reject)
    })
    expect(info).toContain(new URL(server.url).host)
    const { sessionId } = (await (
      await server.emulator.fetch(server.url + paths.session('help'), {
        headers: { authorization: server.emulator.control.issueToken() },
      })
    ).json()) as { sessionId: string }
    const socket = new WebSocket(`${server.url.replace('https', 'wss')}/?sessionId=${sessionId}`, { ca })
    await until(() => expect(socket.readyState).toBe(WebSocket.OPEN))
    socket.terminate()
  })
})
