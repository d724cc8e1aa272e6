import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build, type Metafile } from 'esbuild'
import { build as viteBuild } from 'vite'
import { ROOT } from './tools.ts'

/** Bytes that a page loads for some lines of its source, minified and compressed. */
export interface LoadedSizes {
  /** What is there before the first line runs. */
  atOnce: number
  /** The same, and everything that is always loaded: by default, what an anonymous conversation loads until `connected`. */
  untilConnected: number
  /** What each lazy import adds, by the name of the file it imports; what is always loaded counts there only. */
  onDemand: ReadonlyMap<string, number>
}

/** Files that an anonymous conversation loads until `connected`, in their order. */
const UNTIL_CONNECTED = ['build-agent']

/**
 * Bundles a page's module with the built packages, split into chunks, and measures the size of what it loads when.
 *
 * @param external packages that are left out
 * @param always lazy imports that every use of the page loads, in their order
 */
export async function loadedSizes(
  source: string,
  external: readonly string[] = [],
  always: readonly string[] = UNTIL_CONNECTED,
): Promise<LoadedSizes> {
  const { metafile, outputFiles } = await build({
    stdin: { contents: source, resolveDir: ROOT },
    absWorkingDir: ROOT,
    outdir: 'size',
    bundle: true,
    splitting: true,
    minify: true,
    external: [...external],
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    metafile: true,
    write: false,
    logLevel: 'warning',
  })
  const bytes = (names: Iterable<string>) => {
    let sum = 0
    for (const name of names) {
      const file = outputFiles.find(({ path }) => path === join(ROOT, name))
      if (!file) throw new Error(`The bundler gave no ${name}.`)
      sum += compressedBytes(file.contents)
    }
    return sum
  }

  const { outputs } = metafile
  const entry = Object.keys(outputs).find(name => outputs[name]?.entryPoint === '<stdin>')
  if (!entry) throw new Error('The bundler gave no entry.')
  const atOnce = loadedWith(outputs, entry)
  const onDemand = new Map<string, number>()
  const lazy = Object.entries(outputs).flatMap(([name, { entryPoint }]) =>
    entryPoint && name !== entry ? [{ name, part: moduleName(entryPoint) }] : [],
  )
  const count = (name: string, before: ReadonlySet<string>) =>
    bytes([...loadedWith(outputs, name)].filter(chunk => !before.has(chunk)))
  const loaded = new Set(atOnce)
  for (const needed of always) {
    const file = lazy.find(({ part }) => part === needed)
    if (!file) continue
    onDemand.set(needed, count(file.name, loaded))
    for (const name of loadedWith(outputs, file.name)) loaded.add(name)
  }
  for (const { name, part } of lazy) if (!always.includes(part)) onDemand.set(part, count(name, loaded))
  return { atOnce: bytes(atOnce), untilConnected: bytes(loaded), onDemand }
}

/** Size of built entries of a binding together, minified and compressed, without React and the client. */
export async function bindingSize(...paths: string[]): Promise<number> {
  const { outputFiles } = await build({
    stdin: { contents: paths.map(path => `export * from ${JSON.stringify(path)}`).join('\n'), resolveDir: ROOT },
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    external: ['react', '@aiagent/client', '@aiagent/client/*'],
    write: false,
  })
  return outputFiles.reduce((sum, { contents }) => sum + compressedBytes(contents), 0)
}

/** What the elements are built over, and not part of their size. */
const CLIENT = ['@aiagent/client', '@aiagent/client/*']

/**
 * Sizes of the elements without the client: the chat with its texts in English, which is what a page loads until it can be used;
 * what is loaded on demand; and the launcher alone.
 */
export async function elementSizes(): Promise<Map<string, number>> {
  const { atOnce, untilConnected, onDemand } = await loadedSizes(`import '@aiagent/elements'`, CLIENT, [
    'open-chat',
    'en',
  ])
  const { atOnce: launcher } = await loadedSizes(`import '@aiagent/elements/launcher'`, CLIENT)
  const chunk = (name: string) => onDemand.get(name) ?? 0
  return new Map([
    ['elements', untilConnected],
    ['elements shell', atOnce],
    ['elements lexer', chunk('lexer')],
    ['elements language', Math.max(chunk('de'), chunk('ar'))],
    ['elements launcher', launcher],
  ])
}

/** What a page loads at once when vite bundles it, minified and compressed. */
export async function viteSize(source: string): Promise<number> {
  const entry = 'virtual:page'
  const result = await viteBuild({
    root: ROOT,
    configFile: false,
    logLevel: 'warn',
    plugins: [
      {
        name: 'page',
        resolveId: id => (id === entry ? join(ROOT, 'page.js') : undefined),
        load: id => (id === join(ROOT, 'page.js') ? source : undefined),
      },
    ],
    build: { write: false, modulePreload: false, target: 'es2022', rollupOptions: { input: entry } },
  })
  const [bundle] = [result].flat()
  if (!bundle || !('output' in bundle)) throw new Error('vite built nothing.')
  const chunks = new Map(bundle.output.flatMap(file => (file.type === 'chunk' ? [[file.fileName, file] as const] : [])))
  const loaded = new Set<string>()
  const add = (name: string) => {
    if (loaded.has(name)) return
    loaded.add(name)
    for (const imported of chunks.get(name)?.imports ?? []) add(imported)
  }
  for (const chunk of chunks.values()) if (chunk.isEntry) add(chunk.fileName)
  return [...loaded].reduce((sum, name) => sum + compressedBytes(Buffer.from(chunks.get(name)?.code ?? '')), 0)
}

/** Bytes of a file after the compression that the budgets and the bench count with. */
export function compressedBytes(contents: Uint8Array): number {
  return gzipSync(contents, { level: 9 }).length
}

/** A file and all that it imports without being asked later. */
export function loadedWith(outputs: Metafile['outputs'], name: string, seen = new Set<string>()): Set<string> {
  if (seen.has(name)) return seen
  seen.add(name)
  for (const { path, kind, external } of outputs[name]?.imports ?? [])
    if (kind === 'import-statement' && !external) loadedWith(outputs, path, seen)
  return seen
}

function moduleName(path: string): string {
  const file = path.slice(path.lastIndexOf('/') + 1)
  return file.replace(/(-[\w-]{8})?[.][^.]+$/, '')
}
