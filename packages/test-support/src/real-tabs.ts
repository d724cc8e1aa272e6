import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { type BrowserContext, chromium } from 'playwright-core'
import { launchChromium } from './chromium.ts'

/** Tabs of one window, of which only the one in front is visible, throttled as in a browser that a user runs. */
export interface RealTabs {
  readonly context: BrowserContext
  /** A private window of the same browser. Its pages are always visible. */
  readonly privateContext: BrowserContext
  close(): Promise<void>
}

/** Playwright's switches that keep hidden pages awake. */
const KEEP_AWAKE = [
  '--disable-background-timer-throttling',
  '--disable-backgrounding-occluded-windows',
  '--disable-renderer-backgrounding',
]

/**
 * Starts a Chromium whose background tabs are hidden.
 *
 * Playwright keeps each of its pages visible. These pages are driven through a second connection that does not.
 *
 * @param ignoreDefaultArgs switches of playwright to leave out besides those that keep hidden pages awake
 * @param args further switches
 */
export async function launchRealTabs(
  ignoreDefaultArgs: readonly string[] = [],
  args: readonly string[] = [],
): Promise<RealTabs> {
  const port = await freePort()
  const browser = await launchChromium({
    needs: ['background tabs'],
    args: [`--remote-debugging-port=${port}`, ...args],
    ignoreDefaultArgs: [...KEEP_AWAKE, ...ignoreDefaultArgs],
  })
  const connection = await chromium.connectOverCDP(`http://127.0.0.1:${port}`, { noDefaults: true })
  const [context] = connection.contexts()
  if (!context) throw new Error('The browser has no window.')
  return {
    context,
    privateContext: browser.context,
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
