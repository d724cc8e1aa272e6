import { join } from 'node:path'
import { build } from 'esbuild'
import { ROOT } from './tools.ts'

/** Minified bytes of a bundle by folder, at once and on demand together. */
export interface BundleShare {
  /** Path from the root; a dependency by its name. */
  folder: string
  bytes: number
  /** The largest files of the folder, with their bytes. */
  largest: readonly (readonly [file: string, bytes: number])[]
}

/** Bundles a page's module from source, and counts the minified bytes that each folder adds. */
export async function analyseBundle(source: string): Promise<BundleShare[]> {
  const { metafile } = await build({
    stdin: { contents: source, resolveDir: ROOT },
    absWorkingDir: ROOT,
    outdir: 'size',
    bundle: true,
    splitting: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    conditions: ['@aiagent/source'],
    metafile: true,
    write: false,
    logLevel: 'warning',
  })
  const folders = new Map<string, Map<string, number>>()
  for (const { inputs } of Object.values(metafile.outputs)) {
    for (const [path, { bytesInOutput }] of Object.entries(inputs)) {
      const folder = folderOf(path)
      const files = folders.get(folder) ?? new Map<string, number>()
      files.set(path, (files.get(path) ?? 0) + bytesInOutput)
      folders.set(folder, files)
    }
  }
  return [...folders]
    .map(([folder, files]): BundleShare => {
      const sorted = [...files].sort(([, one], [, other]) => other - one)
      return { folder, bytes: sorted.reduce((sum, [, bytes]) => sum + bytes, 0), largest: sorted.slice(0, 3) }
    })
    .sort((one, other) => other.bytes - one.bytes)
}

/** The analysis as a Markdown table, for docs/performance.md. */
export function describeBundle(shares: readonly BundleShare[]): string {
  const kilobytes = (bytes: number) => (bytes / 1000).toFixed(1)
  const total = shares.reduce((sum, { bytes }) => sum + bytes, 0)
  const rows = shares
    .filter(({ bytes }) => bytes > 0)
    .map(({ folder, bytes, largest }) => {
      const files = largest.map(([path, size]) => `${path.slice(path.lastIndexOf('/') + 1)} ${kilobytes(size)}`)
      return `| ${folder} | ${kilobytes(bytes)} | ${files.join(', ')} |`
    })
  return [
    '| Folder | kB, minified | Largest files |',
    '|---|---|---|',
    ...rows,
    `| all | ${kilobytes(total)} | |`,
  ].join('\n')
}

/** `packages/client/src/chat/connection.ts` counts as `client/chat`, a dependency as its package. */
function folderOf(path: string): string {
  const dependency = /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1]
  const own = /^packages\/([^/]+)\/src\/(?:([^/]+)\/)?/.exec(path)
  return dependency ?? (own ? join(own[1] ?? '', own[2] ?? '').replaceAll('\\', '/') : 'the page')
}
