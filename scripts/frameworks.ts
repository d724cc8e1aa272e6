// Tests the bindings against the real libraries: `npm run frameworks`. What only these tests need is installed here, so that the
// first `npm install` stays small.
import { join } from 'node:path'
import { readCommandLine } from './command-line.ts'
import { ensureFolder, ownTool, ROOT, run } from './tools.ts'

const FOLDER = join(ROOT, 'frameworks')

readCommandLine(
  {
    name: 'frameworks',
    about: 'Tests the bindings against the real libraries, which it installs into the folder frameworks.',
    options: {},
  },
  () => {},
)
for (const folder of ['.', 'react-18', 'ioredis-6', 'examples/vue', 'examples/webchat'])
  ensureFolder(join(FOLDER, folder))
const types = await run(ownTool('tsc'), ['-p', 'frameworks'])
process.exitCode = types.code || (await run(ownTool('vitest'), ['run', '--config', 'frameworks/vitest.config.ts'])).code
