// Documents: `npm run docs` writes the copies of code and output into them, builds the site, and serves it on this machine.
// `npm run docs -- --check` changes nothing and fails where a copy or a link is wrong; `npm run docs -- --copies` writes and ends.
import { join } from 'node:path'
import { readCommandLine } from './command-line.ts'
import { buildSite, serveSite } from './site.ts'
import { ownTool, run } from './tools.ts'

const { check, copies } = readCommandLine(
  {
    name: 'docs',
    about: 'Writes the copies of code and output into the documents, builds the site, and serves it on this machine.',
    options: {
      check: { type: 'boolean', help: 'changes nothing, and fails where a copy or a link is wrong' },
      copies: { type: 'boolean', help: 'writes the copies and ends' },
    },
  },
  ({ values }) => values,
)

const { code } = await run(ownTool('tsx'), [
  '--conditions=@aiagent/source',
  join('docs', 'sync-snippets.ts'),
  ...(check ? ['--check'] : []),
])
process.exitCode = code
if (code === 0 && !check && !copies) {
  process.exitCode = await buildSite()
  if (process.exitCode === 0) await serveSite()
}
