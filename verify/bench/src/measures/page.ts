import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { launchChromium, prepareChromium } from '@aiagent/test-support/chromium'
import { bundlePage } from '../bundle-page.ts'
import { atMost, type Finding } from '../figure.ts'
import { depthOf, type Timeline } from '../timeline.ts'
import { type Bench, type Service, TRUSTS_SERVICE } from './measure.ts'

/** As on a slow mobile network. */
const DELAY_MS = 150

/** The page of a host, in which everything that the library loads later is a separate file. */
const PAGE = `
import { AiAgent } from '@aiagent/client'
globalThis.connect = async resume => {
  const agent = new AiAgent({ id: 'help', endpoint: location.origin, enableLogging: false, resume })
  await agent.initialize()
  await agent.connect()
}
globalThis.isReady = true`

/** How many requests of a page follow each other between its own files and `connected`. */
export async function page(bench: Bench): Promise<Finding[]> {
  if ((await prepareChromium()) === undefined) {
    console.warn('The requests of a page were not measured: no Chromium was found.')
    return []
  }
  const chromium = await launchChromium({ args: [TRUSTS_SERVICE] })
  const folder = await mkdtemp(join(tmpdir(), 'aiagent-page-'))
  const results: Finding[] = []
  try {
    await writePage(folder)
    const connectSeveralTimes = async (service: Service) => {
      for (const resume of [false, true]) {
        const runs: Timeline[] = []
        for (let left = bench.times(3, 2); left > 0; left--) runs.push(await connectOnce(chromium, service, resume))
        results.push(finding(`Page${resume ? ' with resume' : ''}`, runs))
      }
    }
    await bench.withService(DELAY_MS, connectSeveralTimes, folder)
  } finally {
    await Promise.all([chromium.close(), rm(folder, { recursive: true })])
  }
  return results
}

/** Opens the page in a fresh window, and returns what is requested between its own files and `connected`. */
async function connectOnce(
  chromium: Awaited<ReturnType<typeof launchChromium>>,
  { endpoint, takeTimeline }: Service,
  resume: boolean,
): Promise<Timeline> {
  const { context, newPage } = await chromium.newWindow()
  try {
    const tab = await newPage()
    await tab.goto(`${endpoint}/index.html`)
    await tab.waitForFunction('globalThis.isReady')
    await takeTimeline()
    await tab.evaluate(`connect(${resume})`)
    return await takeTimeline()
  } finally {
    await context.close()
  }
}

function finding(name: string, runs: readonly Timeline[]): Finding {
  const isScript = ([, , address]: Timeline[number]) => address.endsWith('.js')
  // Requests that overlap in one run do not need each other; a busy machine may send one of them late in another.
  const depths = runs.map(depthOf)
  const depth = Math.min(...depths)
  const withoutScripts = Math.min(...runs.map(run => depthOf(run.filter(call => !isScript(call)))))
  const files = new Set(runs.flatMap(run => run.filter(isScript).map(([, , address]) => address)))
  return {
    name: `${name}, requests one after the other until connected`,
    value: depth,
    unit: 'round trips',
    // The calls that the protocol demands, and the upgrade.
    goal: atMost(7),
    note: `${depth - withoutScripts} of them for ${files.size} further files; fewest of ${runs.length} runs, most ${Math.max(...depths)}`,
  }
}

/** Writes the page with its files. Those of its own are loaded at once: its links name them. */
async function writePage(folder: string): Promise<void> {
  const { own, scripts } = await bundlePage(PAGE)
  for (const [path, code] of Object.entries(scripts)) await writeFile(join(folder, path), code)
  const links = own.map(name => `<link rel="modulepreload" href="/${name}">`).join('')
  await writeFile(join(folder, 'index.html'), `<!doctype html>${links}<script type="module" src="/page.js"></script>`)
}
