import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { launchChromium, prepareChromium } from '@aiagent/test-support/chromium'
import { build } from 'esbuild'
import { build as viteBuild } from 'vite'
import { compressedBytes, loadedWith } from '../../../scripts/loaded-sizes.ts'
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
    for (const [bundler, bundle] of Object.entries({ esbuild: bundleWithEsbuild, vite: bundleWithVite })) {
      const folder = await mkdtemp(join(tmpdir(), 'aiagent-page-'))
      try {
        const files = await bundle(folder)
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

/** Splits the page into files, as esbuild does. Its own files are loaded at once: its links name them. */
async function bundleWithEsbuild(folder: string): Promise<Files> {
  const { metafile, outputFiles } = await build({
    stdin: { contents: PAGE, resolveDir: ROOT, sourcefile: 'page.js' },
    absWorkingDir: ROOT,
    outdir: 'page',
    entryNames: 'entry',
    chunkNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    metafile: true,
    write: false,
    logLevel: 'warning',
  })
  const contents = new Map(outputFiles.map(file => [basename(file.path), file.contents]))
  const own = [...loadedWith(metafile.outputs, 'page/entry.js')].map(name => basename(name))
  return await writePage(folder, 'entry.js', own, contents)
}

/** The same with vite, which names the files of a part where the part is imported, so that they load together. */
async function bundleWithVite(folder: string): Promise<Files> {
  await writeFile(join(folder, 'page.js'), PAGE)
  const result = await viteBuild({
    root: folder,
    configFile: false,
    logLevel: 'warn',
    resolve: { alias: { '@aiagent/client': join(ROOT, 'packages', 'client', 'dist', 'index.js') } },
    build: {
      write: false,
      target: 'es2022',
      assetsDir: '',
      rollupOptions: { input: join(folder, 'page.js') },
    },
  })
  const [output] = [result].flat()
  if (!output || !('output' in output)) throw new Error('vite built nothing.')
  const chunks = output.output.filter(file => file.type === 'chunk')
  const entry = chunks.find(chunk => chunk.isEntry)
  if (!entry) throw new Error('vite built no entry.')
  const contents = new Map(chunks.map(({ fileName, code }) => [fileName, Buffer.from(code)]))
  return await writePage(folder, entry.fileName, [entry.fileName, ...entry.imports], contents)
}

async function writePage(
  folder: string,
  entry: string,
  own: readonly string[],
  contents: ReadonlyMap<string, Uint8Array>,
): Promise<Files> {
  for (const [name, bytes] of contents) await writeFile(join(folder, name), bytes)
  const links = own.map(name => `<link rel="modulepreload" href="/${name}">`).join('')
  const page = `<!doctype html>${links}<script type="module" src="/${entry}"></script>`
  await writeFile(join(folder, 'index.html'), page)
  return { own, sizes: new Map([...contents].map(([name, bytes]) => [name, compressedBytes(bytes)])) }
}
