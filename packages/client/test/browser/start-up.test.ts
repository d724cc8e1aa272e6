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

  it('[REL-60] requests its code with the first call, and none that waits for a response', async () => {
    const page = await at.context.newPage()
    await page.goto(pages.url)
    await makeHost(page, at.stage)
    const steps: string[] = []
    let isOpen = false
    const isCode = (url: string) => url.startsWith(pages.url)
    page.on('request', request => {
      if (!isOpen) steps.push(isCode(request.url()) ? 'code' : 'call')
    })
    page.on('requestfinished', request => {
      if (!isCode(request.url())) steps.push('response')
    })
    await page.evaluate(() => host.initialize())
    isOpen = true
    const firstResponse = steps.indexOf('response')
    expect(steps.slice(0, firstResponse)).toContain('code')
    expect(steps.slice(firstResponse)).not.toContain('code')
    // One after the other: deployment, its metadata, a token, the agent, a session; beside the last, the masking rules.
    expect(steps.filter(step => step === 'call')).toHaveLength(6)
    await page.evaluate(() => host.connect())
    expect(await page.evaluate(() => host.getState())).toBe('CONNECTED')
  })
})
