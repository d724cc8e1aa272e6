// Checks types: the whole tree as Node sees it, then all that must also run in a page without Node's types, so that no global of
// Node slips into it, and the protocol without those of a page too.

import { join } from 'node:path'
import { writeListings } from '../docs/listings.ts'
import { readCommandLine } from './command-line.ts'
import { ensureFolder, ownTool, ROOT, runTogether } from './tools.ts'

const PROJECTS = ['tsconfig.json', 'packages/protocol/tsconfig.json', 'tsconfig.pages.json']

readCommandLine({ name: 'types', about: 'Checks the types of the whole tree, and of what runs in pages.', options: {} })

// The code in the documents is compiled with the tree.
writeListings(ROOT, join(ROOT, '.cache', 'listings'))

// Hosts have the compiler of the root; this one says the same in a quarter of the time.
const tsc = ownTool('tsc', ensureFolder('tools'))
const commands = PROJECTS.map(project => ({ name: project, command: tsc, args: ['-p', project] }))
process.exitCode = (await runTogether(commands)) ? 0 : 1
