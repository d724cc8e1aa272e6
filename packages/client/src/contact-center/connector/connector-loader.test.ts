import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ManualClock, turnEventLoop } from '@aiagent/test-support'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { FakePage } from '../../../test/fake-page.ts'
import { ConnectorError } from '../../errors.ts'
import { defaultEnvironment } from '../../platform/default-environment.ts'
import { type ConnectorPlatform, loadConnector } from './connector-loader.ts'
import type { ConnectorScript } from './connector-url.ts'

const component = () => ({ initPlatform() {} })
const script = (url = 'https://prod.example/desk.js', more: Partial<ConnectorScript> = {}): ConnectorScript => ({
  url,
  integrity: undefined,
  nonce: undefined,
  ...more,
})

class Platform implements ConnectorPlatform {
  readonly clock = new ManualClock()
  readonly page: FakePage | undefined = new FakePage()
  readonly globals: { PlatformComponentService?: unknown } = {}
  readonly imported: string[] = []
  module: (url: string) => Promise<unknown> = async () => ({})
  importModule = (url: string) => {
    this.imported.push(url)
    return this.module(url)
  }

  /** The script tags, after pending tasks have run. */
  async scripts() {
    await turnEventLoop()
    return this.page?.scripts ?? []
  }
}

/** The error that a load rejects with. */
async function failureOf(load: Promise<unknown>): Promise<ConnectorError> {
  const error = await load.then(
    () => undefined,
    (error: unknown) => error,
  )
  if (!(error instanceof ConnectorError)) throw new Error('Expected a ConnectorError.', { cause: error })
  expect(error).toMatchObject({ code: 'CONNECTOR_FAILED', url: 'https://prod.example/desk.js' })
  expect(error.message).toContain('https://prod.example/desk.js')
  return error
}

