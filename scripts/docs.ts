// Documents: `npm run docs` writes the copies of code and output into them, builds the site, and serves it on this machine.
// `npm run docs -- --check` changes nothing and fails where a copy or a link is wrong; `npm run docs -- --copies` writes and ends.
import { join } from 'node:path'
import { buildSite, serveSite } from './site.ts'
import { ownTool, run } from './tools.ts'

const args = process.argv.slice(2)
const unknown = args.find(arg => arg !== '--check' && arg !== '--copies')
if (unknown !== undefined) throw new Error(`Unknown option ${unknown}. Use --check or --copies.`)

const { code } = await run(ownTool('tsx'), [
  '--conditions=@aiagent/source',
  join('docs', 'sync-snippets.ts'),
  ...args.filter(arg => arg === '--check'),
])
process.exitCode = code
if (code === 0 && args.length === 0) {
  process.exitCode = await buildSite()
  if (process.exitCode === 0) await serveSite()
}
