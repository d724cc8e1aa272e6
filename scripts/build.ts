// Builds every package that has a tsdown.config.mjs, or those named: `npm run build -- client`.
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CALLBACK_PAGE } from '../packages/client/src/auth/login/callback-page.ts'
import { readCommandLine, UsageError } from './command-line.ts'
import { ownTool, ROOT, run, runTogether } from './tools.ts'

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

const tsdown = ownTool('tsdown')
const commands = folders
  .filter(name => named.length === 0 || named.includes(name) || (name === FIRST && named.includes('client')))
  .map(name => ({ name, command: tsdown, args: ['--no-clean'], cwd: join(ROOT, 'packages', name) }))
for (const { cwd } of commands) rmSync(join(cwd, 'dist'), { recursive: true, force: true })
const first = commands.filter(({ name }) => name === FIRST)
const passed = (await runTogether(first)) && (await runTogether(commands.filter(each => !first.includes(each))))
// The page that logins return to, as a file that hosts can copy to where they serve static ones.
if (passed && commands.some(({ name }) => name === 'client'))
  writeFileSync(join(ROOT, 'packages', 'client', 'dist', 'callback.html'), CALLBACK_PAGE)
// The playground is packed with the command, so that it needs no bundler where it is installed.
const folder = join(ROOT, 'packages', 'cli', 'dist', 'playground')
const vite = ['build', 'apps/playground', '--outDir', folder, '--logLevel', 'error']
const playground =
  passed && commands.some(({ name }) => name === 'cli') ? await run(ownTool('vite'), vite) : { code: 0 }
if (passed) console.log(`Built ${commands.map(({ name }) => name).join(', ')}.`)
process.exitCode = passed && playground.code === 0 ? 0 : 1
