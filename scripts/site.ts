// Builds and checks the site of the documents: `npm run site`. What only the site needs is installed in its folder, so that the first
// `npm install` stays small.

import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readCommandLine } from './command-line.ts'
import { ensureFolder, ownTool, ROOT, run } from './tools.ts'

const FOLDER = join(ROOT, 'site')

/** Builds the site into `site/dist`, checks its links and the docstrings of the API, and returns the exit code. */
export async function buildSite(): Promise<number> {
  ensureFolder('site')
  const types = await run(ownTool('tsc', ensureFolder('tools')), ['-p', 'site'])
  return types.code || (await run(ownTool('tsx'), [join('site', 'build.ts')])).code
}

/** Serves the built site on this machine, until Ctrl-C. */
export async function serveSite(): Promise<void> {
  await run(join(FOLDER, 'node_modules', '.bin', 'vitepress'), [
    'preview',
    'site',
    '--host',
    '127.0.0.1',
    '--port',
    '4173',
  ])
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  readCommandLine({
    name: 'site',
    about: 'Builds and checks the site of the documents, into `site/dist`.',
    options: {},
  })
  process.exitCode = await buildSite()
}
