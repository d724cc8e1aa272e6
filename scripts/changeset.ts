// Runs changesets, installed when they are missing: `npm run changeset` describes a change, `npm run changeset -- version` raises the
// versions and writes the change logs. The tarballs of `npm run pack` are what is published.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ensureFolder, ownTool, ROOT, run } from './tools.ts'

process.exitCode = (await run(ownTool('changeset', ensureFolder('tools')), process.argv.slice(2))).code
if (process.argv[2] === 'version') nameVersionInTemplates()

/** Raises the versions that the templates name. They are outside the workspaces, which changesets raise. */
function nameVersionInTemplates(): void {
  const folder = join(ROOT, 'verify', 'frameworks', 'templates')
  const manifest = readFileSync(join(ROOT, 'packages', 'client', 'package.json'), 'utf8')
  const { version } = JSON.parse(manifest) as { version: string }
  for (const name of readdirSync(folder)) {
    const path = join(folder, name, 'package.json')
    writeFileSync(path, readFileSync(path, 'utf8').replaceAll(/("@aiagent\/\w+": "\^)[^"]+/g, `$1${version}`))
  }
}
