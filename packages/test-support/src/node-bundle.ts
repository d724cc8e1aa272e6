import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { basename, extname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build, type Plugin } from 'esbuild'

const CACHE = fileURLToPath(new URL('../../../node_modules/.cache/', import.meta.url))

/** Programs that Node starts without compiling TypeScript. */
export interface NodeBundle {
  /** Path of the first program, for `spawn(process.execPath, [file])`. */
  readonly file: string
  /** Folder of all programs. Each is named as its source, with the ending `.mjs`. */
  readonly folder: string
  /** Removes the programs. */
  remove(): Promise<void>
}

/**
 * Bundles programs and the workspace packages they import from source, so that tests can start them many times: starting one
 * with tsx takes three times the processor time, most of it for compiling.
 *
 * @param entry path of a program's TypeScript source
 * @param others further programs in the same folder
 * @param external workspace packages that are not bundled, but loaded as hosts load them
 * @throws {Error} when a source does not compile or an import does not resolve
 */
export async function bundleForNode(
  entry: string,
  { others = [], external = [] }: { others?: readonly string[]; external?: readonly string[] } = {},
): Promise<NodeBundle> {
  await mkdir(CACHE, { recursive: true })
  // Inside the repository, so that the program resolves the packages that are not bundled.
  const folder = await mkdtemp(join(CACHE, `program-${process.pid}-`))
  await removeLeftovers()
  await build({
    entryPoints: [entry, ...others],
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    conditions: ['@aiagent/source'],
    logLevel: 'warning',
    plugins: [fromWorkspace(external)],
  })
  return {
    file: join(folder, `${basename(entry, extname(entry))}.mjs`),
    folder,
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

const fromWorkspace = (external: readonly string[]): Plugin => ({
  name: 'from-workspace',
  setup({ onLoad, onResolve }) {
    // Paths, `#imports` and workspace packages are bundled.
    onResolve({ filter: /^[^./#]/ }, ({ kind, path }) =>
      kind === 'entry-point' || (path.startsWith('@aiagent/') && !external.includes(path))
        ? undefined
        : { path, external: true },
    )
    // A source file finds its data relative to itself.
    onLoad({ filter: /\.ts$/ }, async ({ path }) => ({
      contents: (await readFile(path, 'utf8')).replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href)),
      loader: 'ts',
    }))
  },
})
