import { HOW_TO_GET_CHROMIUM, prepareChromium } from './chromium.ts'

/** Runs once before the browser tests: gets a Chromium ready, or says in one line that they are skipped. */
export default async function setUp(): Promise<void> {
  const reason = await prepareChromium().then(
    path => (path === undefined ? 'no Chromium was found and this platform has none as a package' : undefined),
    (error: unknown) => (error instanceof Error ? error.message : String(error)).split('\n', 1)[0],
  )
  if (reason !== undefined) console.warn(`The browser tests were not run: ${reason}. ${HOW_TO_GET_CHROMIUM}`)
}
