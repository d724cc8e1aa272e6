import { prepareChromium, servePages } from '@aiagent/test-support/chromium'
import { launchRealTabs } from '@aiagent/test-support/real-tabs'
import { bundlePage } from '../bundle-page.ts'
import { atMost, type Finding, type Goal, summary } from '../figure.ts'
import { type Bench, TRUSTS_SERVICE } from './measure.ts'

const COUNT = 1_000
const IN_FRONT = atMost(0.4)
const HIDDEN = atMost(0.7)

/** How long a thousand messages that waited take to reach the service. */
export async function flush(bench: Bench): Promise<Finding[]> {
  const onNode = await bench.withService(0, ({ endpoint }) =>
    repeat(bench.times(7, 2), () => bench.programs.run<number>('flush', { endpoint, count: COUNT })),
  )
  return [found('on Node', onNode, IN_FRONT), ...(await flushInBrowser(bench))]
}

async function flushInBrowser(bench: Bench): Promise<Finding[]> {
  if ((await prepareChromium()) === undefined) {
    console.warn('The flush in a browser was not measured: no Chromium was found.')
    return []
  }
  const { scripts } = await bundlePage(
    `import * as bench from './clients/queued-agent.ts'\nObject.assign(globalThis, bench)`,
  )
  const [tabs, server] = await Promise.all([
    launchRealTabs([], [TRUSTS_SERVICE]),
    servePages({ '/': '<!doctype html><script type="module" src="/page.js"></script>', ...scripts }),
  ])
  const flushOnce = async (endpoint: string, hidden: boolean) => {
    const page = await tabs.context.newPage()
    await page.bringToFront()
    await page.goto(server.url)
    await page.evaluate(
      `queuedAgent(${JSON.stringify(endpoint)}, ${COUNT}).then(agent => { globalThis.agent = agent })`,
    )
    const cover = hidden ? await tabs.context.newPage() : undefined
    await cover?.bringToFront()
    const wanted = hidden ? 'hidden' : 'visible'
    // Asked from outside, since the page's own timers are slow while it is hidden.
    while ((await page.evaluate('document.visibilityState')) !== wanted) await new Promise(setImmediate)
    const time = await page.evaluate('flush(agent)')
    await Promise.all([page.close(), cover?.close()])
    return Number(time)
  }
  try {
    return await bench.withService(0, async ({ endpoint }) => {
      const times = bench.times(5, 1)
      const front = await repeat(times, () => flushOnce(endpoint, false))
      const hidden = await repeat(times, () => flushOnce(endpoint, true))
      return [found('in a page in front', front, IN_FRONT), found('in a hidden page', hidden, HIDDEN)]
    })
  } finally {
    await Promise.all([tabs.close(), server.close()])
  }
}

function found(where: string, times: readonly number[], goal: Goal): Finding {
  return { name: `Flush of 1,000 ${where}`, ...summary(times.map(time => time / 1000)), unit: 's', goal }
}

async function repeat<T>(times: number, work: () => Promise<T>): Promise<T[]> {
  const results: T[] = []
  for (let left = times; left > 0; left--) results.push(await work())
  return results
}
