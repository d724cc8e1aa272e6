import { bundleModulesForPage, type PageServer, servePages } from '@aiagent/test-support/chromium'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeInPages, makeHost } from './client-page.ts'

describeInPages('the start of a conversation in a page', at => {
  let pages: PageServer
  beforeAll(async () => {
    const files = await bundleModulesForPage(
      `import { makePageHost } from './page/host.ts'\nglobalThis.createHost = makePageHost`,
      import.meta.url,
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

  it('[REL-60] requests its code before or with the first call, and none that waits for a response', async () => {
    const first = await openPage()
    await first.page.evaluate(() => host.initialize())
    // One after the other: deployment, its metadata, a token, the agent, a session; beside the last, the masking rules.
    expect(first.calls).toHaveLength(6)
    const needed = first.code.toSorted()
    expect(needed).not.toEqual([])
    await first.page.close()

    const { page, code, calls } = await openPage()
    const fault = at.stage.service.emulator.faults.add({ kind: 'hang-request' })
    const initialized = page.evaluate(() => host.initialize())
    await expect.poll(() => code.toSorted()).toEqual(needed)
    await expect.poll(() => calls).toHaveLength(1)
    at.stage.service.emulator.faults.lift({ id: fault.id })
    await initialized
    expect(code.toSorted()).toEqual(needed)
    await page.evaluate(() => host.connect())
    expect(await page.evaluate(() => host.getState())).toBe('CONNECTED')
  })
})
