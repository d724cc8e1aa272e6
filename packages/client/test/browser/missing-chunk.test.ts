import { bundleModulesForPage, type PageServer, servePages } from '@aiagent/test-support/chromium'
import { needs } from '@aiagent/test-support/needs'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { AiAgentConfig } from '../../src/config.ts'
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
      { importer: import.meta.url },
    )
    const served = Object.entries(files).map(([name, code]) => [`/${name}`, code])
    pages = await servePages({
      '/': '<!doctype html><title>Host</title><script type="module" src="/entry.js"></script>',
      ...Object.fromEntries(served),
    })
  })
  afterAll(() => pages?.close())

  /** The configuration of an agent with portals, which selects one by itself. */
  const configOf = (more: Partial<AiAgentConfig> = {}): Partial<AiAgentConfig> => ({
    id: 'desk',
    auth: { type: 'pre-auth', accessToken: at.stage.service.emulator.control.issueToken({ subject: 'desk-agent' }) },
    context: { vendor_portal_id: '1001' },
    ...more,
  })

  /** A page in which the first `failures` requests for the code of the contact center fail. */
  const openWithoutPortals = async (failures: number, retryInitialize = false) => {
    const page = await at.context.newPage()
    const asked: string[] = []
    await page.route('**/*portal-lifecycle*.js', route => {
      asked.push(route.request().url())
      return asked.length > failures ? route.continue() : route.abort()
    })
    await page.goto(pages.url)
    await makeHost(page, at.stage, configOf({ retryInitialize, baseReconnectDelay: 10, maxReconnectDelay: 10 }))
    return { page, asked }
  }

  const initialize = (page: Page) =>
    page.evaluate(() =>
      host.initialize().then(
        () => ['initialized'],
        ({ code, message }) => [code, message],
      ),
    )

  it('[REL-37] rejects initialize() with an error that names it and says to reload, which helps in every engine', async () => {
    const { page } = await openWithoutPortals(Number.POSITIVE_INFINITY)
    expect(await initialize(page)).toEqual([
      'MODULE_LOAD_FAILED',
      expect.stringMatching(/contact center.*reload the page/),
    ])
    await page.unrouteAll()
    await page.reload()
    await makeHost(page, at.stage, configOf())
    await page.evaluate(() => host.open())
    expect(await page.evaluate(() => host.getState())).toBe('CONNECTED')
  })

  it('[REL-37] is loaded by a later call', needs('new request after a failed import'), async () => {
    const { page } = await openWithoutPortals(2)
    await expect.poll(() => initialize(page)).toEqual(['initialized'])
    await page.evaluate(() => host.connect())
    expect(await page.evaluate(() => host.getState())).toBe('CONNECTED')
  })

  it('[REL-37] is loaded again with retryInitialize', needs('new request after a failed import'), async () => {
    const { page, asked } = await openWithoutPortals(3, true)
    await page.evaluate(() => host.open())
    expect(await page.evaluate(() => host.getState())).toBe('CONNECTED')
    expect(asked).toHaveLength(4)
  })

  it('[REL-37] ends the retry of a page that never gets it, and a view says `reload`', async () => {
    const { page } = await openWithoutPortals(Number.POSITIVE_INFINITY, true)
    expect(await initialize(page)).toEqual(['MODULE_LOAD_FAILED', expect.stringContaining('reload the page')])
    const retry = { retryInitialize: true, baseReconnectDelay: 10, maxReconnectDelay: 10 }
    const config = { id: 'desk', endpoint: at.stage.service.url, ...configOf(retry) }
    const failed = await page.evaluate(
      text =>
        openView(JSON.parse(text))
          .catch(() => {})
          .then(() => {
            const { connection, error } = view.getSnapshot()
            return [connection.state, connection.remedy, error?.remedy]
          }),
      JSON.stringify(config),
    )
    expect(failed).toEqual(['failed', 'reload', 'reload'])
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
