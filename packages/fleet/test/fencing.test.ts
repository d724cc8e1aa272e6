import type { SocketCloseEvent, WebSocketConstructor, WebSocketLike } from '@aiagent/client'
import { serveEmulator } from '@aiagent/emulator/node'
import { CLOSE_CODE } from '@aiagent/protocol'
import { hasRedis } from '@aiagent/test-support/redis'
import { Redis } from 'ioredis'
import { describe, expect, it, vi } from 'vitest'
import { startRedisProxy } from './redis-proxy.ts'
import { acceptedTexts, collect, LEASE, LIMIT, setUpFleets } from './set-up.ts'

const FENCING = { settings: { capabilities: ['receipts', 'resume', 'fencing'] as const } }

/** A class of sockets whose connections can be held up, as by a network that is slow. Keeps the code of each close. */
function holdable(Socket: WebSocketConstructor) {
  const waiting: (() => void)[] = []
  const codes: number[] = []
  const state = { isHeld: false, waiting, codes, release: () => waiting.splice(0).forEach(open => void open()) }
  class Holdable implements WebSocketLike {
    onopen: WebSocketLike['onopen'] = null
    onmessage: WebSocketLike['onmessage'] = null
    onclose: WebSocketLike['onclose'] = null
    onerror: WebSocketLike['onerror'] = null
    #socket: WebSocketLike | undefined

    constructor(url: string) {
      const open = () => {
        const socket = new Socket(url)
        this.#socket = socket
        socket.onopen = (event: never) => this.onopen?.(event)
        socket.onmessage = (event: never) => this.onmessage?.(event)
        socket.onerror = (event: never) => this.onerror?.(event)
        socket.onclose = (event: SocketCloseEvent) => {
          codes.push(event.code)
          this.onclose?.(event as never)
        }
      }
      if (state.isHeld) waiting.push(open)
      else open()
    }

    get readyState(): number {
      return this.#socket?.readyState ?? 0
    }

    get bufferedAmount(): number {
      return this.#socket?.bufferedAmount ?? 0
    }

    send(data: string): void {
      this.#socket?.send(data)
    }

    close(code?: number, reason?: string): void {
      this.#socket?.close(code, reason)
    }
  }
  return { ...state, Socket: Holdable, hold: () => void (state.isHeld = true) }
}

