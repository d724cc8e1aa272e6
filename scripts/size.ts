// Measures what pages load of the built packages, minified, with gzip and with brotli, and compares it with its ceilings:
// `npm run size`; `-- --write` lowers ceilings. Each page is bundled with esbuild, Vite and webpack, and the largest counts.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { serveEmulator } from '@aiagent/emulator/node'
import { HOW_TO_GET_CHROMIUM, launchChromium, prepareChromium, servePages } from '@aiagent/test-support/chromium'
import { depthOf, type Timeline } from '../verify/bench/src/timeline.ts'
import { readCommandLine } from './command-line.ts'
import { BUNDLERS, type PageBundle } from './page-bundles.ts'
import { applyRatchet, type Figures } from './ratchet.ts'
import { readManifest, stagePackage } from './stage.ts'
import { ROOT } from './tools.ts'

/** How long each script takes to load, in milliseconds. */
const STEP_MS = 200
/** How long a page loads what counts after it can be used, in milliseconds. */
const AFTERWARDS_MS = 5_000

/** A page whose scripts count. */
interface MeasuredPage {
  readonly script: string
  /**
   * For a page that is opened: what is in it, and what it shows when it can be used. All scripts that it loads until five seconds
   * later count. Without it, those count that the page loads at once.
   */
  readonly opened?: { readonly body: string; readonly shows: string }
}

const PAGES: Readonly<Record<string, MeasuredPage>> = {
  'until connected': {
    script: `
      import { AiAgent } from '@aiagent/client'
      const agent = new AiAgent({ id: 'help', endpoint: document.body.dataset.endpoint })
      agent.on('connected', () => document.body.append(document.createElement('hr')))
      await agent.initialize()
      await agent.connect()`,
    opened: { body: '', shows: 'hr' },
  },
  elements: {
    script: `import '@aiagent/elements'`,
    opened: { body: '<ai-agent-chat endpoint="ENDPOINT" agent-id="help"></ai-agent-chat>', shows: 'textarea' },
  },
  launcher: {
    script: `import '@aiagent/elements/launcher'`,
    opened: { body: '<ai-agent-launcher endpoint="ENDPOINT" agent-id="help"></ai-agent-launcher>', shows: 'button' },
  },
  'ApiHelper alone': { script: `import { ApiHelper } from '@aiagent/client'; globalThis.used = ApiHelper` },
  'helper and ROLE alone': {
    script: `import { createContextMessage, ROLE } from '@aiagent/client'; globalThis.used = [createContextMessage, ROLE]`,
  },
  'view alone': { script: `import * as view from '@aiagent/view'; globalThis.used = view` },
  'React Native entry': { script: `import * as native from '@aiagent/client/react-native'; globalThis.used = native` },
}

const { write } = readCommandLine(
  {
    name: 'size',
    about: 'Measures what pages load of the built packages.',
    options: { write: { type: 'boolean', help: 'lowers the ceilings that are above what was measured' } },
  },
  ({ values }) => values,
)
if (!existsSync(join(ROOT, 'packages', 'client', 'dist')))
  throw new Error('The packages are not built. Run `npm run build`.')
const work = join(ROOT, '.cache', 'size')
rmSync(work, { recursive: true, force: true })

const rows: Record<string, Figures | undefined> = {}
const bundles: Bundled[] = []
for (const [name, { script }] of Object.entries(PAGES))
  for (const bundler of ['esbuild', 'vite', 'webpack'] as const) bundles.push(await bundle(name, script, bundler))
const opened = await openPages()
for (const [name, page] of Object.entries(PAGES)) {
  const figures = bundles
    .filter(bundle => bundle.name === name)
    .map(bundle =>
      page.opened ? opened?.get(bundle) : compressed(bundle.atOnce.map(file => bundle.files[file] ?? '')),
    )
  if (figures[0])
    console.log(
      `${name} by esbuild, Vite and webpack: ${figures.map(each => each?.['gzip']?.toFixed(1)).join(', ')} kB`,
    )
  const columns = Object.keys(figures[0] ?? {})
  const largest = (column: string) => Math.max(...figures.map(each => each?.[column] ?? Number.NaN))
  rows[name] = figures[0] && Object.fromEntries(columns.map(column => [column, largest(column)]))
}
rows['script tag'] = compressed([readFileSync(join(ROOT, 'packages/client/dist/ai-agent-sdk.iife.js'), 'utf8')])
rows['installed client'] = { MB: installedBytes('@aiagent/client') / 1e6 }
applyRatchet('size', rows, write)

