import { createConnection } from 'node:net'
import { turnEventLoop } from '@aiagent/test-support'
import { afterEach, describe, expect, it } from 'vitest'
import { until } from '../../test/port-caller.ts'
import { emulatorDesk } from '../desk/emulator-desk.ts'
import { startFaultProxy } from './fault-proxy.ts'
import { type EmulatorServer, type ServeOptions, serveEmulator } from './serve.ts'

const undo: (() => unknown)[] = []
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step()
})

const serve = async (options: ServeOptions = {}) => {
  const server = await serveEmulator({ reply: () => ({ content: 'Hello.' }), ...options })
  undo.push(() => server.close())
  return server
}

/** A customer's page at an address, and what it has heard. */
function openDesk(url: string, handle?: string) {
  const controller = new AbortController()
  undo.push(() => controller.abort())
  const { signal } = controller
  const desk = emulatorDesk({ url })({ type: 'live' }, handle === undefined ? { signal } : { handle, signal })
  if (!desk) throw new Error('There is no desk.')
  const heard: string[] = []
  const reading = (async () => {
    for await (const { text } of desk.messages) if (text !== undefined) heard.push(text)
  })()
  reading.catch(() => {})
  return { desk, heard, release: () => controller.abort() }
}

const act = ({ url }: EmulatorServer, action: string, body: object) =>
  fetch(`${url}/_control/desk/chat-1/${action}`, { method: 'POST', body: JSON.stringify(body) })

describe('the desk of a served emulator', () => {
  it('[PLAY-10] connects a customer and a colleague over the port, and again after a reload', async () => {
    const server = await serve()
    const first = openDesk(server.url)
    await first.desk.send('hello')
    await act(server, 'say', { text: 'Good day.', name: 'Support' })
    await until(() => expect(first.heard).toEqual(['Good day.']))
    expect(first.desk.name).toBe('Support')
    await act(server, 'typing', { isTyping: true })
    await until(() => expect(first.desk.typing).toBe(true))
    first.release()
    await act(server, 'say', { text: 'Still here?' })

    const second = openDesk(server.url, first.desk.handle)
    await until(() => expect(second.heard).toEqual(['Good day.', 'Still here?']))
    await act(server, 'leave', {})
    await second.desk.ended
    await expect(second.desk.send('hello?')).rejects.toThrow('The chat has ended.')
  })

  it('[PLAY-10] survives connections that are cut, with each message once and in order', async () => {
    let server: EmulatorServer | undefined
    const proxy = await startFaultProxy({ target: () => server?.url ?? '' })
    undo.push(() => proxy.close())
    server = await serve({ origin: proxy.url })
    const { desk, heard } = openDesk(proxy.url)
    const chat = await server.emulator.desk.join()
    const said = Array.from({ length: 20 }, (_, index) => String(index))
    for (const text of said) {
      const sending = desk.send(text)
      chat.say(text)
      await turnEventLoop()
      proxy.cut()
      await sending
    }
    await until(() => expect(heard).toEqual(said))
    expect(chat.messages.filter(({ from }) => from === 'customer').map(({ text }) => text)).toEqual(said)
  })

  it('[PLAY-10] closes at once while both sides wait', async () => {
    const server = await serve()
    openDesk(server.url)
    const page = fetch(`${server.url}/_control/desk?seen=${encodeURIComponent('chat-1,waiting,,false,0')}`)
    await until(() => expect(server.emulator.control.requests().at(-1)).toMatchObject({ method: 'GET', status: 0 }))
    const [ended] = await Promise.allSettled([page, server.close()])
    expect(ended.status).toBe('rejected')
  })

  it('[PLAY-10] forgets the wait of a page that has left', async () => {
    const server = await serve()
    const { release } = openDesk(server.url)
    const last = () => server.emulator.control.requests().at(-1)
    await until(() => expect(last()).toMatchObject({ method: 'GET', status: 0 }))
    expect(server.emulator.desk.listeners.size).toBe(1)
    release()
    await until(() => expect(server.emulator.desk.listeners.size).toBe(0))
  })
})

describe('the desk page', () => {
  it('[PLAY-11] is served with a strict policy', async () => {
    const { url, deskUrl } = await serve()
    expect(deskUrl).toBe(`${url}/desk`)
    for (const [path, type] of [
      ['', 'text/html'],
      ['/', 'text/html'],
      ['/desk.css', 'text/css'],
      ['/page.js', 'text/javascript'],
      ['/desk-panel.js', 'text/javascript'],
    ]) {
      const { status, headers } = await fetch(deskUrl + path)
      expect([path, status, headers.get('content-type')?.split(';')[0]]).toEqual([path, 200, type])
      expect(headers.get('content-security-policy')).toContain("default-src 'none'; script-src 'self'")
      expect(headers.get('access-control-allow-origin')).toBeNull()
    }
    expect((await fetch(`${deskUrl}/package.json`)).status).toBe(404)
    expect((await fetch(deskUrl, { method: 'POST' })).status).toBe(404)
  })

  it('[PLAY-11] is for this machine only, with its calls', async () => {
    const { url, deskUrl } = await serve()
    const foreign = { headers: { origin: 'https://shop.example' } }
    const forwarded = { headers: { 'x-forwarded-for': '10.0.0.1' } }
    for (const address of [deskUrl, `${url}/_control/desk`])
      for (const init of [foreign, forwarded]) expect((await fetch(address, init)).status).toBe(403)
    const answer = await new Promise<string>(resolve => {
      const socket = createConnection(Number(new URL(url).port), '127.0.0.1')
      socket.once('data', data => {
        resolve(String(data))
        socket.destroy()
      })
      socket.write('GET /desk HTTP/1.1\r\nHost: evil.test\r\n\r\n')
    })
    expect(answer).toMatch(/^HTTP\/1\.1 403 /)
  })
})
