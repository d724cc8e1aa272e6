import { propertyRuns } from '@aiagent/test-support'
import { bundleForPage, hasChromium, launchChromium, servePages } from '@aiagent/test-support/chromium'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

describe.skipIf(!hasChromium())('any order of operations of two users, two deployments and two agents', () => {
  it('[SEC-15] [SEC-25] [SEC-26] keeps them apart, removes what is signed out, and touches nothing else: IndexedDB', async () => {
    const script = await bundleForPage(
      `const { port1, port2 } = new MessageChannel()
const tasks = []
port1.onmessage = () => tasks.shift()()
globalThis.setImmediate = task => { tasks.push(task); port2.postMessage(null) }
import { FaultyDatabase } from './page/faulty-database.ts'
import { checkPlaces } from '../store-places.ts'
globalThis.checkDatabase = settings => checkPlaces('IndexedDB', settings, new FaultyDatabase())`,
      import.meta.url,
    )
    const server = await servePages({
      '/': '<!doctype html><title>Stores</title><script src="/page.js"></script>',
      '/page.js': script,
    })
    const chromium = await launchChromium()
    try {
      const page = await chromium.newPage()
      await page.goto(server.url)
      const { seed = 1 } = fc.readConfigureGlobal()
      const outcome = page.evaluate(settings => checkDatabase(settings), { seed, numRuns: propertyRuns(12) })
      await expect(outcome).resolves.toBeUndefined()
    } finally {
      await Promise.all([chromium.close(), server.close()])
    }
  })
})

declare global {
  /** Defined by the script of the page. */
  function checkDatabase(settings: { numRuns: number; seed: number }): Promise<void>
}