interface Bundled extends PageBundle {
  readonly name: string
  readonly base: string
}

async function bundle(name: string, script: string, bundler: 'esbuild' | 'vite' | 'webpack'): Promise<Bundled> {
  const base = `/${name.replaceAll(' ', '-')}-${bundler}/`
  const folder = join(work, base)
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'page.mjs'), script)
  return { name, base, ...(await BUNDLERS[bundler]({ folder, base, minify: true })) }
}

/** Opens the pages beside each other, and returns the figures of each bundle; undefined without a browser. */
async function openPages(): Promise<Map<Bundled, Figures> | undefined> {
  if ((await prepareChromium()) === undefined) {
    console.warn(`Pages were not opened, so that some figures are missing. ${HOW_TO_GET_CHROMIUM}`)
    return undefined
  }
  const [chromium, service] = await Promise.all([launchChromium(), serveEmulator()])
  const files: Record<string, string> = {}
  for (const { name, base, atOnce, files: scripts } of bundles) {
    const links = atOnce.map(file => `<link rel="modulepreload" href="${base}${file}">`).join('')
    const body = `<body data-endpoint="${service.url}">${PAGES[name]?.opened?.body.replace('ENDPOINT', service.url)}`
    files[base] = `<!doctype html>${links}${body}<script type="module" src="${base}${atOnce[0]}"></script>`
    for (const [file, code] of Object.entries(scripts)) files[base + file] = code
  }
  const server = await servePages(files)
  try {
    return new Map(
      await Promise.all(
        bundles.flatMap(bundle => {
          const shows = PAGES[bundle.name]?.opened?.shows
          return shows ? [open(bundle, server.url, shows).then(figures => [bundle, figures] as const)] : []
        }),
      ),
    )
  } finally {
    await Promise.all([chromium.close(), service.close(), server.close()])
  }

  async function open({ base, files }: Bundled, origin: string, shows: string): Promise<Figures> {
    const { context, newPage } = await chromium.newWindow()
    const loaded: Timeline = []
    await context.route('**/*.js', async route => {
      const start = performance.now()
      // Files that a page requests together overlap also on a busy machine.
      await delay(STEP_MS)
      loaded.push([start, performance.now(), basename(route.request().url())])
      await route.continue()
    })
    const page = await newPage()
    await page.goto(origin + base)
    await page.locator(shows).first().waitFor({ state: 'attached' })
    await delay(AFTERWARDS_MS)
    return {
      ...compressed(loaded.map(([, , file]) => files[file] ?? '')),
      files: loaded.length,
      steps: depthOf(loaded),
    }
  }
}

/** Compressed kilobytes of scripts, each compressed alone, as servers do. */
function compressed(scripts: readonly string[]): Figures {
  const kilobytes = (compress: (script: string) => Buffer) =>
    scripts.reduce((sum, script) => sum + compress(script).length, 0) / 1000
  return {
    gzip: kilobytes(script => gzipSync(script, { level: 9 })),
    brotli: kilobytes(script => brotliCompressSync(script)),
  }
}

/** Bytes on disk after an installation of a package, with all that it depends on. */
function installedBytes(name: string, counted = new Set<string>()): number {
  if (counted.has(name)) return 0
  counted.add(name)
  const [, own] = /^@aiagent\/(.+)$/.exec(name) ?? []
  const folder = own ? stagePackage(own, join(ROOT, '.cache', 'packed')) : join(ROOT, 'node_modules', name)
  const { dependencies = {} } = readManifest(join(folder, 'package.json')) as { dependencies?: object }
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => statSync(join(entry.parentPath, entry.name)).size)
    .concat(Object.keys(dependencies).map(dependency => installedBytes(dependency, counted)))
    .reduce((sum, bytes) => sum + bytes, 0)
}
