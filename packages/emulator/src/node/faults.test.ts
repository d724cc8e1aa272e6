import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { request as httpRequest } from 'node:http'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import { paths } from '@aiagent/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { openChat, openSession, until } from '../../test/port-caller.ts'
import { loadFaultSchedule } from './load-fault-schedule.ts'
import { type EmulatorServer, type ServeOptions, serveEmulator } from './serve.ts'

const INFO = paths.deploymentInfo()
const undo: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step()
})

const serve = async (options: ServeOptions = {}) => {
  const server = await serveEmulator({
    reply: ({ text }) => ({ content: `You said: ${text}` }),
    ...options,
    settings: { heartbeatBeforeReply: false, ...options.settings },
  })
  undo.push(() => server.close())
  return { server, url: server.url, ...server.emulator }
}
const control = async ({ url }: EmulatorServer, method: string, path: string, body?: unknown) => {
  const init = { method, ...(body !== undefined && { body: JSON.stringify(body) }) }
  const response = await fetch(`${url}/_control${path}`, init)
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}
const connect = async (server: EmulatorServer) => {
  const id = await openSession(server)
  return { id, ...(await openChat(server.url, id)) }
}
const say = (content: string) => JSON.stringify({ persona: 'customer', role: 'human', content })

describe('chat connections on a port', () => {
  it('close with a code, or break without one', async () => {
    const { faults, server } = await serve()
    const [first, second] = [await connect(server), await connect(server)]
    faults.add({ kind: 'drop', sessionId: first.id, code: 4001, reason: 'Enough' })
    faults.add({ kind: 'drop', sessionId: second.id })
    await until(() =>
      expect([first.outcome, second.outcome]).toMatchObject([{ code: 4001, reason: 'Enough' }, { code: 1006 }]),
    )
  })

  it('are silenced while they stay open, with their closes, and resume', async () => {
    const { control, faults, server } = await serve()
    const { heard, id, outcome, socket } = await connect(server)
    const other = await connect(server)
    faults.add({ kind: 'silence', sessionId: id })
    socket.send(say('unheard'))
    control.pushFrame(id, '{"content":"pushed"}')
    socket.close(1000)
    // A round trip of another connection: the first had all the time it would have needed.
    other.socket.send(say('heard'))
    await until(() => expect(other.heard).toMatchObject([{ content: 'You said: heard' }]))
    expect(control.frames(id)).toEqual([])
    expect([heard, outcome]).toEqual([[], {}])
    faults.lift()
    await until(() => expect(outcome.code).toBe(1000))
    expect(control.frames(id)).toMatchObject([{ message: { content: 'unheard' } }])
  })

  it('drop frames in a silence that loses them', async () => {
    const { control, faults, server } = await serve()
    const { id, socket } = await connect(server)
    const other = await connect(server)
    faults.add({ kind: 'silence', sessionId: id, lost: true })
    socket.send(say('lost'))
    other.socket.send(say('heard'))
    await until(() => expect(other.heard).toHaveLength(1))
    const asked = new Promise(resolve => socket.once('ping', resolve))
    faults.lift()
    await asked
    socket.send(say('found'))
    await until(() => expect(control.frames(id)).toMatchObject([{ message: { content: 'found' } }]))
  })

  it('deliver late, in order', async () => {
    const { faults, server } = await serve()
    const { heard, socket } = await connect(server)
    faults.add({ kind: 'delay-frames', ms: 40, jitterMs: 40 })
    const start = performance.now()
    for (const text of ['a', 'b', 'c']) socket.send(say(text))
    await until(() =>
      expect(heard.map(({ content }) => content)).toEqual(['a', 'b', 'c'].map(text => `You said: ${text}`)),
    )
    expect(performance.now() - start).toBeGreaterThan(75)
  })

  it('take the time of a slow link', async () => {
    const { control, faults, server } = await serve()
    const { heard, id } = await connect(server)
    faults.add({ kind: 'slow-link', bytesPerSecond: 10_000 })
    const start = performance.now()
    control.pushFrame(id, JSON.stringify({ content: 'x'.repeat(1500) }))
    await until(() => expect(heard).toHaveLength(1))
    expect(performance.now() - start).toBeGreaterThan(145)
  })

  it('lose frames, repeat them, and receive any other', async () => {
    const { faults, server } = await serve()
    const { heard, socket } = await connect(server)
    faults.add({ kind: 'lose-frames', direction: 'to-service', times: 1 })
    socket.send(say('lost'))
    socket.send(say('found'))
    await until(() => expect(heard).toHaveLength(1))
    faults.add({ kind: 'replay' })
    faults.add({ kind: 'push', frame: { content: 'odd' } })
    await until(() =>
      expect(heard.map(({ content }) => content)).toEqual(['You said: found', 'You said: found', 'odd']),
    )
  })

  it('are rejected with a status, or hang, a number of times', async () => {
    const { faults, server } = await serve()
    const id = await openSession(server)
    faults.add({ kind: 'refuse-upgrade', status: 503, times: 1 })
    expect((await openChat(server.url, id)).outcome.status).toBe(503)
    faults.add({ kind: 'hang-upgrade', times: 1 })
    const hanging = openChat(server.url, id)
    await until(() => expect(faults.inForce()).toMatchObject([{ hits: 1 }]))
    faults.lift()
    expect((await hanging).socket.readyState).toBe(1)
  })

  it('that hang do not keep the service from closing', async () => {
    const { faults, server } = await serve()
    const id = await openSession(server)
    faults.add({ kind: 'hang-upgrade' })
    const hanging = openChat(server.url, id)
    await until(() => expect(faults.inForce()).toMatchObject([{ hits: 1 }]))
    await server.close()
    await until(async () => expect((await hanging).outcome.code).toBe(1006))
  })
})

