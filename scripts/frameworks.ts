// Tests the bindings against the real libraries: `npm run frameworks`. What only these tests need is installed here, so that the
// first `npm install` stays small.
import { readCommandLine } from './command-line.ts'
import { ensureFolder, ownTool, run } from './tools.ts'

readCommandLine(
  {
    name: 'frameworks',
    about: 'Tests the bindings against the real libraries, which it installs into the folder frameworks.',
    options: {},
  },
  () => {},
)
ensureFolder('frameworks')
const types = await run(ownTool('tsc'), ['-p', 'frameworks'])
process.exitCode = types.code || (await run(ownTool('vitest'), ['run', '--config', 'frameworks/vitest.config.ts'])).code