describe.skipIf(!hasRedis())('the fencing number of a fleet at the service', () => {
  const fleets = setUpFleets()

  it('[REL-132] lets no frame of a worker through that does not know of the end of its lease', async () => {
    const { fleet, service, name } = fleets.create(FENCING)
    const proxy = await startRedisProxy(fleets.redis.path)
    const redis = new Redis(fleets.redis.path)
    try {
      service.faults.add({ kind: 'lose-receipts' })
      const sender = fleet({ worker: false, shards: 1 })
      const { updates } = collect(sender)
      await sender.start()
      // Its lease does not end by its own clock, as on a machine that was suspended.
      const network = holdable(service.WebSocket)
      const first = fleet({
        shards: 1,
        redis: proxy.path,
        environment: { fetch: service.fetch, WebSocket: network.Socket },
        worker: { ...LEASE, leaseMs: 600_000, drainMs: 0 },
        storeTimeoutMs: 1_000,
      })
      await first.start()
      await sender.open('a')
      await sender.send('a', 'one')
      await vi.waitFor(() => expect(acceptedTexts(service)).toEqual(['one']), LIMIT)
      // It is cut off, and wants to send what has no receipt when the network lets it.
      proxy.cut()
      network.hold()
      service.control.dropSockets()
      await vi.waitFor(() => expect(network.waiting).toHaveLength(1), LIMIT)
      service.faults.lift()
      await redis.del(`{${name}:s0}:owner`)
      await fleet({ shards: 1 }).start()
      await vi.waitFor(() => expect(updates).toMatchObject([{ state: 'acknowledged' }]), LIMIT)
      const [session] = service.world.sessions.values()
      const frames = session?.received.total
      network.release()
      await vi.waitFor(() => expect(network.codes.at(-1)).toBe(CLOSE_CODE.FENCED), LIMIT)
      expect(session?.received.total).toBe(frames)
      await vi.waitFor(() => expect(network.waiting).toEqual([]), LIMIT)
      await sender.send('a', 'two')
      await vi.waitFor(() => expect(updates).toHaveLength(2), LIMIT)
      expect(acceptedTexts(service)).toEqual(['one', 'two'])
    } finally {
      redis.disconnect()
      await proxy.close()
    }
  })

  it('[REL-132] takes a higher number when the store has forgotten the one that the service knows, and loses no entry', async () => {
    const { fleet, service } = fleets.create(FENCING)
    service.faults.add({ kind: 'lose-receipts' })
    const worker = fleet({ shards: 1 })
    const { updates, texts } = collect(worker)
    await worker.start()
    await worker.open('a')
    await worker.send('a', 'one')
    await vi.waitFor(() => expect(acceptedTexts(service)).toEqual(['one']), LIMIT)
    const [session] = service.world.sessions.values()
    const number = (session?.fence ?? 0) + 3_600_000
    Object.assign(session ?? {}, { fence: number })
    service.control.dropSockets()
    service.faults.lift()
    // The next lease is this worker's too. A read of the streams may still wait under the first one.
    await vi.waitFor(() => expect(session?.fence).toBeGreaterThan(number), LIMIT)
    await worker.send('a', 'two')
    await vi.waitFor(() => expect(updates).toMatchObject([{ state: 'acknowledged' }, { state: 'acknowledged' }]), LIMIT)
    await vi.waitFor(() => expect(texts()).toEqual(['re: one', 're: two']), LIMIT)
    expect((await worker.metrics()).worker.leaseLosses).toBe(1)
  })

  it('[REL-143] takes no number that is far ahead of the clock, and says so', async () => {
    const { fleet, service, name } = fleets.create(FENCING)
    const problems: string[] = []
    const worker = fleet({ shards: 1, log: (_level, text) => void problems.push(text) })
    const { updates } = collect(worker)
    await worker.start()
    await worker.open('a')
    await worker.send('a', 'one')
    await vi.waitFor(() => expect(updates).toHaveLength(1), LIMIT)
    const [session] = service.world.sessions.values()
    const fence = session?.fence
    Object.assign(session ?? {}, { fence: Number.MAX_SAFE_INTEGER })
    service.control.dropSockets()
    await vi.waitFor(() => expect(problems).toContainEqual(expect.stringContaining('ahead of the clock')), LIMIT)
    Object.assign(session ?? {}, { fence })
    await worker.send('a', 'two')
    await vi.waitFor(() => expect(updates).toHaveLength(2), LIMIT)
    const redis = new Redis(fleets.redis.path)
    const key = `{${name}:s0}:number`
    expect(Number(await redis.get(key))).toBeLessThan(Date.now() + 60_000)
    // A store that has such a number from before.
    await worker.close()
    await redis.set(key, String(Number.MAX_SAFE_INTEGER))
    await fleet({ shards: 1 }).start()
    await vi.waitFor(async () => expect(Number(await redis.get(key))).toBeLessThan(Date.now() + 60_000), LIMIT)
    redis.disconnect()
  })

  it.each([true, false])(
    '[REL-132] names the number to a service that compares it, over a port (announced: %s)',
    async isAnnounced => {
      const capabilities = isAnnounced ? (['receipts', 'fencing'] as const) : (['receipts'] as const)
      const service = await serveEmulator({ settings: { capabilities }, offersLogin: false })
      try {
        const addresses: string[] = []
        const { emulator } = service
        const { upgrade } = emulator
        Object.assign(emulator, {
          upgrade: (url: URL, headers: Record<string, string>) => {
            addresses.push(url.href)
            return upgrade(url, headers)
          },
        })
        const { fleet } = fleets.create()
        const worker = fleet({ agent: { id: 'help', endpoint: service.url }, environment: {} })
        const { updates } = collect(worker)
        await worker.start()
        await worker.open('a')
        await worker.send('a', 'one')
        await vi.waitFor(() => expect(updates).toMatchObject([{ state: 'acknowledged' }]), LIMIT)
        const [session] = emulator.world.sessions.values()
        expect(session?.fence).toEqual(isAnnounced ? expect.any(Number) : 0)
        expect(addresses.map(address => new URL(address).searchParams.has('fence'))).toEqual([isAnnounced])
        if (isAnnounced) expect(session?.fence).toBeGreaterThan(0)
        await worker.close()
      } finally {
        await service.close()
      }
    },
  )
})
