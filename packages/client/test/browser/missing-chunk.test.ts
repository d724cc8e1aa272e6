import { bundleModulesForPage, type PageServer, servePages } from '@aiagent/test-support/chromium'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeInPages, makeHost } from './client-page.ts'

declare global {
  var openView: typeof import('./page/view-host.ts').openView
}

describeInPages('a file of the library that cannot be loaded', at => {
  let files: Readonly<Record<string, string>> = {}
  let pages: PageServer
  beforeAll(async () => {
    files = await bundleModulesForPage(
      `import { makePageHost } from './page/host.ts'
      import { openView } from './page/view-host.ts'
      Object.assign(globalThis, { createHost: makePageHost, openView })`,
      import.meta.url,
    )
    const served = Object.entries(files).map(([name, code]) => [`/${name}`, code])
    pages = await servePages({
      '/': '<!doctype html><title>Host</title><script type="module" src="/entry.js"></script>',
      ...Object.fromEntries(served),
    })
  })
  afterAll(() => pages?.close())

  /** A page whose first two requests for each file that is loaded on demand fail: an agent asks for some when it is made. */
  const openWithoutFiles = async (retryInitialize: boolean) => {
    const page = await at.context.newPage()
    const asked: string[] = []
    let isLoaded = false
    await page.route('**/*.js', route => {
      const name = new URL(route.request().url()).pathname.slice(1)
      const isMissing = isLoaded && asked.filter(each => each === name).length < 2
      asked.push(name)
      return isMissing ? route.abort() : route.continue()
    })
    await page.goto(pages.url)
    isLoaded = true
    await makeHost(page, at.stage, { retryInitialize, baseReconnectDelay: 10, maxReconnectDelay: 10 })
    return { page, asked }
  }

  it('[REL-37] rejects initialize() with an error that names it, and a later call loads it', async () => {
    const { page } = await openWithoutFiles(false)
    const first = await page.evaluate(() =>
      host.initialize().then(
        () => 'initialized',
        ({ code, message }) => [code, message],
      ),
    )
    expect(first).toEqual(['MODULE_LOAD_FAILED', expect.stringContaining('build-agent')])
    // Each call finds the files missing that the ones it has import.
    await expect
      .poll(
        () =>
          page.evaluate(() =>
            host.initialize().then(
              () => true,
              () => false,
            ),
          ),
        { timeout: 20_000 },
      )
      .toBe(true)
    await page.evaluate(() => host.connect())
    expect(await page.evaluate(() => host.getState())).toBe('CONNECTED')
  })

  it('[REL-37] is loaded again with retryInitialize', async () => {
    const { page, asked } = await openWithoutFiles(true)
    await page.evaluate(() => host.open())
    expect(await page.evaluate(() => host.getState())).toBe('CONNECTED')
    expect(asked.filter(name => name.includes('build-agent')).length).toBeGreaterThan(2)
  })

  it.each([
    ['a view that was connected', false],
    ['a view of an agent that was connected before', true],
  ])('[VIEW-33] is not missed by %s: explain() and export() work without a network', async (_view, isLate) => {
    const page = await at.context.newPage()
    await page.goto(pages.url)
    const config = { id: 'help', endpoint: at.stage.service.url, baseReconnectDelay: 60_000 }
    const loaded = ['export-conversation', 'explain'].map(async name => {
      const response = await page.waitForResponse(each => each.url().includes(name))
      await response.finished()
    })
    await Promise.all([...loaded, page.evaluate(given => openView(...given), [config, isLate] as const)])
    await page.waitForLoadState('networkidle')
    await page.route('**/*', route => route.abort())
    at.stage.service.emulator.control.dropSockets()
    await page.waitForFunction(() => view.getSnapshot().connection.state === 'reconnecting')
    expect(await page.evaluate(() => view.explain().then(({ code }) => code))).toBe('reconnecting')
    expect(await page.evaluate(() => view.send('meanwhile').then(() => view.export('text')))).toContain('meanwhile')
    await page.close()
  })
})
