import {
  bundleForPage,
  hasChromium,
  type LaunchedChromium,
  launchChromium,
  servePages,
} from '@aiagent/test-support/chromium'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

describe.skipIf(!hasChromium())('a real Chromium', () => {
  let chromium: LaunchedChromium
  beforeAll(async () => {
    chromium = await launchChromium()
  })
  afterAll(() => chromium.close())

  it('runs a script bundled from the source of a workspace package, loaded by a page', async () => {
    const script = await bundleForPage(`
      import { encodeMessage, parseServerMessage } from '@aiagent/protocol'
      const text: string = encodeMessage({ persona: 'bot', role: 'text', content: 'hello' })
      document.title = String(parseServerMessage(text).content)
    `)
    const server = await servePages({
      '/': '<!doctype html><body><script src="/page.js"></script>',
      '/page.js': script,
    })
    try {
      const page = await chromium.newPage()
      await page.goto(server.url)
      expect(await page.title()).toBe('hello')
    } finally {
      await server.close()
    }
  })

  it('resolves relative imports from the file that asks', async () => {
    const script = await bundleForPage(
      `import { parts } from './parts.ts'\nglobalThis.parts = parts`,
      new URL('./fixtures/page.ts', import.meta.url).href,
    )
    const page = await chromium.newPage()
    await page.addScriptTag({ content: script })
    expect(await page.evaluate('parts')).toEqual(['one', 'two'])
  })

  it('starts with a profile on disk where storage outlives a page', async () => {
    const server = await servePages({})
    const own = await launchChromium({ persistentProfile: true })
    try {
      const first = await own.newPage()
      await first.goto(server.url)
      await first.evaluate(`localStorage.setItem('key', 'kept')`)
      await first.close()
      const second = await own.newPage()
      await second.goto(server.url)
      expect(await second.evaluate(`localStorage.getItem('key')`)).toBe('kept')
    } finally {
      await Promise.all([own.close(), server.close()])
    }
  })

  it('answers 404 for a file that no page was given', async () => {
    const server = await servePages({}, { 'x-own': 'yes' })
    try {
      const response = await fetch(`${server.url}/missing.js`)
      expect([response.status, response.headers.get('x-own')]).toEqual([404, 'yes'])
    } finally {
      await server.close()
    }
  })
})

describe('bundling for a page', () => {
  it('rejects source whose imports do not resolve', async () => {
    await expect(bundleForPage(`import './not-there.ts'`)).rejects.toThrow('not-there')
  })
})
