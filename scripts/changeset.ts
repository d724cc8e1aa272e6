// Runs changesets, installed when they are missing: `npm run changeset` describes a change, `npm run changeset -- version` raises the
// versions and writes the change logs. The tarballs of `npm run pack` are what is published.
import { ensureFolder, ownTool, run } from './tools.ts'

process.exitCode = (await run(ownTool('changeset', ensureFolder('tools')), process.argv.slice(2))).code
