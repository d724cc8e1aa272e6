// Tests the bindings against the real libraries: `npm run frameworks`. What only these tests need is installed here, so that the
// first `npm install` stays small.
import { readCommandLine } from './command-line.ts'
import { ensureFolder, ownTool, run } from './tools.ts'

readCommandLine(
  {
    name: 'frameworks',
    about: 'Tests the bindings against the real libraries, which it installs into verify/frameworks.',
    options: {},
  },
  () => {},
)
ensureFolder('verify/frameworks')
const types = await run(ownTool('tsc', ensureFolder('tools')), ['-p', 'verify/frameworks'])
process.exitCode =
  types.code || (await run(ownTool('vitest'), ['run', '--config', 'verify/frameworks/vitest.config.ts'])).code
