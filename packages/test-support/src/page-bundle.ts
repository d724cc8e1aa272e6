import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inspect } from 'node:util'
import { build, defaultClientConditions, type Plugin, type Rolldown } from 'vite'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))

/** A change of the bundled source: every match of the pattern is replaced. */
export type SourceChange = readonly [pattern: RegExp, by: string]

/** How modules for a page are bundled. */
interface ModuleOptions {
  /** A file path or `import.meta.url` that relative imports start from; default: a file in the repository's root. */
  readonly importer?: string
  /**
   * Paths of modules that become one file, where no test looks at when each is loaded: a page with few files loads for half the
   * processor time.
   */
  readonly inOneFile?: RegExp
  /** Plugins of the bundler. Their names say all that they do. */
  readonly plugins?: readonly Plugin[]
}

/**
 * Bundles a page's script from TypeScript source, as a host's bundler would for a browser, with the workspace packages
 * taken from their source.
 *
 * @param entrySource the script's text; bare imports such as `@aiagent/client` resolve from the repository's root
 * @param importer a file path or `import.meta.url` that relative imports of the script start from
 * @default importer a file in the repository's root
 * @param change changes the source, for a bundle of another version
 * @returns one classic script without imports, for `page.addScriptTag({ content })` or a `<script>` of `servePages()`
 * @throws {Error} when the source does not compile or an import does not resolve
 */
export async function bundleForPage(entrySource: string, importer?: string, change?: SourceChange): Promise<string> {
  const [chunk] = await bundle(
    entrySource,
    importer,
    { format: 'iife', codeSplitting: false },
    change ? [changed(change)] : [],
  )
  if (chunk === undefined) throw new Error('The bundler gave no script.')
  return chunk.code
}

/**
 * As {@link bundleForPage}, but as modules: what the source imports on demand is a file each.
 *
 * @returns the files by name; the entry is `entry.js`, to be loaded with `<script type="module">`
 */
export async function bundleModulesForPage(
  entrySource: string,
  { importer, inOneFile, plugins = [] }: ModuleOptions = {},
): Promise<Readonly<Record<string, string>>> {
  const names = { entryFileNames: 'entry.js', chunkFileNames: '[name].js' }
  // What loads a file on demand stays apart: each file needs it.
  const helper = { name: 'preload-helper', test: /preload-helper/, priority: 1 }
  const groups = inOneFile && { codeSplitting: { groups: [helper, { name: 'together', test: inOneFile }] } }
  const chunks = await bundle(entrySource, importer, { format: 'es', ...names, ...groups }, plugins)
  return Object.fromEntries(chunks.map(({ fileName, code }) => [fileName, code]))
}

type Chunks = readonly Rolldown.OutputChunk[]

/** What this process has bundled: test files that share a process ask for the same pages. */
const bundled = new Map<string, Promise<Chunks>>()

function bundle(
  entrySource: string,
  importer = join(ROOT, 'page.ts'),
  output: Rolldown.OutputOptions,
  plugins: readonly Plugin[],
): Promise<Chunks> {
  const folder = dirname(importer.startsWith('file:') ? fileURLToPath(importer) : importer)
  const key = inspect([entrySource, folder, output, plugins.map(({ name }) => name)], { depth: null })
  const chunks = bundled.get(key) ?? bundleAnew(entrySource, folder, output, plugins)
  bundled.set(key, chunks)
  return chunks
}

async function bundleAnew(
  entrySource: string,
  folder: string,
  output: Rolldown.OutputOptions,
  plugins: readonly Plugin[],
): Promise<Chunks> {
  const entry = join(folder, 'page-entry.virtual.ts')
  const result = await build({
    root: ROOT,
    configFile: false,
    envFile: false,
    publicDir: false,
    logLevel: 'silent',
    resolve: { conditions: ['@aiagent/source', ...defaultClientConditions] },
    plugins: [
      {
        name: 'page-entry',
        resolveId: { order: 'pre', handler: id => (id === entry ? entry : undefined) },
        load: id => (id === entry ? entrySource : undefined),
      },
      ...plugins,
    ],
    build: {
      write: false,
      minify: false,
      modulePreload: false,
      target: 'es2022',
      rollupOptions: { input: entry, output },
    },
  })
  const outputs = (Array.isArray(result) ? result : [result]).flatMap(part => ('output' in part ? part.output : []))
  return outputs.filter(output => output.type === 'chunk')
}

const changed = (change: SourceChange): Plugin => ({
  name: `change of the source ${inspect(change)}`,
  transform: { order: 'pre', handler: code => code.replace(...change) },
})
