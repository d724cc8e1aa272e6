import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { BUNDLERS } from '../../../scripts/page-bundles.ts'
import { ROOT } from '../../../scripts/tools.ts'

/** A page's script, in the files that a bundler makes of it. */
export interface PageBundle {
  /** The files that are loaded at once: `page.js`, and what it imports. */
  readonly own: readonly string[]
  /** Code by path, such as `/page.js`. */
  readonly scripts: Readonly<Record<string, string>>
}

/** Bundles a page with the built packages, as a host does. Relative imports of its script start from this folder. */
export async function bundlePage(script: string): Promise<PageBundle> {
  const cache = join(ROOT, '.cache')
  await mkdir(cache, { recursive: true })
  // Below the root, so that the packages resolve.
  const folder = await mkdtemp(join(cache, 'page-'))
  try {
    const contents = script.replaceAll("from './", `from '${new URL('./', import.meta.url).pathname}`)
    await writeFile(join(folder, 'page.mjs'), contents)
    const { files, atOnce } = await BUNDLERS.esbuild({ folder, base: '/', minify: true })
    return { own: atOnce, scripts: Object.fromEntries(Object.entries(files).map(([name, code]) => [`/${name}`, code])) }
  } finally {
    await rm(folder, { recursive: true })
  }
}
