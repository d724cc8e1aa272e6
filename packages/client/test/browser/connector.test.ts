import { createHash } from 'node:crypto'
import { CONNECTOR_PATH, CONNECTOR_SCRIPT } from '@aiagent/emulator'
import { type EmulatorServer, serveEmulator } from '@aiagent/emulator/node'
import {
  bundleForPage,
  hasChromium,
  type LaunchedChromium,
  launchChromium,
  type PageServer,
  servePages,
} from '@aiagent/test-support/chromium'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { ConnectorScript } from '../../src/contact-center/connector/connector-url.ts'

const REGISTERS = 'PlatformComponentService = { initPlatform() {} }'
const NONCE = 'n0nce'

/** Scripts of other origins, each with one behaviour. */
const SCRIPTS: Record<string, string> = {
  '/good.js': `window.runs = (window.runs ?? 0) + 1; ${REGISTERS}`,
  '/var.js': `var ${REGISTERS}`,
  '/late.js': `setTimeout(() => { ${REGISTERS} }, 300)`,
  '/silent.js': 'window.silent = true',
  '/slow.js': 'window.slowRan = true; PlatformComponentService = { initPlatform() {}, slow: true }',
  '/stray.js':
    'setTimeout(() => { PlatformComponentService = { initPlatform() {}, stray: true }; window.strayRan = true }, 2500)',
  '/const.js': `const ${REGISTERS}`,
  '/throws.js': `${REGISTERS}; throw new RangeError("platform closed")`,
  '/broken.js': 'this is not a script',
}

const hash = (text: string) => `sha384-${createHash('sha384').update(text).digest('base64')}`

