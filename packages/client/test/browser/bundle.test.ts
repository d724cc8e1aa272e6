import {
  bundleForPage,
  hasChromium,
  type LaunchedChromium,
  launchChromium,
  servePages,
} from '@aiagent/test-support/chromium'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bundleHost } from './client-page.ts'

describe('the bundle for a page', () => {
  it('contains no WebSocket package and no Node modules', async () => {
    const bundle = await bundleHost()
    // Strings of the package `ws`, which provides the WebSocket class on Node.
    const words = ['perMessageDeflate', 'Sec-WebSocket', 'node:', 'process.env', 'Buffer.']
    expect(words.filter(word => bundle.includes(word))).toEqual([])
    expect(/\brequire\(['"`]/.test(bundle)).toBe(false)
    expect(bundle.includes('globalThis.WebSocket')).toBe(true)
  })
})

describe.skipIf(!hasChromium())('importing the client in a page', () => {
  let chromium: LaunchedChromium
  beforeAll(async () => {
    chromium = await launchChromium()
  })
  afterAll(() => chromium?.close())

  it('has no side effect: no storage access, no request, no timer, no listener, no global', async () => {
    const spies = `
      globalThis.touched = []
      const note = (owner, name) => {
        const original = owner[name]
        owner[name] = function (...given) { touched.push(name); return original.apply(this, given) }
      }
      for (const name of ['getItem', 'setItem', 'removeItem', 'key', 'clear']) note(Storage.prototype, name)
      for (const name of ['fetch', 'setTimeout', 'setInterval', 'queueMicrotask', 'addEventListener']) note(globalThis, name)
      for (const name of ['log', 'info', 'warn', 'error', 'debug']) note(console, name)
      for (const name of ['sessionStorage', 'localStorage', 'crypto', 'WebSocket']) {
        const { get, value } = Object.getOwnPropertyDescriptor(globalThis, name)
        Object.defineProperty(globalThis, name, { configurable: true, get() { touched.push(name); return get ? get.call(globalThis) : value } })
      }
      globalThis.before = ['before', ...Object.getOwnPropertyNames(globalThis)]
    `
    const server = await servePages({
      '/': '<!doctype html><script src="/spies.js"></script><script src="/client.js"></script>',
      '/spies.js': spies,
      '/client.js': await bundleForPage(`import * as client from '@aiagent/client'\nglobalThis.client = client`),
    })
    try {
      const page = await chromium.newPage()
      const errors: string[] = []
      page.on('pageerror', error => errors.push(error.message))
      await page.goto(server.url)
      expect(await page.evaluate('touched')).toEqual([])
      expect(
        await page.evaluate('Object.getOwnPropertyNames(globalThis).filter(name => !before.includes(name))'),
      ).toEqual(['client'])
      expect(await page.evaluate('typeof client.AiAgent')).toBe('function')
      // The spies notice a use of the library.
      await page.evaluate(`new client.AiAgent({ id: 'help', endpoint: location.origin }).initialize().catch(() => {})`)
      expect(await page.evaluate('touched')).toEqual(expect.arrayContaining(['sessionStorage', 'fetch', 'setTimeout']))
      expect(errors).toEqual([])
    } finally {
      await server.close()
    }
  })
})
