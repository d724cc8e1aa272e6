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
const tsc = ownTool('tsc', ensureFolder('tools'))
const types = await run(tsc, ['-p', 'verify/frameworks'])
// The listing of the guide, with the other version of the AI SDK.
const older = await run(tsc, ['-p', 'verify/frameworks/tsconfig.ai-6.json'])
process.exitCode =
  types.code ||
  older.code ||
  (await run(ownTool('vitest'), ['run', '--config', 'verify/frameworks/vitest.config.ts'])).code
