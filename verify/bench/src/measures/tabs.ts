import { serveEmulator } from '@aiagent/emulator/node'
import { prepareChromium, servePages } from '@aiagent/test-support/chromium'
import { launchRealTabs } from '@aiagent/test-support/real-tabs'
import { bundlePage } from '../bundle-page.ts'
import { atMost, type Finding, median, summary } from '../figure.ts'
import { type Bench, TRUSTS_SERVICE } from './measure.ts'

/** Messages that fill a transcript, whose limit is 5,000 by default. */
const COUNT = 5_000

/** What it costs that tabs share a conversation, once it is long. */
export async function tabs(bench: Bench): Promise<Finding[]> {
  if ((await prepareChromium()) === undefined) {
    console.warn('Tabs were not measured: no Chromium was found.')
    return []
  }
  const { scripts } = await bundlePage(
    `import * as bench from './clients/shared-agent.ts'\nObject.assign(globalThis, bench)`,
  )
  const [browser, server] = await Promise.all([
    launchRealTabs([], [TRUSTS_SERVICE]),
    servePages({ '/': '<!doctype html><script type="module" src="/page.js"></script>', ...scripts }),
  ])
  const open = async () => {
    const page = await browser.context.newPage()
    await page.goto(server.url)
    return page
  }
  const timeSends = async (endpoint: string, isShared: boolean) => {
    const page = await open()
    const time = await page.evaluate(`timeSends(${JSON.stringify(endpoint)}, ${COUNT}, ${isShared})`)
    await page.close()
    return Number(time)
  }
  /** Times in milliseconds: for how long the pages are blocked when one joins, and when it empties its transcript. */
  const join = async () => {
    const service = await serveEmulator({
      reply: ({ text }) => ({ content: text }),
      offersLogin: false,
      settings: { historyLimit: 2 * COUNT },
    })
    const agentOf = (count: number) =>
      `sharedAgent(${JSON.stringify(service.url)}, ${count}).then(agent => { globalThis.agent = agent })`
    const pages = [await open(), await open()] as const
    const [leader, joining] = pages
    await leader.evaluate(agentOf(0))
    await leader.evaluate(`fill(agent, ${COUNT})`)
    for (const page of pages) await page.evaluate('void (globalThis.stop = watchPage())')
    await joining.evaluate(agentOf(COUNT))
    const blocked = await Promise.all(pages.map(page => page.evaluate('stop()')))
    const cleared = await joining.evaluate('timeClear(agent)')
    await Promise.all(pages.map(page => page.close()))
    await service.close()
    return { leader: Number(blocked[0]), joining: Number(blocked[1]), cleared: Number(cleared) }
  }
  const repeat = async <T>(times: number, work: () => Promise<T>) => {
    const results: T[] = []
    for (let left = times; left > 0; left--) results.push(await work())
    return results
  }
  try {
    const times = bench.times(5, 1)
    const [alone, shared] = await bench.withService(0, async ({ endpoint }) => [
      await repeat(times, () => timeSends(endpoint, false)),
      await repeat(times, () => timeSends(endpoint, true)),
    ])
    const joins = await repeat(times, join)
    const found = (name: string, milliseconds: readonly number[], most: number): Finding => ({
      name,
      ...summary(milliseconds),
      unit: 'ms',
      goal: atMost(most),
    })
    return [
      {
        name: 'send() in a page that shares its conversation with tabs',
        ...summary(shared.map((time, index) => time / (alone[index] ?? Number.NaN))),
        unit: '× without',
        goal: atMost(1.5),
        note: `${median(shared).toFixed(1)} µs, without ${median(alone).toFixed(1)} µs`,
      },
      found(
        'Longest block of the leader when a tab joins 5,000 messages',
        joins.map(({ leader }) => leader),
        50,
      ),
      found(
        'Longest block of a tab that joins 5,000 messages',
        joins.map(({ joining }) => joining),
        50,
      ),
      found(
        'clearTranscript() of 5,000 messages',
        joins.map(({ cleared }) => cleared),
        5,
      ),
    ]
  } finally {
    await Promise.all([browser.close(), server.close()])
  }
}
