import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { launchChromium } from '@aiagent/test-support/chromium'
import { type BrowserContext, chromium } from 'playwright-core'

/** Tabs of one window, of which only the one in front is visible, with the throttling that a person's browser has. */
export interface RealTabs {
  readonly context: BrowserContext
  close(): Promise<void>
}

/** Switches of playwright that keep hidden pages awake. */
const KEEP_AWAKE = [
  '--disable-background-timer-throttling',
  '--disable-backgrounding-occluded-windows',
  '--disable-renderer-backgrounding',
]

/**
 * Starts a Chromium whose hidden tabs are hidden.
 *
 * Playwright makes every page of its own believe to be in front, so its pages are driven through a second connection that
 * leaves such things alone.
 */
export async function launchRealTabs(): Promise<RealTabs> {
  const port = await freePort()
  const browser = await launchChromium({ args: [`--remote-debugging-port=${port}`], ignoreDefaultArgs: KEEP_AWAKE })
  const connection = await chromium.connectOverCDP(`http://127.0.0.1:${port}`, { noDefaults: true })
  const [context] = connection.contexts()
  if (!context) throw new Error('The browser has no window.')
  return {
    context,
    close: async () => {
      await connection.close()
      await browser.close()
    },
  }
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise(resolve => server.close(resolve))
  return port
}
