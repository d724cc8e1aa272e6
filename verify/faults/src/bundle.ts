import { mkdir } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, type Plugin } from 'esbuild'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const FOLDER = join(ROOT, 'node_modules', '.cache', 'faults')

/** Packages that are never loaded here, or that cannot be bundled. */
const EXTERNAL = ['oidc-provider', '@peculiar/x509', 'reflect-metadata', 'bufferutil', 'utf-8-validate']

/** Changes the text of source files. */
export interface SourceChange {
  readonly name: string
  /** Path from the root of the repository. */
  readonly file: string
  /** Must occur exactly once. */
  readonly find: string
  readonly replace: string
}

/**
 * Bundles a program of this folder with the sources of client and emulator into one file, and returns its path.
 *
 * In one file an import on demand needs no real time, which simulated time does not cover; and sources can be changed on
 * the way.
 *
 * @param changes changes of the sources
 * @throws {Error} when the text that a change replaces does not occur exactly once
 */
export async function bundle(entry: string, changes: readonly SourceChange[] = []): Promise<string> {
  await mkdir(FOLDER, { recursive: true })
  const name = [entry.replace(/[^a-z-]/g, '-'), ...changes.map(change => change.name)].join('.')
  const outfile = join(FOLDER, `${name}.mjs`)
  const applied = new Set<SourceChange>()
  await build({
    entryPoints: [fileURLToPath(new URL(entry, import.meta.url))],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    conditions: ['@aiagent/source'],
    external: EXTERNAL,
    sourcemap: 'inline',
    logLevel: 'warning',
    banner: {
      js: "import { createRequire as createBundleRequire } from 'node:module'; const require = createBundleRequire(import.meta.url);",
    },
    plugins: [changePlugin(changes, applied)],
  })
  const unused = changes.filter(change => !applied.has(change))
  if (unused.length > 0) throw new Error(`Not part of the bundle: ${unused.map(({ file }) => file).join(', ')}.`)
  return outfile
}

function changePlugin(changes: readonly SourceChange[], applied: Set<SourceChange>): Plugin {
  return {
    name: 'source-changes',
    setup({ onLoad }) {
      if (changes.length === 0) return
      onLoad({ filter: /\.ts$/ }, async ({ path }) => {
        const file = relative(ROOT, path)
        const own = changes.filter(change => change.file === file)
        if (own.length === 0) return undefined
        const { readFile } = await import('node:fs/promises')
        let contents = await readFile(path, 'utf8')
        for (const change of own) {
          contents = replaceOnce(contents, change)
          applied.add(change)
        }
        return { contents, loader: 'ts' }
      })
    },
  }
}

/** @throws {Error} when the text does not occur exactly once */
export function replaceOnce(text: string, { name, file, find, replace }: SourceChange): string {
  const parts = text.split(find)
  if (parts.length !== 2)
    throw new Error(
      `The change "${name}" does not fit ${file} any more: its text occurs ${parts.length - 1} times. Adapt verify/faults/src/planted.`,
    )
  return parts.join(replace)
}
