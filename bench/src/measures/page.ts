import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { launchChromium, prepareChromium } from '@aiagent/test-support/chromium'
import { BUNDLERS } from '../../../scripts/page-bundles.ts'
import { ROOT } from '../../../scripts/tools.ts'
import { atMost, type Finding } from '../figure.ts'
import { depthOf, type Timeline, takeTimeline } from '../timeline.ts'
import type { Bench } from './measure.ts'

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

/** How many requests of a page follow each other between its own files and `connected`, and how many files it loads. */
export async function page(bench: Bench): Promise<Finding[]> {
  if ((await prepareChromium()) === undefined) {
    console.warn('The requests of a page were not measured: no Chromium was found.')
    return []
  }
  const chromium = await launchChromium()
  const results: Finding[] = []
  try {
    for (const bundler of ['esbuild', 'vite'] as const) {
      // Below the root, so that the packages resolve.
      await mkdir(join(ROOT, '.cache'), { recursive: true })
      const folder = await mkdtemp(join(ROOT, '.cache', 'page-'))
      try {
        const files = await bundlePage(bundler, folder)
        for (const resume of [false, true]) {
          const connectSeveralTimes = async (endpoint: string) => {
            const runs: Timeline[] = []
            for (let left = bench.times(5, 2); left > 0; left--)
              runs.push(await connectOnce(chromium, endpoint, resume))
            return runs
          }
          const runs = await bench.withService(DELAY_MS, connectSeveralTimes, folder)
          results.push(...findings(`Page by ${bundler}${resume ? ', with resume' : ''}`, runs, files))
        }
      } finally {
        await rm(folder, { recursive: true })
      }
    }
  } finally {
    await chromium.close()
  }
  return results
}

/** Opens the page in a fresh window, and returns what is requested between its own files and `connected`. */
async function connectOnce(
  chromium: Awaited<ReturnType<typeof launchChromium>>,
  endpoint: string,
  resume: boolean,
): Promise<Timeline> {
  const { context, newPage } = await chromium.newWindow()
  try {
    const tab = await newPage()
    await tab.goto(`${endpoint}/index.html`)
    await tab.waitForFunction('globalThis.isReady')
    await takeTimeline(endpoint)
    await tab.evaluate(`connect(${resume})`)
    return await takeTimeline(endpoint)
  } finally {
    await context.close()
  }
}

function findings(name: string, runs: readonly Timeline[], { own, sizes }: Files): Finding[] {
  const isScript = ([, , address]: Timeline[number]) => address.endsWith('.js')
  // Requests that overlap in one run do not need each other; a busy machine may send one of them late in another.
  const depths = runs.map(depthOf)
  const depth = Math.min(...depths)
  const withoutScripts = Math.min(...runs.map(run => depthOf(run.filter(call => !isScript(call)))))
  const files = new Set(runs.flatMap(run => run.filter(isScript).map(([, , address]) => basename(address))))
  const loaded = [...own, ...files]
  // The first one is the host's.
  const smallest = Math.min(...loaded.slice(1).map(file => sizes.get(file) ?? Number.NaN))
  return [
    {
      name: `${name}, requests one after the other until connected`,
      value: depth,
      unit: 'round trips',
      goal: atMost(7),
      note: `${depth - withoutScripts} of them files; fewest of ${runs.length} runs, most ${Math.max(...depths)}`,
    },
    {
      name: `${name}, files until connected`,
      value: loaded.length,
      unit: 'files',
      goal: atMost(6),
      note: `the smallest of the library has ${(smallest / 1000).toFixed(1)} kB`,
    },
  ]
}

/** What a bundler made of the page. */
interface Files {
  /** What the page loads at once. */
  readonly own: readonly string[]
  /** Compressed sizes of all files, in bytes. */
  readonly sizes: ReadonlyMap<string, number>
}

/** Bundles the page into a folder, with links to what it loads at once. */
async function bundlePage(bundler: 'esbuild' | 'vite', folder: string): Promise<Files> {
  await writeFile(join(folder, 'page.mjs'), PAGE)
  const { files, atOnce } = await BUNDLERS[bundler]({ folder, base: '/', minify: true })
  for (const [name, code] of Object.entries(files)) await writeFile(join(folder, name), code)
  const links = atOnce.map(name => `<link rel="modulepreload" href="/${name}">`).join('')
  await writeFile(
    join(folder, 'index.html'),
    `<!doctype html>${links}<script type="module" src="/${atOnce[0]}"></script>`,
  )
  return { own: atOnce, sizes: new Map(Object.entries(files).map(([name, code]) => [name, gzipSync(code).length])) }
}
