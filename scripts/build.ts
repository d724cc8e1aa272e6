// Builds every package that has a tsdown.config.mjs, or those named: `npm run build -- client`.
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'tsdown'
import { CALLBACK_PAGE } from '../packages/client/src/auth/login/callback-page.ts'
import { readCommandLine, UsageError } from './command-line.ts'
import { ownTool, ROOT, run } from './tools.ts'

/** Built before the others: the declarations of the client contain it. */
const FIRST = 'protocol'

const folders = readdirSync(join(ROOT, 'packages')).filter(name =>
  existsSync(join(ROOT, 'packages', name, 'tsdown.config.mjs')),
)
const named = readCommandLine(
  {
    name: 'build',
    about: 'Builds the packages into their folders dist.',
    words: { name: 'PACKAGE', help: `packages, all by default: ${folders.join(', ')}` },
    options: {},
  },
  ({ words }) => {
    const unknown = words.find(name => !folders.includes(name))
    if (unknown !== undefined) throw new UsageError(`There is no package "${unknown}" to build.`)
    return words
  },
)

// In one process: the bundler and the compiler of declarations are loaded once.
const names = folders.filter(
  name => named.length === 0 || named.includes(name) || (name === FIRST && named.includes('client')),
)
for (const name of names) rmSync(join(ROOT, 'packages', name, 'dist'), { recursive: true, force: true })
for (const name of names.toSorted((one, other) => Number(other === FIRST) - Number(one === FIRST)))
  await build({ cwd: join(ROOT, 'packages', name), clean: false, logLevel: 'error' })
// The page that logins return to, as a file that hosts can copy to where they serve static ones.
if (names.includes('client')) writeFileSync(join(ROOT, 'packages', 'client', 'dist', 'callback.html'), CALLBACK_PAGE)
// The playground is packed with the command, so that it needs no bundler where it is installed.
const folder = join(ROOT, 'packages', 'cli', 'dist', 'playground')
const vite = ['build', 'apps/playground', '--outDir', folder, '--logLevel', 'error']
const playground = names.includes('cli') ? await run(ownTool('vite'), vite) : { code: 0 }
console.log(`Built ${names.join(', ')}.`)
process.exitCode = playground.code
