import { serveEmulator } from '@aiagent/emulator/node'
import { launchChromium, prepareChromium, servePages } from '@aiagent/test-support/chromium'
import type { Page } from 'playwright-core'
import { bundlePage } from '../bundle-page.ts'
import { atMost, type Finding, quantile, summary } from '../figure.ts'
import type { Bench } from './measure.ts'

const MESSAGES = 2_000
const KEYS = 120
/** Time between messages that arrive while the user types, in milliseconds. */
const ARRIVAL_MS = 20
const TEXT = 'A **longer** answer with [a link](https://shop.test) and `code`, over more than one line of the chat.'

/**
 * The chat element with a long conversation in Chromium: what it takes to open, to scroll and to type. Opening and scrolling are
 * judged by the time of the processor, since a busy machine makes the clock slower and not the work.
 */
export async function elements(bench: Bench): Promise<Finding[]> {
  if ((await prepareChromium()) === undefined) {
    console.warn('The chat element was not measured: no Chromium was found.')
    return []
  }
  const [chromium, { scripts }] = await Promise.all([
    launchChromium({ needs: ['browser window'] }),
    bundlePage(`import * as bench from './clients/chat-page.ts'\nglobalThis.bench = bench`),
  ])
  const html =
    '<!doctype html><body style="margin:0"><style>ai-agent-chat{block-size:100vh}</style><script type="module" src="/page.js"></script>'
  const server = await servePages({ '/': html, ...scripts })
  const runs: Run[] = []
  try {
    for (let round = bench.times(5, 2); round > 0; round--) {
      const page = await chromium.newPage()
      await page.setViewportSize({ width: 420, height: 720 })
      await page.goto(server.url)
      await page.waitForFunction('globalThis.bench')
      runs.push(await measure(page))
      await page.close()
    }
  } finally {
    await Promise.all([chromium.close(), server.close()])
  }
  const name = (text: string) => `Chat element, ${text}`
  const clock = (values: readonly number[]) => `by the clock ${quantile(values, 0.5).toFixed(0)} ms`
  const keys = runs.flatMap(run => run.keys)
  return [
    {
      name: name(`opens ${MESSAGES} messages`),
      ...summary(runs.map(run => run.openTime)),
      unit: 'ms',
      goal: atMost(200),
      note: clock(runs.map(run => run.opened)),
    },
    {
      name: name('a frame while it scrolls'),
      ...summary(runs.map(run => run.scrollTime / run.frames.length)),
      unit: 'ms',
      goal: atMost(16),
      note: clock(runs.flatMap(run => run.frames)),
    },
    {
      name: name('a key while messages arrive'),
      ...summary(keys),
      unit: 'ms',
      goal: atMost(16),
      note: `95 % within ${quantile(keys, 0.95).toFixed(0)} ms`,
    },
  ]
}

/** Times of one page, in milliseconds. */
interface Run {
  readonly openTime: number
  readonly opened: number
  readonly scrollTime: number
  /** Time of each frame while it scrolls, by the clock. */
  readonly frames: number[]
  readonly keys: number[]
}

async function measure(page: Page): Promise<Run> {
  const service = await serveEmulator({ settings: { historyLimit: MESSAGES } })
  const call = <T>(code: string) => page.evaluate(`bench.${code}`) as Promise<T>
  const devTools = await page.context().newCDPSession(page)
  await devTools.send('Performance.enable')
  /** Milliseconds of the processor that the page's process has used so far: scripts, styles, layout, and painting without a graphics card. */
  const used = async () => {
    const { metrics } = await devTools.send('Performance.getMetrics')
    return (metrics.find(({ name }) => name === 'ProcessTime')?.value ?? Number.NaN) * 1000
  }
  try {
    await call(`connect(${JSON.stringify(service.url)})`)
    const { control, world } = service.emulator
    const [session = ''] = world.sessions.keys()
    for (let index = 0; index < MESSAGES; index++) control.say(session, { content: `${index}: ${TEXT}` })
    while ((await call<number>('received()')) < MESSAGES) await new Promise(setImmediate)
    const atStart = await used()
    const opened = await call<number>(`open(${JSON.stringify(`${MESSAGES - 1}: `)})`)
    const openTime = (await used()) - atStart
    await call(`showAll(${MESSAGES})`)
    const atTop = await used()
    const frames = await call<number[]>('scroll()')
    const scrollTime = (await used()) - atTop
    await call('watchTyping()')
    let index = 0
    const arriving = setInterval(() => control.say(session, { content: `more ${index++}: ${TEXT}` }), ARRIVAL_MS)
    for (let key = 0; key < KEYS; key++) await page.keyboard.press('a')
    clearInterval(arriving)
    return { openTime, opened, scrollTime, frames, keys: await call<number[]>('typed()') }
  } finally {
    await service.close()
  }
}