describe.skipIf(!hasChromium())('connector scripts in a real browser', () => {
  let bundle = ''
  let chromium: LaunchedChromium
  let service: EmulatorServer
  let vendor: PageServer
  let host: PageServer
  let page: Page

  beforeAll(async () => {
    bundle = await bundleForPage(
      `import { loadTogether } from './page/connector-host.ts'
globalThis.loadConnectors = loadTogether`,
      import.meta.url,
    )
    chromium = await launchChromium()
    service = await serveEmulator()
    vendor = await servePages(SCRIPTS, { 'access-control-allow-origin': '*' })
  })
  afterAll(async () => {
    await Promise.all([chromium?.close(), service?.close(), vendor?.close()])
  })
  beforeEach(async () => {
    await open()
  })
  afterEach(async () => {
    await Promise.all([page.close(), host.close()])
  })

  /** Opens a host page, with a content security policy if given. */
  async function open(policy?: string): Promise<void> {
    await page?.close()
    await host?.close().catch(() => {})
    host = await servePages(
      {
        '/': `<!doctype html><title>Host</title><script nonce="${NONCE}" src="/host.js"></script>`,
        '/host.js': bundle,
      },
      policy ? { 'content-security-policy': policy } : {},
    )
    page = await chromium.newPage()
    await page.goto(host.url)
  }

  const loadAll = (...scripts: Partial<ConnectorScript>[]) =>
    page.evaluate(each => globalThis.loadConnectors(each), scripts)
  const load = async (script: Partial<ConnectorScript>) => (await loadAll(script)).outcomes[0]
  const loaded = { members: ['initPlatform'] }
  const failed = (path: string, message: RegExp | string) => ({
    code: 'CONNECTOR_FAILED',
    url: vendor.url + path,
    message: expect.stringMatching(message),
    cause: expect.any(String),
  })

  it('[INIT-10] load the demonstration connector once for two agents on a page', async () => {
    const url = service.url + CONNECTOR_PATH
    const { outcomes, same } = await loadAll({ url }, { url })
    expect(outcomes).toEqual([
      { members: expect.arrayContaining(['initPlatform', 'setHookContract', 'getPortalList']) },
      { members: expect.arrayContaining(['initPlatform', 'setHookContract', 'getPortalList']) },
    ])
    expect(same).toBe(true)
    expect(await page.locator('script[src*="connector-ai-agent"]').count()).toBe(1)
    expect(service.emulator.control.requests().filter(({ path }) => path === CONNECTOR_PATH)).toHaveLength(1)
  })

  it('run once also for a later agent, after another script has registered under the name', async () => {
    expect(await load({ url: `${vendor.url}/good.js` })).toEqual(loaded)
    expect(await load({ url: `${vendor.url}/var.js` })).toEqual(loaded)
    expect(await load({ url: `${vendor.url}/silent.js` })).toEqual(failed('/silent.js', 'registered no component'))
    expect(await load({ url: `${vendor.url}/good.js` })).toEqual(loaded)
    expect(await page.evaluate('runs')).toBe(1)
  })

  it('[SEC-31] never run once their time is over, and never pass for the next one', async () => {
    await page.close()
    page = await chromium.newPage()
    await page.clock.install()
    await page.goto(host.url)
    let answer = () => {}
    const isHeld = new Promise<void>(resolve => {
      answer = resolve
    })
    await page.route('**/slow.js', async route => {
      await isHeld
      await route.continue()
    })
    const asked = page.waitForRequest('**/slow.js')
    const slow = load({ url: `${vendor.url}/slow.js` })
    await asked
    await page.clock.runFor(15_000)
    expect(await slow).toEqual(failed('/slow.js', '15 seconds'))
    const answered = page.waitForResponse('**/slow.js')
    answer()
    await (await answered).finished()
    expect(await load({ url: `${vendor.url}/good.js`, integrity: hash(SCRIPTS['/good.js'] ?? '') })).toEqual(loaded)
    expect(await page.evaluate('[typeof slowRan, "slow" in PlatformComponentService]')).toEqual(['undefined', false])
  })

  it('[SEC-31] that register after they were given up do not pass for the next one', async () => {
    await page.close()
    page = await chromium.newPage()
    await page.clock.install()
    await page.goto(host.url)
    const silent = load({ url: `${vendor.url}/stray.js` })
    await page.waitForResponse('**/stray.js')
    for (let step = 0; step < 50; step++) await page.clock.runFor(50)
    expect(await silent).toEqual(failed('/stray.js', 'registered no component'))
    const next = load({ url: `${vendor.url}/late.js` })
    await page.waitForResponse('**/late.js')
    for (let step = 0; step < 50; step++) await page.clock.runFor(50)
    expect(await next).toEqual(failed('/late.js', 'stray.js may still register'))
    expect(await load({ url: `${vendor.url}/good.js` })).toEqual(loaded)
    expect(await page.evaluate('[strayRan, Object.keys(PlatformComponentService)]')).toEqual([true, ['initPlatform']])
  })

  it('are requested without cookies, from the head of the page, asynchronously', async () => {
    await load({ url: `${vendor.url}/good.js`, nonce: NONCE })
    const tag = page.locator('head > script[src$="/good.js"]')
    expect(await tag.evaluate((script: HTMLScriptElement) => [script.crossOrigin, script.async, script.nonce])).toEqual(
      ['anonymous', true, NONCE],
    )
  })

  it('run with the integrity hash of the config', async () => {
    const url = service.url + CONNECTOR_PATH
    expect(await load({ url, integrity: hash(CONNECTOR_SCRIPT) })).toHaveProperty('members')
  })

  it('do not run with another integrity hash, not even if they were loaded without a check before', async () => {
    const url = `${vendor.url}/good.js`
    const integrity = hash('another script')
    expect(await load({ url, integrity })).toEqual(failed('/good.js', 'connector\\.integrity'))
    expect(await page.evaluate('typeof runs')).toBe('undefined')
    expect(await load({ url })).toEqual(loaded)
    expect(await load({ url, integrity })).toEqual(failed('/good.js', 'connector\\.integrity'))
    expect(await page.locator('script[integrity]').count()).toBe(0)
  })

  it('run under a nonce policy only with the nonce of the config', async () => {
    await open(`script-src 'nonce-${NONCE}'`)
    const url = `${vendor.url}/good.js`
    expect(await load({ url })).toEqual(failed('/good.js', 'content security policy'))
    expect(await load({ url, nonce: 'another' })).toEqual(failed('/good.js', 'content security policy'))
    expect(await load({ url, nonce: NONCE })).toEqual(loaded)
    expect(await page.evaluate('runs')).toBe(1)
  })

  it('do not run if the policy allows only other origins', async () => {
    await open(`script-src 'self' ${vendor.url}`)
    expect(await load({ url: `${vendor.url}/good.js` })).toEqual(loaded)
    expect(await load({ url: service.url + CONNECTOR_PATH })).toMatchObject({ code: 'CONNECTOR_FAILED' })
  })

  it('run in a page that requires trusted types where their policy is allowed', async () => {
    await open("require-trusted-types-for 'script'; trusted-types aiagent-connector")
    expect(await load({ url: `${vendor.url}/good.js` })).toEqual(loaded)
  })

  it('fail with a clear error in a page that allows no policy of trusted types', async () => {
    await open("require-trusted-types-for 'script'; trusted-types 'none'")
    expect(await load({ url: `${vendor.url}/good.js` })).toMatchObject({
      code: 'CONNECTOR_FAILED',
      cause: expect.stringContaining('TrustedScriptURL'),
    })
  })

  it('may register shortly after they ran', async () => {
    expect(await load({ url: `${vendor.url}/late.js` })).toEqual(loaded)
  })

  it.each(['/silent.js', '/const.js'])('are refused if they register nothing on the window: %s', async path => {
    expect(await load({ url: vendor.url + path })).toEqual(failed(path, 'registered no component'))
    expect(await page.locator(`script[src$="${path}"]`).count()).toBe(0)
  })

  it.each([
    ['/throws.js', 'RangeError: platform closed'],
    ['/broken.js', 'SyntaxError'],
  ])('are refused if they throw, with the error as cause: %s', async (path, cause) => {
    expect(await load({ url: vendor.url + path })).toEqual({
      ...failed(path, 'threw'),
      cause: expect.stringContaining(cause),
    })
  })

  it('are refused if they are missing or not shared by their origin', async () => {
    expect(await load({ url: `${vendor.url}/missing.js` })).toEqual(failed('/missing.js', 'was not loaded'))
    const unshared = await servePages({ '/good.js': SCRIPTS['/good.js'] ?? '' })
    expect(await load({ url: `${unshared.url}/good.js` })).toMatchObject({ code: 'CONNECTOR_FAILED' })
    await unshared.close()
  })

  it('are kept apart when two addresses load at the same time', async () => {
    const { outcomes, same } = await loadAll({ url: `${vendor.url}/late.js` }, { url: `${vendor.url}/good.js` })
    expect(outcomes).toEqual([loaded, loaded])
    expect(same).toBe(false)
  })
})
