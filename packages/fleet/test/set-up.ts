import { createEmulator, type Emulator } from '@aiagent/emulator'
import { type RedisServer, startRedis } from '@aiagent/test-support/redis'
import { afterAll, afterEach, beforeAll } from 'vitest'
import { Fleet, type FleetEvents, type FleetOptions } from '../src/index.ts'

/** For conditions that become true, however slow the machine is. */
export const LIMIT = { timeout: 25_000, interval: 20 }

/** Leases that no busy machine lets expire, with ticks that a test can wait for. */
export const LEASE = { leaseMs: 60_000, renewEveryMs: 500, marginMs: 400, signals: [] }

/** Leases whose end a test can wait for. */
export const SHORT_LEASE = { ...LEASE, leaseMs: 3_000 }

/** A Redis server for the tests of a file, and fleets and services that end with each test. */
export function setUpFleets() {
  let server: RedisServer | undefined
  let names = 0
  const open: { close(): unknown }[] = []
  beforeAll(async () => {
    server = await startRedis()
  })
  afterAll(() => server?.close())
  afterEach(async () => {
    for (const each of open.splice(0).reverse()) await each.close()
  })
  return {
    get redis(): RedisServer {
      if (!server) throw new Error('Redis has not started.')
      return server
    },
    /** A service in this process, and fleets of one name that use it. */
    create(settings: Parameters<typeof createEmulator>[0] = {}) {
      const service = createEmulator({
        reply: ({ text }) => ({ content: `re: ${text}` }),
        ...settings,
        settings: { capabilities: ['receipts', 'resume'], ...settings.settings },
      })
      open.push(service)
      const name = `fleet-${++names}`
      const redis = this.redis.path
      const fleet = (more: Partial<FleetOptions> = {}) => {
        const created = new Fleet({
          redis,
          name,
          shards: 4,
          mask: false,
          agent: { id: 'help', endpoint: service.origin },
          environment: { fetch: service.fetch, WebSocket: service.WebSocket },
          worker: LEASE,
          log: () => {},
          ...more,
        })
        open.push(created)
        return created
      }
      return { service, name, fleet }
    },
  }
}

/** What a fleet tells this process. */
export function collect(fleet: Fleet) {
  const said: FleetEvents['agentMessage'][] = []
  const updates: FleetEvents['deliveryUpdate'][] = []
  const opened: string[] = []
  const ended: string[] = []
  const errors: FleetEvents['conversationError'][] = []
  fleet
    .on('agentMessage', payload => void said.push(payload))
    .on('deliveryUpdate', payload => void updates.push(payload))
    .on('opened', ({ conversationId }) => void opened.push(conversationId))
    .on('ended', ({ conversationId }) => void ended.push(conversationId))
    .on('conversationError', payload => void errors.push(payload))
  return { said, updates, opened, ended, errors, texts: () => said.map(({ message }) => message.content) }
}

/** Texts of the user that the service has accepted, in order, without repetitions. */
export function acceptedTexts(service: Emulator): (string | undefined)[] {
  return [...service.world.records.values()].flatMap(({ accepted }) =>
    accepted
      .entries()
      .filter(({ message, duplicate }) => message.persona === 'customer' && !duplicate)
      .map(({ message }) => message.content),
  )
}
