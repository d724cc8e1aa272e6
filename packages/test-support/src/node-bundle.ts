import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { basename, extname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build, type Plugin } from 'esbuild'

const CACHE = fileURLToPath(new URL('../../../node_modules/.cache/', import.meta.url))

/** A program that Node starts without compiling TypeScript. */
export interface NodeBundle {
  /** Path of the program, for `spawn(process.execPath, [file])`. */
  readonly file: string
  /** Removes the program. */
  remove(): Promise<void>
}

/**
 * Bundles a program and the workspace packages it imports from source, so that tests can start it many times: starting it
 * with tsx takes three times the processor time, most of it for compiling.
 *
 * @param entry path of the program's TypeScript source
 * @throws {Error} when the source does not compile or an import does not resolve
 */
export async function bundleForNode(entry: string): Promise<NodeBundle> {
  await mkdir(CACHE, { recursive: true })
  // Inside the repository, so that the program resolves the packages that are not bundled.
  const folder = await mkdtemp(join(CACHE, `program-${process.pid}-`))
  await removeLeftovers()
  await build({
    entryPoints: [entry],
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    conditions: ['@aiagent/source'],
    logLevel: 'warning',
    plugins: [fromWorkspace],
  })
  return {
    file: join(folder, `${basename(entry, extname(entry))}.mjs`),
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}

/** Removes the programs of processes that have ended without doing so. */
async function removeLeftovers(): Promise<void> {
  for (const name of await readdir(CACHE)) {
    const pid = /^program-(\d+)-/.exec(name)?.[1]
    if (pid && !isRunning(Number(pid))) await rm(join(CACHE, name), { recursive: true, force: true })
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

const fromWorkspace: Plugin = {
  name: 'from-workspace',
  setup({ onLoad, onResolve }) {
    // Paths, `#imports` and workspace packages are bundled.
    onResolve({ filter: /^[^./#]/ }, ({ kind, path }) =>
      kind === 'entry-point' || path.startsWith('@aiagent/') ? undefined : { path, external: true },
    )
    // A source file finds its data relative to itself.
    onLoad({ filter: /\.ts$/ }, async ({ path }) => ({
      contents: (await readFile(path, 'utf8')).replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href)),
      loader: 'ts',
    }))
  },
}
