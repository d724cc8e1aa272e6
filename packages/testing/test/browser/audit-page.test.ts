import {
  bundleForPage,
  hasChromium,
  type LaunchedChromium,
  launchChromium,
  type PageServer,
  servePages,
} from '@aiagent/test-support/chromium'
import { assertNoLeaks, type PrivacyReport } from '@aiagent/testing'
import { type AuditedPageHost, auditPage } from '@aiagent/testing/playwright'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

/** What the audit has to find in the careless page. */
const MISTAKES = [
  'token of token in cookie, login of 127.0.0.1',
  'address of context in session storage, profile',
  'token of token in IndexedDB, shop/users/me',
  'card of message in local storage, draft',
  'card of message in console, debug',
  'address of message in URL, address of the page',
  'token of message in request body, elsewhere POST /suggest',
  'session of message in error, Error',
  'address of token in page, title',
  'card of context in cache storage, shop',
  'session of message in export, drafts',
  'session of session in request header, elsewhere POST /suggest x-chat',
]

describe.skipIf(!hasChromium())('the audit of a page', () => {
  let chromium: LaunchedChromium
  let pages: PageServer

  beforeAll(async () => {
    const script = await bundleForPage(
      `import { startShop } from './page/shop.ts'
globalThis.openShop = startShop`,
      import.meta.url,
    )
    pages = await servePages({
      '/': '<!doctype html><title>Shop</title><script src="/shop.js"></script>',
      '/shop.js': script,
    })
    chromium = await launchChromium()
  })
  afterAll(async () => {
    await Promise.all([chromium?.close(), pages?.close()])
  })

  async function audit(isCareless: boolean): Promise<PrivacyReport> {
    const window = await chromium.newWindow()
    const page = await window.newPage()
    let isExposed = false
    const host: AuditedPageHost<Page> = {
      async open(page, { agentId, endpoint, context, issueToken }) {
        if (!isExposed) await page.exposeFunction('issueToken', issueToken)
        isExposed = true
        await page.goto(pages.url)
        await page.evaluate(options => globalThis.openShop(options), { agentId, endpoint, context, isCareless })
      },
      send: (page, text) => page.evaluate(given => globalThis.shop.send(given), text),
      setContext: (page, attributes) => page.evaluate(given => globalThis.shop.setContext(given), attributes),
      async exports(page) {
        const drafts = isCareless ? await page.evaluate(() => localStorage.getItem('draft')) : ''
        return { ...(await page.evaluate(() => globalThis.shop.exports())), drafts }
      },
    }
    try {
      return await auditPage(page, host, { renewsTokens: true })
    } finally {
      await window.close()
    }
  }

  it('[SEC-36] finds nothing in a page with the client, its stores and its recorder', async () => {
    const report = await audit(false)
    assertNoLeaks(report)
    expect(Object.keys(report.scanned)).toEqual(
      expect.arrayContaining([
        'URL',
        'request header',
        'request body',
        'frame',
        'console',
        'session storage',
        'export',
      ]),
    )
  })

  it('[SEC-36] finds each mistake of a careless page', async () => {
    const report = await audit(true)
    const found = report.leaks.map(({ kind, place, sink, where }) => `${kind} of ${place} in ${sink}, ${where}`)
    for (const mistake of MISTAKES)
      expect(
        found.some(each => each.startsWith(mistake)),
        mistake,
      ).toBe(true)
    expect(report.incomplete).toEqual([])
  })
})
