import { bundleModulesForPage, type PageServer, servePages } from '@aiagent/test-support/chromium'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeInPages, makeHost } from './client-page.ts'

describeInPages('the start of a conversation in a page', at => {
  let pages: PageServer
  beforeAll(async () => {
    const files = await bundleModulesForPage(
      `import { makePageHost } from './page/host.ts'\nglobalThis.createHost = makePageHost`,
      { importer: import.meta.url },
    )
    pages = await servePages({
      '/': '<!doctype html><title>Host</title><script type="module" src="/entry.js"></script>',
      ...Object.fromEntries(Object.entries(files).map(([name, code]) => [`/${name}`, code])),
    })
  })
  afterAll(() => pages?.close())

  /** A page with a host, the files that it loads from then on, and its calls. */
  async function openPage() {
    const page = await at.context.newPage()
    await page.goto(pages.url)
    const code: string[] = []
    const calls: string[] = []
    page.on('request', request => (request.url().startsWith(pages.url) ? code : calls).push(request.url()))
    await makeHost(page, at.stage)
    return { page, code, calls }
  }

  it('[REL-60] loads no further file, from the first call until the answer to a message', async () => {
    const { page, code, calls } = await openPage()
    await page.evaluate(() => host.initialize())
    // One after the other: deployment, its metadata, a token, the agent, the token for its scopes, a session.
    expect(calls).toHaveLength(6)
    await page.evaluate(() => host.connect())
    expect(await page.evaluate(() => host.getState())).toBe('CONNECTED')
    await page.evaluate(() => host.sendAll(['hello']))
    await page.waitForFunction(() => host.answers().length > 0)
    expect(code).toEqual([])
  })
})