describe('answers on a port', () => {
  it('have the given status, a number of times', async () => {
    const { faults, url } = await serve()
    faults.add({ kind: 'answer', route: INFO, status: 503, times: 1 })
    expect((await fetch(url + INFO)).status).toBe(503)
    expect((await fetch(url + INFO)).status).toBe(200)
  })

  it('hang until the fault is lifted', async () => {
    const { faults, url } = await serve()
    faults.add({ kind: 'hang-request', times: 1 })
    const hanging = fetch(url + INFO)
    await until(() => expect(faults.inForce()).toMatchObject([{ hits: 1 }]))
    expect((await fetch(url + INFO)).status).toBe(200)
    faults.lift()
    expect((await hanging).status).toBe(200)
  })

  it('detect a client that aborts', async () => {
    const { control, faults, url } = await serve()
    faults.add({ kind: 'hang-request' })
    const controller = new AbortController()
    const hanging = fetch(url + INFO, { signal: controller.signal })
    await until(() => expect(control.requests()).toMatchObject([{ status: 0 }]))
    controller.abort()
    await expect(hanging).rejects.toThrow()
    await until(() => expect(control.requests()).toMatchObject([{ status: 499 }]))
  })

  it.each([0, 20, undefined])('break off in the middle of their body (after %s bytes)', async afterBytes => {
    const { faults, url } = await serve()
    faults.add({ kind: 'truncate-body', ...(afterBytes !== undefined && { afterBytes }) })
    const response = await fetch(url + INFO)
    expect(response.status).toBe(200)
    expect(Number(response.headers.get('content-length'))).toBeGreaterThan(100)
    let read = 0
    const all = async () => {
      for await (const chunk of response.body ?? []) read += chunk.length
    }
    await expect(all()).rejects.toThrow(TypeError)
    if (afterBytes !== undefined) expect(read).toBe(afterBytes)
  })

  it('stall in the middle of their body, and continue', async () => {
    const { faults, url } = await serve()
    faults.add({ kind: 'stall-body', afterBytes: 10 })
    const response = await fetch(url + INFO)
    const reader = response.body?.getReader()
    expect((await reader?.read())?.value).toHaveLength(10)
    const rest = reader?.read()
    faults.lift()
    expect((await rest)?.value?.length).toBeGreaterThan(90)
  })
})

describe('tokens and sessions on a port', () => {
  it('expire, end and are removed', async () => {
    const { faults, server } = await serve()
    const [ended, forgotten] = [await connect(server), await connect(server)]
    faults.add({ kind: 'end-session', sessionId: ended.id })
    faults.add({ kind: 'forget-session', sessionId: forgotten.id })
    await until(() => expect([ended.outcome.code, forgotten.outcome.code]).toEqual([1000, 4404]))
    expect((await openChat(server.url, ended.id)).outcome.status).toBe(410)
    expect((await openChat(server.url, forgotten.id)).outcome.status).toBe(404)
    const authorization = `Bearer ${server.emulator.control.issueToken()}`
    faults.add({ kind: 'expire-tokens' })
    expect((await fetch(server.url + paths.agentDetails('help'), { headers: { authorization } })).status).toBe(401)
  })
})

