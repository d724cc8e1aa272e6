// Checks types: the whole tree as Node sees it, then all that must also run in a page without Node's types, so that no global of
// Node slips into it, and the protocol without those of a page too.

import { join } from 'node:path'
import { writeListings } from '../docs/listings.ts'
import { readCommandLine } from './command-line.ts'
import { ownTool, ROOT, runTogether } from './tools.ts'

const PROJECTS = ['tsconfig.json', 'packages/protocol/tsconfig.json', 'tsconfig.pages.json']

readCommandLine({ name: 'types', about: 'Checks the types of the whole tree, and of what runs in pages.', options: {} })

// The code in the documents is compiled with the tree.
writeListings(ROOT, join(ROOT, '.cache', 'listings'))

const cache = join(ROOT, 'node_modules', '.cache', 'types')
const commands = PROJECTS.map(project => ({
  name: project,
  command: ownTool('tsc'),
  args: [
    '-p',
    project,
    '--incremental',
    '--tsBuildInfoFile',
    join(cache, `${project.replaceAll('/', '-')}.tsbuildinfo`),
  ],
}))
process.exitCode = (await runTogether(commands)) ? 0 : 1
