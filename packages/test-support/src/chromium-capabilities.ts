import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { BrowserContext, Page } from 'playwright-core'
import type { ChromiumCapability } from './chromium.ts'
import { servePages } from './page-server.ts'
import { launchRealTabs } from './real-tabs.ts'

/** How long a page may take to show a capability, in milliseconds. */
const LIMIT_MS = 2_000

const PAGES = {
  '/popup': `<!doctype html><script>
    const popup = window.open('about:blank')
    document.title = popup ? 'opened' : 'blocked'
    popup?.close()
  </script>`,
  '/': `<!doctype html><script>
    addEventListener('pageshow', event => { document.title = event.persisted ? 'restored' : 'loaded' })
  </script>`,
  '/next': '<!doctype html><title>next</title>',
  '/modules': `<!doctype html><script type="module">
    const load = () => import('/module.js').then(() => true, () => false)
    document.title = !(await load()) && (await load()) ? 'again' : 'remembered'
  </script>`,
  '/storage': `<!doctype html><script>
    try { document.title = typeof sessionStorage } catch { document.title = 'none' }
    parent.postMessage(document.title, '*')
  </script>`,
  '/frame': `<!doctype html><script>
    addEventListener('message', ({ data }) => { document.title = data })
    const frame = document.createElement('iframe')
    frame.src = location.href.replace('127.0.0.1', 'localhost').replace('/frame', '/storage')
    document.documentElement.append(frame)
  </script>`,
}

/** What {@link probeChromium} tries. */
const PROBED: readonly ChromiumCapability[] = [
  'popup blocker',
  'back/forward cache',
  'background tabs',
  'cookie controls',
  'new request after a failed import',
]

/** The browser that had every capability: its path, size and time, and what was tried. */
const COMPLETE = fileURLToPath(new URL('../../../.cache/complete-chromium', import.meta.url))

/**
 * As {@link probeChromium}, without starting a browser that had every capability in an earlier run. One that lacked
 * something is tried again, since it may only have been slow.
 *
 * @param path the program that is started
 */
export async function probeOnce(path: string): Promise<readonly ChromiumCapability[]> {
  const { size, mtimeMs } = await stat(path)
  const browser = `${path} ${size} ${mtimeMs} ${PROBED.join(', ')}`
  const complete = await readFile(COMPLETE, 'utf8').catch(() => undefined)
  if (complete === browser) return PROBED
  const found = await probeChromium()
  if (PROBED.every(each => found.includes(each))) {
    await mkdir(dirname(COMPLETE), { recursive: true })
    await writeFile(COMPLETE, browser)
  }
  return found
}

/** Tries what the installed Chromium can do. Takes one start of the browser. */
async function probeChromium(): Promise<ChromiumCapability[]> {
  const pages = await servePages(PAGES)
  const tabs = await launchRealTabs(['--disable-popup-blocking', '--disable-back-forward-cache'])
  try {
    const page = await tabs.context.newPage()
    await page.goto(`${pages.url}/popup`)
    const found: ChromiumCapability[] = []
    if ((await page.title()) === 'blocked') found.push('popup blocker')
    if (await isRestored(page, pages.url)) found.push('back/forward cache')
    if (await isHidden(page, tabs.context)) found.push('background tabs')
    if (await isWithoutStorage(await tabs.privateContext.newPage(), pages.url)) found.push('cookie controls')
    if (await isLoadedAgain(await tabs.context.newPage(), pages.url)) found.push('new request after a failed import')
    return found
  } finally {
    await Promise.all([tabs.close(), pages.close()])
  }
}

async function isRestored(page: Page, url: string): Promise<boolean> {
  await page.goto(url)
  await page.goto(`${url}/next`)
  // A page from the cache does not load again, and a navigation of the driver would wait for that.
  await page.evaluate(() => void setTimeout(() => history.back()))
  return (
    (await poll(
      () => page.title(),
      title => /restored|loaded/.test(title),
    )) === 'restored'
  )
}

async function isHidden(page: Page, context: BrowserContext): Promise<boolean> {
  const front = await context.newPage()
  await front.bringToFront()
  const state = () => page.evaluate(() => document.visibilityState)
  return (await poll(state, state => state === 'hidden')) === 'hidden'
}

/** Whether a module whose first request failed is requested again by the next import. */
async function isLoadedAgain(page: Page, url: string): Promise<boolean> {
  let requests = 0
  await page.route('**/module.js', route =>
    ++requests === 1 ? route.abort() : route.fulfill({ contentType: 'text/javascript', body: '' }),
  )
  await page.goto(`${url}/modules`)
  return (
    (await poll(
      () => page.title(),
      title => title !== '',
    )) === 'again'
  )
}

/** Whether a private window gives the frame of another site no storage. */
async function isWithoutStorage(page: Page, url: string): Promise<boolean> {
  await page.goto(`${url}/frame`)
  return (
    (await poll(
      () => page.title(),
      title => title !== '',
    )) === 'none'
  )
}

/** The first accepted value, or undefined at the end of the limit. A page that is just being left gives none. */
async function poll<T>(read: () => Promise<T>, accept: (value: T) => boolean): Promise<T | undefined> {
  for (const end = Date.now() + LIMIT_MS; Date.now() < end; await delay(20)) {
    const value = await Promise.race([read().catch(() => undefined), delay(LIMIT_MS)])
    if (value !== undefined && accept(value)) return value
  }
  return undefined
}