describe('a restart on a port', () => {
  it('returns on the same port, with the sessions', async () => {
    const { faults, server, url } = await serve()
    const { id, outcome } = await connect(server)
    faults.add({ kind: 'restart' })
    await until(() => expect(outcome.code).toBe(1001))
    await until(async () => expect((await fetch(url + INFO)).status).toBe(200))
    expect((await openChat(url, id)).socket.readyState).toBe(1)
  })

  it('accepts no connection while it is down, and drops the sessions without its memory', async () => {
    const { faults, server, url } = await serve()
    const { id, outcome } = await connect(server)
    faults.add({ kind: 'hang-request', times: 1 })
    const hanging = expect(fetch(url + INFO)).rejects.toThrow(TypeError)
    await until(() => expect(faults.inForce()).toMatchObject([{ hits: 1 }]))
    expect((await control(server, 'POST', '/restart', { memory: false, downMs: 200, code: 1006 })).status).toBe(200)
    await hanging
    await until(() => expect(outcome.code).toBe(1006))
    await expect(fetch(url + INFO)).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } })
    await until(async () => expect((await fetch(url + INFO)).status).toBe(200))
    expect((await openChat(url, id)).outcome.status).toBe(404)
  })

  it('can be closed while it is down', async () => {
    const { faults, server, url } = await serve()
    faults.add({ kind: 'restart', downMs: 60_000 })
    await server.close()
    await expect(fetch(url + INFO)).rejects.toThrow(TypeError)
  })
})

describe('the controls on a port', () => {
  it('need no token and provide everything that the API does', async () => {
    const { server } = await serve()
    const { heard, id, outcome } = await connect(server)
    const added = await control(server, 'POST', '/faults', { kind: 'push', frame: 'no JSON', sessionId: 'other' })
    expect(added).toEqual({ status: 200, body: { applied: [{ kind: 'push', id: 'fault-1', reached: 0 }] } })
    await control(server, 'POST', `/sessions/${id}/push`, { frame: { content: 'pushed' } })
    await until(() => expect(heard).toMatchObject([{ content: 'pushed' }]))
    await control(server, 'POST', `/sessions/${id}/drop`, { code: 1011 })
    await until(() => expect(outcome.code).toBe(1011))
    const { requests } = (await control(server, 'GET', '/requests')).body as { requests: { path: string }[] }
    expect(requests.map(({ path }) => path)).toEqual([paths.session('help'), '/'])
  })

  it('reject a forged Host header, and a page of another host', async () => {
    const { url } = await serve()
    const status = (headers: Record<string, string>) =>
      new Promise<number>((resolve, reject) => {
        const call = httpRequest(`${url}/_control/faults`, { headers }, response => {
          response.resume()
          resolve(response.statusCode ?? 0)
        })
        call.on('error', reject).end()
      })
    expect(await status({})).toBe(200)
    expect(await status({ host: 'localhost' })).toBe(200)
    expect(await status({ host: 'evil.test' })).toBe(403)
    expect(await status({ origin: 'https://evil.test' })).toBe(403)
  })

  const outside = Object.values(networkInterfaces())
    .flat()
    .find(each => each && !each.internal && each.family === 'IPv4')?.address
  it.skipIf(!outside)('reject every other machine, regardless of its Host header', async () => {
    const { url } = await serve({ host: '0.0.0.0' })
    const { port } = new URL(url)
    const status = await new Promise<number>((resolve, reject) => {
      const headers = { host: `127.0.0.1:${port}` }
      const call = httpRequest({ host: outside, port, path: '/_control/faults', headers }, response => {
        response.resume()
        resolve(response.statusCode ?? 0)
      })
      call.on('error', reject).end()
    })
    expect(status).toBe(403)
  })
})

describe('a schedule on a port', () => {
  const file = async (content: string) => {
    const folder = await mkdtemp(join(tmpdir(), 'faults-'))
    undo.push(() => rm(folder, { recursive: true }))
    const path = join(folder, 'faults.json')
    await writeFile(path, content)
    return path
  }

  it('is read from a file and runs', async () => {
    const path = await file('[{ "afterMs": 0, "fault": { "kind": "answer", "status": 503, "times": 1 } }]')
    const { url } = await serve({ faults: await loadFaultSchedule(path) })
    await until(async () => expect((await fetch(url + INFO)).status).toBe(503))
    expect((await fetch(url + INFO)).status).toBe(200)
  })

  it('is rejected with the file and the place of the problem', async () => {
    const path = await file('[{ "afterMs": 0, "fault": { "kind": "explode" } }]')
    await expect(loadFaultSchedule(path)).rejects.toThrow(`${path}, entry 1: the fault cannot be understood`)
    await expect(loadFaultSchedule(`${path}.none`)).rejects.toThrow('The schedule of faults cannot be read: ENOENT')
  })

  it('releases the port when it is invalid', async () => {
    const { server } = await serve()
    const port = Number(new URL(server.url).port)
    await server.close()
    const faults = [{ afterMs: -1, fault: { kind: 'drop' } }] as const
    await expect(serveEmulator({ port, faults })).rejects.toThrow('entry 1')
    await serve({ port })
  })
})
