import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, join } from 'node:path'
import * as esbuild from 'esbuild'
import * as vite from 'vite'
import { ensureFolder } from './tools.ts'

/** What a bundler made of a page's module. */
export interface PageBundle {
  /** The scripts by file name. */
  readonly files: Readonly<Record<string, string>>
  /** Names of the scripts that the page loads at once: the one that its HTML names first, then what that imports statically. */
  readonly atOnce: readonly [entry: string, ...imported: string[]]
  /** Paths of the modules in it. */
  readonly modules: readonly string[]
}

/** How a page is bundled. */
export interface BundleOptions {
  /** The folder with the module `page.mjs`. */
  readonly folder: string
  /** Path that the scripts are served under, with a slash at both ends. */
  readonly base: string
  readonly minify: boolean
}

/** The bundlers by name, as a host calls them for a page with scripts that load on demand. */
export const BUNDLERS = {
  async esbuild({ folder, minify }): Promise<PageBundle> {
    const { metafile, outputFiles } = await esbuild.build({
      entryPoints: ['page.mjs'],
      absWorkingDir: folder,
      outdir: 'esbuild',
      bundle: true,
      splitting: true,
      minify,
      format: 'esm',
      platform: 'browser',
      target: 'es2022',
      metafile: true,
      write: false,
      logLevel: 'warning',
    })
    const imports = (path: string) =>
      (metafile.outputs[path]?.imports ?? []).flatMap(each => (each.kind === 'import-statement' ? [each.path] : []))
    const [entry, ...imported] = closure('esbuild/page.js', imports).map(path => basename(path))
    return {
      files: Object.fromEntries(outputFiles.map(({ path, text }) => [basename(path), text])),
      atOnce: [entry ?? '', ...imported],
      modules: Object.keys(metafile.inputs),
    }
  },

  async vite({ folder, base, minify }): Promise<PageBundle> {
    const result = await vite.build({
      root: folder,
      base,
      configFile: false,
      logLevel: 'warn',
      build: {
        write: false,
        minify,
        target: 'es2022',
        assetsDir: '',
        rollupOptions: { input: join(folder, 'page.mjs') },
      },
    })
    return bundleOfChunks([result].flat().flatMap(part => ('output' in part ? part.output : [])))
  },

  async webpack({ folder, base, minify }): Promise<PageBundle> {
    const webpack = toolOfPackages('webpack') as (options: object) => {
      run(done: (error: Error | null, stats: WebpackStats) => void): void
      close(done: () => void): void
    }
    const compiler = webpack({
      mode: 'production',
      target: 'web',
      context: folder,
      entry: { page: join(folder, 'page.mjs') },
      output: { path: join(folder, 'webpack'), publicPath: base },
      optimization: { minimize: minify },
      performance: false,
    })
    const stats = await new Promise<WebpackStats>((resolve, reject) => {
      compiler.run((error, stats) => (error ? reject(error) : compiler.close(() => resolve(stats))))
    })
    if (stats.hasErrors() || stats.hasWarnings()) throw new Error(stats.toString({ preset: 'errors-warnings' }))
    const { assets, modules } = stats.toJson({ all: false, assets: true, modules: true, nestedModules: true })
    const read = (name: string) => [name, readFileSync(join(folder, 'webpack', name), 'utf8')] as const
    return {
      files: Object.fromEntries(assets.flatMap(({ name }) => (name.endsWith('.js') ? [read(name)] : []))),
      atOnce: ['page.js'],
      modules: modules
        .flatMap(module => [module, ...(module.modules ?? [])])
        .flatMap(({ nameForCondition }) => nameForCondition ?? []),
    }
  },

  async rollup({ folder }): Promise<PageBundle> {
    const { rollup } = toolOfPackages('rollup') as Rollup
    const { nodeResolve } = toolOfPackages('@rollup/plugin-node-resolve') as { nodeResolve(options: object): object }
    const onwarn = ({ message }: { message: string }) => {
      throw new Error(`Rollup warns: ${message}`)
    }
    const bundle = await rollup({ input: join(folder, 'page.mjs'), plugins: [nodeResolve({ browser: true })], onwarn })
    return bundleOfChunks((await bundle.generate({ format: 'es' })).output)
  },
} satisfies Record<string, (options: BundleOptions) => Promise<PageBundle>>

/**
 * The code that runs when a module is loaded of which no name is imported. What its package says about side effects does not
 * count.
 */
export async function effectsOf(file: string): Promise<string> {
  const { rollup } = toolOfPackages('rollup') as Rollup
  const bundle = await rollup({
    input: file,
    external: (id: string) => !/^[./]/.test(id),
    treeshake: { moduleSideEffects: 'no-external' },
    preserveEntrySignatures: false,
    logLevel: 'silent',
  })
  const { files, atOnce } = bundleOfChunks((await bundle.generate({ format: 'es' })).output)
  return atOnce.map(name => files[name]?.trim()).join('')
}

interface Rollup {
  rollup(
    options: object,
  ): Promise<{ generate(options: object): Promise<{ output: Parameters<typeof bundleOfChunks>[0] }> }>
}

interface WebpackModule {
  readonly nameForCondition?: string | null
  readonly modules?: readonly WebpackModule[]
}

interface WebpackStats {
  hasErrors(): boolean
  hasWarnings(): boolean
  toString(options: object): string
  toJson(options: object): { assets: readonly { name: string }[]; modules: readonly WebpackModule[] }
}

/** A bundler that only the check of the packages and the sizes need. */
function toolOfPackages(name: string): unknown {
  return createRequire(join(ensureFolder('tools'), 'package.json'))(name)
}

function bundleOfChunks(outputs: readonly (vite.Rolldown.OutputChunk | vite.Rolldown.OutputAsset)[]): PageBundle {
  const chunks = outputs.filter(output => output.type === 'chunk')
  const start = chunks.find(({ isEntry }) => isEntry)?.fileName ?? ''
  const [entry = start, ...imported] = closure(
    start,
    name => chunks.find(({ fileName }) => fileName === name)?.imports ?? [],
  )
  return {
    files: Object.fromEntries(chunks.map(({ fileName, code }) => [fileName, code])),
    atOnce: [entry, ...imported],
    modules: chunks.flatMap(({ modules }) => Object.keys(modules)),
  }
}

/** A name, and all that are reachable from it. */
function closure(name: string, next: (name: string) => readonly string[], seen = new Set<string>()): string[] {
  if (seen.has(name)) return []
  seen.add(name)
  return [name, ...next(name).flatMap(each => closure(each, next, seen))]
}
