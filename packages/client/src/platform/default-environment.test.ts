import { afterEach, describe, expect, it, vi } from 'vitest'
import { FakeStorage } from '../../test/fake-service.ts'
import { defaultEnvironment, resolveEnvironment } from './default-environment.ts'

afterEach(() => {
  vi.unstubAllGlobals()
})

describe('defaultEnvironment', () => {
  it('shares one memory among all environments of the process', () => {
    void defaultEnvironment().memory.set('aiagent_shared', { value: 1, timestamp: 1 })
    expect(resolveEnvironment().memory.get('aiagent_shared')).toEqual({ value: 1, timestamp: 1 })
    void defaultEnvironment().memory.delete('aiagent_shared')
  })

  it('creates UUIDs of version 4, even if the page is not a secure context', () => {
    const pattern = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
    expect(defaultEnvironment().randomUUID()).toMatch(pattern)
    const { crypto } = globalThis
    vi.stubGlobal('crypto', { getRandomValues: (bytes: Uint8Array<ArrayBuffer>) => crypto.getRandomValues(bytes) })
    const made = Array.from({ length: 50 }, () => defaultEnvironment().randomUUID())
    for (const uuid of made) expect(uuid).toMatch(pattern)
    expect(new Set(made).size).toBe(50)
  })

  it('[REL-256] starts background timers outside of the zone of zone.js, and runs their callbacks in it', () => {
    const zones = ['angular']
    const within = <T>(zone: string, work: () => T): T => {
      zones.push(zone)
      try {
        return work()
      } finally {
        zones.pop()
      }
    }
    const started: { readonly zone: string | undefined; readonly run: () => void }[] = []
    vi.stubGlobal('setTimeout', (run: () => void) => started.push({ zone: zones.at(-1), run }))
    vi.stubGlobal('Zone', {
      root: { run: (work: () => unknown) => within('root', work) },
      get current() {
        const zone = zones.at(-1) as string
        return { wrap: (callback: () => void) => () => within(zone, callback) }
      },
    })
    const ran: unknown[] = []
    const { clock } = defaultEnvironment()
    for (const background of [true, false]) clock.setTimeout(() => void ran.push(zones.at(-1)), 10, { background })
    zones.pop()
    for (const { run } of started) run()
    expect(started.map(({ zone }) => zone)).toEqual(['root', 'angular'])
    expect(ran).toEqual(['angular', undefined])
  })

  it('[REL-256] runs background timers where a page has another global named Zone', async () => {
    for (const zone of [{}, { root: 'de', current: null }, () => {}]) {
      vi.stubGlobal('Zone', zone)
      const { clock } = defaultEnvironment()
      const ran = new Promise<string>(resolve => clock.setTimeout(() => resolve('ran'), 0, { background: true }))
      expect(await ran).toBe('ran')
    }
  })

  it('has no store outside a page, even if the runtime has one by that name', () => {
    vi.stubGlobal('sessionStorage', new FakeStorage())
    expect(defaultEnvironment().sessionStorage).toBeUndefined()
    vi.stubGlobal('document', {})
    expect(defaultEnvironment().sessionStorage).toBeDefined()
  })

  it('has no store if access to it throws', () => {
    vi.stubGlobal('document', {})
    const before = Object.getOwnPropertyDescriptor(globalThis, 'localStorage')
    Object.defineProperty(globalThis, 'localStorage', {
      configurable: true,
      get() {
        throw new DOMException('denied', 'SecurityError')
      },
    })
    expect(defaultEnvironment().localStorage).toBeUndefined()
    if (before) Object.defineProperty(globalThis, 'localStorage', before)
    else Reflect.deleteProperty(globalThis, 'localStorage')
  })

  it('uses the current fetch, not that of the import', async () => {
    const environment = defaultEnvironment()
    vi.stubGlobal('fetch', async () => new Response('replaced'))
    expect(await (await environment.fetch('https://example.test')).text()).toBe('replaced')
  })

  it('opens sockets of a global WebSocket that was replaced after the import, and of Node otherwise', () => {
    const { WebSocket } = defaultEnvironment()
    const opened: string[] = []
    class StandIn {
      constructor(url: string) {
        opened.push(url)
      }
    }
    vi.stubGlobal('WebSocket', StandIn)
    expect(new WebSocket('ws://chat.example.test/')).toBeInstanceOf(StandIn)
    expect(opened).toEqual(['ws://chat.example.test/'])
    vi.unstubAllGlobals()
    const own = new WebSocket('ws://127.0.0.1:9/')
    expect(own).not.toBeInstanceOf(StandIn)
    own.close()
  })

  it('returns the global object, and imports modules by their address', async () => {
    const environment = defaultEnvironment()
    expect(environment.globals).toBe(globalThis)
    const address = 'data:text/javascript,export default 42'
    expect(await environment.importModule(address)).toHaveProperty('default', 42)
  })

  it('runs and cancels timers', async () => {
    const { clock } = defaultEnvironment()
    let cancelled = true
    clock.clearTimeout(clock.setTimeout(() => (cancelled = false), 0, { background: true }))
    await new Promise<void>(resolve => clock.setTimeout(resolve, 1))
    expect(cancelled).toBe(true)
  })
})

describe('resolveEnvironment', () => {
  it('calls a given fetch as a plain function, since the platform’s rejects other receivers', async () => {
    let receiver: unknown = 'none'
    const environment = resolveEnvironment({
      fetch: async function (this: unknown) {
        receiver = this
        return new Response('')
      },
    })
    await environment.fetch('https://example.test')
    expect(receiver).toBeUndefined()
  })

  it('gives a custom fetch a separate memory, the same each time', () => {
    const fetch = async () => new Response('')
    const { memory } = resolveEnvironment({ fetch })
    expect(memory).not.toBe(defaultEnvironment().memory)
    expect(resolveEnvironment({ fetch }).memory).toBe(memory)
    expect(resolveEnvironment({ fetch: async () => new Response('') }).memory).not.toBe(memory)
  })

  it('lets a store be disabled, and ignores any other part given as undefined', () => {
    vi.stubGlobal('document', {})
    vi.stubGlobal('sessionStorage', new FakeStorage())
    const partial: object = { sessionStorage: undefined, clock: undefined }
    const environment = resolveEnvironment(partial)
    expect(environment.sessionStorage).toBeUndefined()
    expect(environment.clock.now()).toBeGreaterThan(0)
  })
})