describe('loadConnector() in a page', () => {
  let platform: Platform
  beforeEach(() => {
    platform = new Platform()
  })

  it('adds a script with its address, integrity and nonce, and returns its component', async () => {
    const loading = loadConnector(platform, script(undefined, { integrity: 'sha256-abc', nonce: 'n' }))
    const [tag] = await platform.scripts()
    expect(tag?.attributes).toEqual({ src: 'https://prod.example/desk.js', integrity: 'sha256-abc', nonce: 'n' })
    const desk = component()
    platform.globals.PlatformComponentService = desk
    tag?.run()
    expect(await loading).toBe(desk)
    expect(tag?.removed).toBe(false)
    expect(platform.clock.pendingTimers).toBe(0)
  })

  it('loads a script once for several agents, concurrent or later', async () => {
    const loading = [loadConnector(platform, script()), loadConnector(platform, script())]
    const [tag] = await platform.scripts()
    const desk = component()
    platform.globals.PlatformComponentService = desk
    tag?.run()
    expect(await Promise.all(loading)).toEqual([desk, desk])
    // A later change of the global has no effect.
    platform.globals.PlatformComponentService = component()
    expect(await loadConnector(platform, script())).toBe(desk)
    expect(await platform.scripts()).toHaveLength(1)
  })

  it('loads it again for an agent that requires a hash', async () => {
    const first = loadConnector(platform, script())
    const [tag] = await platform.scripts()
    platform.globals.PlatformComponentService = component()
    tag?.run()
    await first
    const second = loadConnector(platform, script(undefined, { integrity: 'sha256-abc' }))
    const [, checked] = await platform.scripts()
    expect(checked?.attributes.integrity).toBe('sha256-abc')
    checked?.refuse(new Error('mismatch'))
    await failureOf(second)
  })

  it('loads different scripts one after the other, and does not confuse their components', async () => {
    const first = loadConnector(platform, script('https://a.example/1.js'))
    const second = loadConnector(platform, script('https://a.example/2.js'))
    const [tag, none] = await platform.scripts()
    expect(none).toBeUndefined()
    const one = component()
    platform.globals.PlatformComponentService = one
    tag?.run()
    expect(await first).toBe(one)
    const [, next] = await platform.scripts()
    expect(platform.globals).not.toHaveProperty('PlatformComponentService')
    const two = component()
    platform.globals.PlatformComponentService = two
    next?.run()
    expect(await second).toBe(two)
  })

  it('deletes the component of an earlier script, even if it cannot be deleted', async () => {
    Object.defineProperty(platform.globals, 'PlatformComponentService', { value: component(), writable: true })
    const loading = failureOf(loadConnector(platform, script()))
    const [tag] = await platform.scripts()
    expect(platform.globals.PlatformComponentService).toBeUndefined()
    tag?.run()
    await platform.clock.advance(2000)
    expect((await loading).message).toContain('registered no component')
  })

  it('waits up to 2 seconds for a script that registers late', async () => {
    const loading = loadConnector(platform, script())
    const [tag] = await platform.scripts()
    tag?.run()
    await platform.clock.advance(1900)
    const desk = component()
    platform.globals.PlatformComponentService = desk
    await platform.clock.advance(100)
    expect(await loading).toBe(desk)
  })

  it.each([[undefined], [null], ['text'], [{}], [{ initPlatform: true }]])(
    'rejects a script whose component is %j after 2 seconds',
    async registered => {
      const loading = failureOf(loadConnector(platform, script()))
      const [tag] = await platform.scripts()
      tag?.run()
      platform.globals.PlatformComponentService = registered
      await platform.clock.advance(2000)
      expect((await loading).message).toContain('PlatformComponentService')
      expect(tag?.removed).toBe(true)
      expect(platform.clock.pendingTimers).toBe(0)
    },
  )

  it('rejects a script that throws, with its error, even if it registered before', async () => {
    const loading = failureOf(loadConnector(platform, script()))
    const [tag] = await platform.scripts()
    platform.globals.PlatformComponentService = component()
    const thrown = new Error('why')
    tag?.run({ thrown })
    expect((await loading).cause).toBe(thrown)
    expect(tag?.removed).toBe(true)
  })

  it('reports possible causes when a script was not loaded', async () => {
    const loading = failureOf(loadConnector(platform, script()))
    const [tag] = await platform.scripts()
    const cause = new Error('error event')
    tag?.refuse(cause)
    const error = await loading
    expect(error.cause).toBe(cause)
    expect(error.message).toMatch(/content security policy.*connector\.integrity/)
    expect(tag?.removed).toBe(true)
  })

  it('times out after 15 seconds in total', async () => {
    const loading = failureOf(loadConnector(platform, script()))
    const [tag] = await platform.scripts()
    await platform.clock.advance(14_000)
    tag?.run()
    await platform.clock.advance(999)
    expect(tag?.removed).toBe(false)
    await platform.clock.advance(1)
    expect((await loading).message).toContain('15 seconds')
    expect(tag?.removed).toBe(true)
    expect(platform.clock.pendingTimers).toBe(0)
  })

  it('times out for a script that never loads', async () => {
    const loading = failureOf(loadConnector(platform, script()))
    await platform.clock.advance(15_000)
    expect((await loading).message).toContain('15 seconds')
  })

  it('retries after a failure', async () => {
    const loading = failureOf(loadConnector(platform, script()))
    const [tag] = await platform.scripts()
    tag?.refuse(new Error('offline'))
    await loading
    const again = loadConnector(platform, script())
    const [, next] = await platform.scripts()
    const desk = component()
    platform.globals.PlatformComponentService = desk
    next?.run()
    expect(await again).toBe(desk)
  })

  it('reports an error of a page that rejects the script', async () => {
    const cause = new TypeError('This document requires a TrustedScriptURL.')
    if (platform.page)
      platform.page.addScript = () => {
        throw cause
      }
    expect((await failureOf(loadConnector(platform, script()))).cause).toBe(cause)
  })

  it('rejects for a caller that aborted, and continues for the others', async () => {
    const controller = new AbortController()
    const impatient = loadConnector(platform, script(), controller.signal).catch((reason: unknown) => reason)
    const patient = loadConnector(platform, script())
    const reason = new Error('enough')
    controller.abort(reason)
    expect(await impatient).toBe(reason)
    const [tag] = await platform.scripts()
    const desk = component()
    platform.globals.PlatformComponentService = desk
    tag?.run()
    expect(await patient).toBe(desk)
  })
})

