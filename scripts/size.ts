// Compares the built client with its budgets, minified and compressed.
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ROOT, run, verifyTool } from './tools.ts'

if (!existsSync(join(ROOT, 'packages', 'client', 'dist')))
  throw new Error('The client is not built. Run `npm run build`.')
const sizeLimit = verifyTool('size-limit')
// The tool looks for its plugins and budgets (.size-limit.json) in the folder it runs in.
process.exitCode = (await run(sizeLimit, [], { cwd: join(dirname(sizeLimit), '..', '..') })).code
