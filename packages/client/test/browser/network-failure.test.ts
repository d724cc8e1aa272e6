import {
  bundleForPage,
  hasChromium,
  type LaunchedChromium,
  launchChromium,
  type PageServer,
  servePages,
} from '@aiagent/test-support/chromium'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

declare global {
  /** Put into the page by the bundle: the message with which a call to an endpoint fails. */
  var failureOf: (endpoint: string) => Promise<string>
}

describe.skipIf(!hasChromium())('a call from a page that gets no answer', () => {
  let chromium: LaunchedChromium
  let bundle = ''
  let silent: PageServer
  const servers: PageServer[] = []

  beforeAll(async () => {
    bundle = await bundleForPage(
      `import { ApiHelper } from '../../src/index.ts'
globalThis.failureOf = endpoint => ApiHelper.getDeploymentInfo(endpoint, { enabled: false }).then(() => 'no failure', error => error.message)`,
      import.meta.url,
    )
    chromium = await launchChromium()
    // Answers without the headers that allow other origins.
    silent = await servePages({ '/': 'no' })
    servers.push(silent)
  })
  afterAll(async () => {
    await Promise.all([chromium?.close(), ...servers.map(server => server.close())])
  })

  async function failureIn(policy: string | undefined, endpoint: string): Promise<string> {
    const pages = await servePages(
      { '/': '<!doctype html><script src="/host.js"></script>', '/host.js': bundle },
      policy ? { 'content-security-policy': policy } : {},
    )
    servers.push(pages)
    const page = await chromium.newPage()
    try {
      await page.goto(pages.url)
      return await page.evaluate(address => globalThis.failureOf(address), endpoint)
    } finally {
      await page.close()
    }
  }

  it('[REL-24] names the origin that the service must allow (CORS)', async () => {
    expect(await failureIn(undefined, silent.url)).toMatch(/could not be reached: .*CORS.*http:\/\//)
  })

  it('[REL-24] names the directive that the policy of the page lacks', async () => {
    expect(await failureIn("connect-src 'self'", silent.url)).toContain(`add ${new URL(silent.url).origin} to`)
  })

  it('[REL-24] says that nothing answers', async () => {
    const gone = await servePages({ '/': 'no' })
    await gone.close()
    expect(await failureIn(undefined, gone.url)).toContain('nothing answers there')
  })
})
