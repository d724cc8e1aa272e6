import { bundleForPage, hasChromium, launchChromium, servePages } from '@aiagent/test-support/chromium'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

describe.skipIf(!hasChromium())('any order of operations over IndexedDB, in a page', () => {
  it('[SEC-15] leaves and shows nothing of one user or deployment to another, and touches nothing else', async () => {
    const script = await bundleForPage(
      `import { checkStoredKinds } from './page/stored-kinds.ts'
globalThis.checkStoredKinds = checkStoredKinds`,
      import.meta.url,
    )
    const server = await servePages({
      '/': '<!doctype html><title>Store</title><script src="/page.js"></script>',
      '/page.js': script,
    })
    const chromium = await launchChromium()
    try {
      const page = await chromium.newPage()
      await page.goto(server.url)
      const { seed = 1 } = fc.readConfigureGlobal()
      const outcome = page.evaluate(([drawn, runs]) => checkStoredKinds(drawn, runs), [seed, 15] as const)
      await expect(outcome).resolves.toBeUndefined()
    } finally {
      await Promise.all([chromium.close(), server.close()])
    }
  })
})

declare global {
  /** Defined by the script of the page. */
  function checkStoredKinds(seed: number, numRuns: number): Promise<void>
}
