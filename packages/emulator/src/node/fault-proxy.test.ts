import { paths } from '@aiagent/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { openChat, openSession, until } from '../../test/port-caller.ts'
import { startFaultProxy } from './fault-proxy.ts'
import { type EmulatorServer, serveEmulator } from './serve.ts'

const INFO = paths.deploymentInfo()
const undo: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step()
})

const start = async () => {
  let server: EmulatorServer | undefined
  const proxy = await startFaultProxy({ target: () => server?.url ?? '' })
  undo.push(() => proxy.close())
  server = await serveEmulator({
    origin: proxy.url,
    reply: ({ text }) => ({ content: `You said: ${text}` }),
    settings: { heartbeatBeforeReply: false },
  })
  undo.push(server.close)
  return { proxy, server, control: server.emulator.control }
}
const say = (content: string) => JSON.stringify({ persona: 'customer', role: 'human', content })

describe('a proxy in front of the service', () => {
  it('forwards calls and conversations, under its own address', async () => {
    const { proxy, server } = await start()
    const info = (await (await fetch(proxy.url + INFO)).json()) as { apiDomain: string }
    expect(info.apiDomain).toBe(proxy.url)
    const { heard, socket } = await openChat(proxy.url, await openSession(server, proxy.url))
    socket.send(say('hello'))
    await until(() => expect(heard).toMatchObject([{ content: 'You said: hello' }]))
    expect(proxy.connections).toBeGreaterThan(0)
  })

  it('stops reading while both ends keep the connection, and resumes', async () => {
    const { control, proxy, server } = await start()
    const id = await openSession(server, proxy.url)
    const { heard, outcome, socket } = await openChat(proxy.url, id)
    proxy.stall()
    socket.send(say('stuck'))
    control.pushFrame(id, '{"content":"pushed"}')
    socket.close(1000)
    // A new connection passes, and so had the old one the time that it would have needed.
    const later = await openChat(proxy.url, await openSession(server))
    later.socket.send(say('through'))
    await until(() => expect(later.heard).toMatchObject([{ content: 'You said: through' }]))
    expect([heard, outcome, control.frames(id)]).toEqual([[], {}, []])
    proxy.resume()
    await until(() => expect(outcome.code).toBe(1000))
    expect(control.frames(id)).toMatchObject([{ message: { content: 'stuck' } }])
  })

  it('can stall later connections, too', async () => {
    const { proxy, server } = await start()
    const id = await openSession(server)
    proxy.stall({ alsoLater: true })
    const opening = openChat(proxy.url, id)
    await until(() => expect(proxy.connections).toBe(1))
    proxy.resume()
    expect((await opening).socket.readyState).toBe(1)
  })

  it('delays data in order, with any jitter', async () => {
    const { proxy, server } = await start()
    const { heard, socket } = await openChat(proxy.url, await openSession(server, proxy.url))
    proxy.delay(30, 30)
    const begun = performance.now()
    for (const text of ['a', 'b', 'c', 'd']) socket.send(say(text))
    await until(() => expect(heard.map(({ content }) => content?.at(-1))).toEqual(['a', 'b', 'c', 'd']))
    expect(performance.now() - begun).toBeGreaterThan(55)
    proxy.delay(0)
  })

  it('waits for a slow reader with one listener, however much data was delayed', async () => {
    const warnings: Error[] = []
    const note = (warning: Error) => void warnings.push(warning)
    process.on('warning', note)
    undo.push(async () => void process.off('warning', note))
    const { control, proxy, server } = await start()
    const id = await openSession(server, proxy.url)
    const { heard } = await openChat(proxy.url, id)
    proxy.delay(100)
    const content = 'a'.repeat(16_000_000)
    control.pushFrame(id, JSON.stringify({ content }))
    await until(() => expect(heard[0]?.content?.length).toBe(content.length))
    expect(warnings).toEqual([])
  })

  it('breaks every connection, which the service detects, and rejects new ones', async () => {
    const { proxy, server } = await start()
    const id = await openSession(server, proxy.url)
    const { outcome } = await openChat(proxy.url, id)
    proxy.cut()
    await until(() => expect(outcome.code).toBe(1006))
    await until(() => expect(() => server.emulator.control.pushFrame(id, 'x')).toThrow('Nobody is connected'))
    expect(proxy.connections).toBe(0)
    proxy.refuse()
    await expect(fetch(proxy.url + INFO)).rejects.toThrow(TypeError)
    proxy.refuse(false)
    expect((await fetch(proxy.url + INFO)).status).toBe(200)
  })

  it('forwards large bodies unchanged, and resets its clients when the service is gone', async () => {
    const { control, proxy, server } = await start()
    const id = await openSession(server, proxy.url)
    const { heard, outcome } = await openChat(proxy.url, id)
    const content = 'ü'.repeat(400_000)
    control.pushFrame(id, JSON.stringify({ content }))
    await until(() => expect(heard[0]?.content).toBe(content))
    await server.close()
    await until(() => expect(outcome.code).toBe(1001))
    await expect(fetch(proxy.url + INFO)).rejects.toThrow(TypeError)
    await Promise.all([proxy.close(), proxy.close()])
    expect(proxy.connections).toBe(0)
  })
})
