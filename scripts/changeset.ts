// Runs changesets, installed when they are missing: `npm run changeset` describes a change, `npm run changeset -- version` raises the
// versions and writes the change logs. The tarballs of `npm run pack` are what is published.
import { join } from 'node:path'
import { ensureTools, ROOT, run } from './tools.ts'

const command = join(ensureTools('changesets'), 'node_modules', '@changesets', 'cli', 'bin.js')
process.exitCode = (await run(process.execPath, [command, ...process.argv.slice(2)], { cwd: ROOT })).code
