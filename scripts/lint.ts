// Lints: biome for each file, dependency-cruiser for the import directions, the language of comments, messages and
// documents, and the workflows of the hosted CI. `npm run lint -- --language packages/cli` prints the refused phrases below a folder.
import { readCommandLine, UsageError } from './command-line.ts'
import { describeFinding, languageFindings } from './language/language.ts'
import { ownTool, ROOT, runTogether } from './tools.ts'
import { workflowProblems } from './workflows.ts'

const { language, under } = readCommandLine(
  {
    name: 'lint',
    about: 'Lints each file, the import directions, and the language of comments, messages and documents.',
    options: { language: { type: 'boolean', help: 'prints the refused phrases instead, below the given paths' } },
    words: { name: 'PATH', help: 'with --language: a file or folder' },
  },
  ({ values, words }) => {
    const [word] = words
    if (word !== undefined && !values.language) throw new UsageError(`Unexpected argument "${word}".`)
    return { language: values.language, under: words }
  },
)
if (language) printFindings()
else await lint()

async function lint(): Promise<void> {
  const folders = ['packages', 'apps', 'verify', 'examples', 'docs', 'scripts']
  const passed = await runTogether([
    { name: 'biome', command: ownTool('biome'), args: ['lint', '--error-on-warnings', '.'] },
    {
      name: 'import directions',
      command: ownTool('depcruise'),
      args: ['--config', '.dependency-cruiser.cjs', '--output-type', 'err-long', ...folders],
    },
  ])
  const problems = {
    language: languageFindings().map(describeFinding),
    workflows: workflowProblems(ROOT),
  }
  const failed = Object.entries(problems).filter(([, found]) => found.length > 0)
  for (const [name, found] of failed) console.error(`${name} failed:\n${found.join('\n')}`)
  process.exitCode = passed && failed.length === 0 ? 0 : 1
}

function printFindings(): void {
  const findings = languageFindings(under)
  for (const finding of findings) console.log(describeFinding(finding))
  const files = new Set(findings.map(({ file }) => file)).size
  console.log(findings.length === 0 ? 'No refused phrases.' : `${findings.length} refused phrases in ${files} files.`)
  process.exitCode = findings.length === 0 ? 0 : 1
}
