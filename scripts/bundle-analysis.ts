import { join } from 'node:path'
import { build } from 'esbuild'
import { loadedWith } from './loaded-sizes.ts'
import { ROOT } from './tools.ts'

/** Minified bytes of a bundle by folder. */
export interface BundleShare {
  /** Path from the root; a dependency by its name. */
  folder: string
  /** What `import { AiAgent }` loads. */
  atOnce: number
  /** The same and what an anonymous conversation loads until `connected`. */
  untilConnected: number
  /** The same and everything that is loaded on demand. */
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
  const { outputs } = metafile
  const chunkOf = (isEntry: (path: string) => boolean) =>
    Object.keys(outputs).filter(name => isEntry(outputs[name]?.entryPoint ?? ''))
  const atOnce = new Set(chunkOf(path => path === '<stdin>').flatMap(name => [...loadedWith(outputs, name)]))
  const start = new Set(chunkOf(path => START.test(path)).flatMap(name => [...loadedWith(outputs, name)]))
  const folders = new Map<string, { atOnce: number; untilConnected: number; files: Map<string, number> }>()
  for (const [name, { inputs }] of Object.entries(outputs)) {
    for (const [path, { bytesInOutput }] of Object.entries(inputs)) {
      const folder = folderOf(path)
      const share = folders.get(folder) ?? { atOnce: 0, untilConnected: 0, files: new Map<string, number>() }
      if (atOnce.has(name)) share.atOnce += bytesInOutput
      if (atOnce.has(name) || start.has(name)) share.untilConnected += bytesInOutput
      share.files.set(path, (share.files.get(path) ?? 0) + bytesInOutput)
      folders.set(folder, share)
    }
  }
  return [...folders]
    .map(([folder, { files, ...share }]): BundleShare => {
      const sorted = [...files].sort(([, one], [, other]) => other - one)
      return { folder, ...share, bytes: sorted.reduce((sum, [, bytes]) => sum + bytes, 0), largest: sorted.slice(0, 3) }
    })
    .sort((one, other) => other.atOnce - one.atOnce || other.bytes - one.bytes)
}

/** The modules that each run of `initialize()` of an anonymous conversation loads. */
const START = /agent\/build-agent\.ts$/

/** The analysis as a Markdown table, for docs/performance.md. */
export function describeBundle(shares: readonly BundleShare[]): string {
  const kilobytes = (bytes: number) => (bytes / 1000).toFixed(1)
  const total = (of: (share: BundleShare) => number) => kilobytes(shares.reduce((sum, share) => sum + of(share), 0))
  const rows = shares
    .filter(({ bytes }) => bytes > 0)
    .map(({ folder, atOnce, untilConnected, bytes, largest }) => {
      const files = largest.map(([path, size]) => `${path.slice(path.lastIndexOf('/') + 1)} ${kilobytes(size)}`)
      return `| ${folder} | ${kilobytes(atOnce)} | ${kilobytes(untilConnected)} | ${kilobytes(bytes)} | ${files.join(', ')} |`
    })
  return [
    '| Folder | At once, kB | Until connected, kB | In all, kB | Largest files |',
    '|---|---|---|---|---|',
    ...rows,
    `| all | ${total(share => share.atOnce)} | ${total(share => share.untilConnected)} | ${total(share => share.bytes)} | |`,
  ].join('\n')
}

/** `packages/client/src/chat/connection.ts` counts as `client/chat`, a dependency as its package. */
function folderOf(path: string): string {
  const dependency = /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1]
  const own = /^packages\/([^/]+)\/src\/(?:([^/]+)\/)?/.exec(path)
  return dependency ?? (own ? join(own[1] ?? '', own[2] ?? '').replaceAll('\\', '/') : 'the page')
}
