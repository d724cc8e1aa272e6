// Lints: biome for each file by itself, dependency-cruiser for who imports whom.
import { runTogether, verifyTool } from './tools.ts'

const folders = ['packages', 'conformance', 'examples', 'bench', 'docs', 'scripts']
const commands = [
  { name: 'biome', command: verifyTool('biome'), args: ['lint', '--error-on-warnings', '.'] },
  {
    name: 'import directions',
    command: verifyTool('depcruise'),
    args: ['--config', '.dependency-cruiser.cjs', '--output-type', 'err-long', ...folders],
  },
]
process.exitCode = (await runTogether(commands)) ? 0 : 1