describe('loadConnector() outside a browser', () => {
  class Process extends Platform {
    override readonly page = undefined
  }

  it.each([
    ['its default export', (desk: unknown) => ({ default: desk })],
    ['its named export', (desk: unknown) => ({ PlatformComponentService: desk })],
    [
      'an object that a CommonJS file exports by name',
      (desk: unknown) => ({ default: { PlatformComponentService: desk } }),
    ],
  ])('imports the script once, uses %s and stores it at the global name', async (_name, exported) => {
    const platform = new Process()
    const desk = component()
    platform.module = async () => exported(desk)
    expect(await Promise.all([loadConnector(platform, script()), loadConnector(platform, script())])).toEqual([
      desk,
      desk,
    ])
    expect(platform.imported).toEqual(['https://prod.example/desk.js'])
    expect(platform.globals.PlatformComponentService).toBe(desk)
  })

  it('[SEC-31] a failed import of a module does not affect the next one', async () => {
    const platform = new Process()
    platform.module = () => Promise.reject(new Error('no such module'))
    await failureOf(loadConnector(platform, script()))
    const desk = component()
    platform.module = async () => {
      platform.globals.PlatformComponentService = desk
      return {}
    }
    expect(await loadConnector(platform, script('https://prod.example/other.js'))).toBe(desk)
  })

  it('uses the component that a script without exports registers, even late', async () => {
    const platform = new Process()
    const desk = component()
    const loading = loadConnector(platform, script())
    await platform.clock.advance(500)
    platform.globals.PlatformComponentService = desk
    await platform.clock.advance(50)
    expect(await loading).toBe(desk)
  })

  it('rejects a script that registers nothing, or that is not a module', async () => {
    for (const module of [{ default: {} }, undefined]) {
      const platform = new Process()
      platform.module = async () => module
      const loading = failureOf(loadConnector(platform, script()))
      await platform.clock.advance(2000)
      expect((await loading).message).toContain('registered no component')
    }
  })

  it('reports that a file address is needed if the import fails', async () => {
    const platform = new Process()
    const cause = new Error('unsupported scheme')
    platform.module = () => Promise.reject(cause)
    const error = await failureOf(loadConnector(platform, script()))
    expect([error.cause, error.message]).toEqual([cause, expect.stringContaining('file: address')])
  })

  it('times out for an import that hangs', async () => {
    const platform = new Process()
    platform.module = () => new Promise(() => {})
    const loading = failureOf(loadConnector(platform, script()))
    await platform.clock.advance(15_000)
    expect((await loading).message).toContain('15 seconds')
  })

  it('does not import a script with an integrity that it cannot check', async () => {
    const platform = new Process()
    const error = await failureOf(loadConnector(platform, script(undefined, { integrity: 'sha256-abc' })))
    expect(error.message).toContain('connector.integrity')
    expect(platform.imported).toEqual([])
  })

  describe('with files', () => {
    let folder = ''
    beforeEach(async () => {
      folder = await mkdtemp(join(tmpdir(), 'aiagent-connector-'))
    })
    afterEach(async () => {
      Reflect.deleteProperty(globalThis, 'PlatformComponentService')
      await rm(folder, { recursive: true })
    })
    const file = async (name: string, text: string) => {
      const path = join(folder, name)
      await writeFile(path, text)
      return script(pathToFileURL(path).href)
    }

    it.each([
      ['default.mjs', 'export default { initPlatform() {} }'],
      ['named.mjs', 'export const PlatformComponentService = { initPlatform() {} }'],
      ['common.cjs', 'exports.PlatformComponentService = { initPlatform() {} }'],
      ['whole.cjs', 'module.exports = { initPlatform() {} }'],
      ['global.mjs', 'globalThis.PlatformComponentService = { initPlatform() {} }'],
    ])('imports %s', async (name, text) => {
      const desk = await loadConnector(defaultEnvironment(), await file(name, text))
      expect(desk).toHaveProperty('initPlatform')
      expect(globalThis).toHaveProperty('PlatformComponentService', desk)
    })

    it('reports what a file threw, and a missing file', async () => {
      const throws = await file('throws.mjs', 'throw new RangeError("why")')
      await expect(loadConnector(defaultEnvironment(), throws)).rejects.toMatchObject({
        code: 'CONNECTOR_FAILED',
        url: throws.url,
        cause: expect.any(RangeError),
      })
      await expect(
        loadConnector(defaultEnvironment(), script(pathToFileURL(join(folder, 'missing.mjs')).href)),
      ).rejects.toMatchObject({ code: 'CONNECTOR_FAILED' })
    })
  })
})
