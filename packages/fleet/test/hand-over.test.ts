import type { WebSocketConstructor } from '@aiagent/client'
import { hasRedis } from '@aiagent/test-support/redis'
import { describe, expect, it, vi } from 'vitest'
import type { Fleet } from '../src/index.ts'
import { acceptedTexts, collect, LIMIT, SHORT_LEASE, setUpFleets } from './set-up.ts'

const PLAIN = { settings: { capabilities: [] } }
const SHARDS = 16

describe.skipIf(!hasRedis())('an orderly hand-over on a service without receipts', () => {
  const fleets = setUpFleets()

  /** Conversations on one worker, each with an answered message. */
  async function answered(count: number) {
    const { fleet, service } = fleets.create(PLAIN)
    const create = () => fleet({ shards: SHARDS })
    const sender = fleet({ worker: false, shards: SHARDS })
    const { updates, said } = collect(sender)
    await sender.start()
    const workers = [create()]
    await workers[0]?.start()
    const ids = Array.from({ length: count }, (_, index) => `user-${index}`)
    await Promise.all(ids.map(id => sender.open(id)))
    await Promise.all(ids.map(id => sender.send(id, `from ${id}`)))
    await vi.waitFor(() => expect(said).toHaveLength(count), LIMIT)
    const owners = async () => Promise.all(ids.map(async id => (await sender.conversation(id)).worker))
    /** Waits until every conversation runs again, on as many workers. */
    const isSettled = async (live: readonly Fleet[]) => {
      const metrics = await Promise.all(live.map(each => each.metrics()))
      const running = metrics.reduce((sum, { worker }) => sum + worker.running, 0)
      const shards = metrics.map(({ worker }) => worker.shards)
      expect(running).toBe(count)
      expect(Math.max(...shards)).toBeLessThanOrEqual(Math.ceil(SHARDS / live.length))
    }
    return { create, workers, ids, owners, updates, isSettled, service, count }
  }

  it('[REL-146] tells no answered message as unknown when workers are added and drained', async () => {
    const { create, workers, ids, owners, updates, isSettled, service, count } = await answered(200)
    const before = await owners()
    for (let added = 0; added < 3; added++) workers.push(create())
    await Promise.all(workers.slice(1).map(worker => worker.start()))
    await vi.waitFor(() => isSettled(workers), LIMIT)
    const between = await owners()
    await workers.shift()?.close()
    await vi.waitFor(() => isSettled(workers), LIMIT)
    const after = await owners()
    const moved = ids.filter((_, at) => before[at] !== between[at] || between[at] !== after[at])
    expect(moved.length).toBeGreaterThan(count / 2)
    const told = () => new Map(updates.map(({ conversationId, state }) => [conversationId, state]))
    await vi.waitFor(() => expect(moved.filter(id => !told().has(id))).toEqual([]), LIMIT)
    expect([...new Set(told().values())]).toEqual(['sent'])
    expect(acceptedTexts(service)).toHaveLength(count)
  })

  it('[REL-146] tells none of 200 answered messages as unknown when three workers become four, and when all are replaced', async () => {
    const { create, workers, ids, updates, isSettled, service, count } = await answered(200)
    const add = async () => {
      const worker = create()
      workers.push(worker)
      await worker.start()
      await vi.waitFor(() => isSettled(workers), LIMIT)
    }
    for (let size = 1; size < 4; size++) await add()
    for (let replaced = 0; replaced < 4; replaced++) {
      await add()
      await workers.shift()?.close()
      await vi.waitFor(() => isSettled(workers), LIMIT)
    }
    const told = () => new Map(updates.map(({ conversationId, state }) => [conversationId, state]))
    // Each conversation has moved at least once.
    await vi.waitFor(() => expect(ids.filter(id => !told().has(id))).toEqual([]), LIMIT)
    expect(updates.filter(({ state }) => state === 'unknown')).toEqual([])
    expect(acceptedTexts(service)).toHaveLength(count)
  }, 120_000)

  it('[REL-146] sends each message once, in order, when its worker is drained while messages wait', async () => {
    const { fleet, service } = fleets.create(PLAIN)
    const sender = fleet({ worker: false })
    const { updates } = collect(sender)
    await sender.start()
    const first = fleet({ rateLimit: { messagesPerSecond: 5 } })
    await first.start()
    await sender.open('a')
    const texts = Array.from({ length: 60 }, (_, index) => `text ${index}`)
    for (const text of texts) await sender.send('a', text)
    await vi.waitFor(() => expect(acceptedTexts(service).length).toBeGreaterThan(5), LIMIT)
    await first.drain()
    expect(acceptedTexts(service).length).toBeLessThan(texts.length)
    await fleet().start()
    await vi.waitFor(() => expect(acceptedTexts(service)).toEqual(texts), LIMIT)
    expect(updates.filter(({ state }) => state !== 'sent')).toEqual([])
  })

  /** The clock of a machine, which a test sets, or which has slept. */
  function createClock() {
    let [wall, awake] = [0, 0]
    return {
      now: () => Date.now() + wall,
      monotonic: () => performance.now() + awake,
      setTimeout: (callback: () => void, delayMs: number) => setTimeout(callback, delayMs),
      clearTimeout: (timer: unknown) => clearTimeout(timer as NodeJS.Timeout),
      set: (ms: number) => void (wall += ms),
      sleep: (ms: number) => {
        wall += ms
        awake += ms
      },
    }
  }

  /** Messages that wait for a worker whose clock is changed while it hands over to another one. */
  async function handOverWith(change: (clock: ReturnType<typeof createClock>) => void) {
    const { fleet, service } = fleets.create(PLAIN)
    const sender = fleet({ worker: false })
    const { updates } = collect(sender)
    await sender.start()
    const clock = createClock()
    const environment = { fetch: service.fetch, WebSocket: service.WebSocket, clock }
    const first = fleet({ rateLimit: { messagesPerSecond: 5 }, worker: SHORT_LEASE, environment })
    await first.start()
    await sender.open('a')
    const texts = Array.from({ length: 60 }, (_, index) => `text ${index}`)
    const ids: string[] = []
    for (const text of texts) ids.push(await sender.send('a', text))
    await vi.waitFor(() => expect(acceptedTexts(service).length).toBeGreaterThan(5), LIMIT)
    const drained = first.drain()
    change(clock)
    await drained
    const before = acceptedTexts(service)
    expect(before.length).toBeLessThan(texts.length)
    await fleet({ worker: SHORT_LEASE, environment }).start()
    return { service, ids, texts, updates, before }
  }

  it.each([
    ['forward', 86_400_000],
    ['back', -86_400_000],
  ])('[REL-146] sends each message once, in order, when the clock is set %s a day meanwhile', async (_, ms) => {
    const { service, texts, updates } = await handOverWith(clock => clock.set(ms))
    await vi.waitFor(() => expect(acceptedTexts(service)).toEqual(texts), LIMIT)
    expect(updates.filter(({ state }) => state !== 'sent')).toEqual([])
  })

  it('[REL-146] sends no message twice when the machine sleeps beyond the lease meanwhile', async () => {
    const { service, ids, texts, updates, before } = await handOverWith(clock => clock.sleep(SHORT_LEASE.leaseMs))
    // The worker may have been about to write what did not arrive.
    const isUnknown = (id: string) => updates.some(update => update.id === id && update.state === 'unknown')
    const open = () => ids.filter((id, at) => !acceptedTexts(service).includes(texts[at]) && !isUnknown(id))
    await vi.waitFor(() => expect(open()).toEqual([]), LIMIT)
    const accepted = acceptedTexts(service)
    expect(accepted).toEqual(texts.filter(text => accepted.includes(text)))
    expect(accepted.slice(0, before.length)).toEqual(before)
  })

  it('[REL-133] tells a message as unknown whose connection did not end in order', async () => {
    const { fleet, service } = fleets.create(PLAIN)
    const sender = fleet({ worker: false })
    const { updates } = collect(sender)
    await sender.start()
    // The service never answers the close.
    const Socket = service.WebSocket
    class Hanging extends Socket {
      override close(): void {}
    }
    const environment = { fetch: service.fetch, WebSocket: Hanging as WebSocketConstructor }
    const first = fleet({ environment })
    await first.start()
    await sender.open('a')
    await sender.send('a', 'one')
    await vi.waitFor(() => expect(acceptedTexts(service)).toEqual(['one']), LIMIT)
    await first.close()
    await fleet().start()
    await vi.waitFor(() => expect(updates).toMatchObject([{ state: 'unknown', reason: 'worker_lost' }]), LIMIT)
  })
})
