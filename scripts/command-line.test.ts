import { spawn } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { describeCommand, parseCommandLine, wholeNumber } from './command-line.ts'
import { ROOT } from './tools.ts'

const COMMAND = {
  name: 'demo',
  about: 'Does something.',
  words: { name: 'AREA', help: 'areas' },
  options: {
    runs: { type: 'string', default: '20', help: 'runs' },
    write: { type: 'string', value: 'FILE', help: 'writes the table' },
    only: { type: 'string', multiple: true, value: 'NAME', help: 'only this' },
    quick: { type: 'boolean', help: 'less often' },
  },
} as const

/** Runs a command of package.json as `npm run` does, without npm. */
function runScript(file: string, ...args: string[]): Promise<{ code: number | null; out: string; err: string }> {
  const child = spawn(process.execPath, ['--conditions=@aiagent/source', '--import', 'tsx', file, ...args], {
    cwd: ROOT,
  })
  let [out, err] = ['', '']
  child.stdout.on('data', chunk => (out += chunk))
  child.stderr.on('data', chunk => (err += chunk))
  return new Promise(resolve => child.on('close', code => resolve({ code, out, err })))
}

describe('the command line of a command', () => {
  it('has defaults, lists and words', () => {
    expect(parseCommandLine(COMMAND, [])).toEqual({
      values: { runs: '20', write: undefined, only: [], quick: false },
      words: [],
    })
    const { values, words } = parseCommandLine(COMMAND, ['a', '--runs=3', '--only', 'x', '--only', 'y', '--quick', 'b'])
    expect(values).toEqual({ runs: '3', write: undefined, only: ['x', 'y'], quick: true })
    expect(words).toEqual(['a', 'b'])
  })

  it.each([
    [['--runz', '3'], "Unknown option '--runz'. The options are: --runs, --write, --only, --quick, --help."],
    [['--runs'], "Option '--runs <value>' argument missing."],
    [['--quick=yes'], "Option '--quick' does not take an argument."],
  ])('refuses %j in one line', (args, message) => {
    expect(() => parseCommandLine(COMMAND, args)).toThrow(expect.objectContaining({ name: 'UsageError', message }))
  })

  it('refuses a word where none is expected', () => {
    const { words: _, ...command } = COMMAND
    expect(() => parseCommandLine(command, ['a'])).toThrow('Unexpected argument "a".')
  })

  it('takes whole numbers from the least one up', () => {
    expect(wholeNumber('runs', '12')).toBe(12)
    for (const text of ['-1', '1.5', 'many', '', '1e3', '9007199254740993'])
      expect(() => wholeNumber('runs', text)).toThrow(`--runs must be a whole number, not "${text}".`)
    expect(() => wholeNumber('agents', '0', 1)).toThrow('--agents must be a whole number from 1 up, not "0".')
  })

  it('lists every option with its default', () => {
    expect(describeCommand(COMMAND)).toBe(`Does something.

npm run demo -- [AREA …] [options]

  AREA          areas
  --runs N      runs. Default: 20
  --write FILE  writes the table
  --only NAME   only this, repeatable
  --quick       less often
  --help        prints this`)
  })

  it('prints the options for --help, and one line with code 2 for an unknown option', async () => {
    const [help, refused] = await Promise.all([
      runScript('faults/src/run.ts', '--help'),
      runScript('faults/src/run.ts', '--sed', '3'),
    ])
    expect(help).toMatchObject({ code: 0, err: '' })
    expect(help.out).toMatch(/--max-seconds N +starts no further run/)
    expect(refused).toMatchObject({ code: 2, out: '' })
    expect(refused.err).toMatch(
      /^Unknown option '--sed'\. The options are: .*--seed.*\. See npm run faults -- --help\.\n$/,
    )
  }, 30_000)

  it.each([
    ['size', '--write'],
    ['breadth', '--list'],
    ['api', '--check'],
    ['build', '--help'],
    ['frameworks', '--help'],
    ['pictures', '--help'],
    ['element-pictures', '--help'],
    ['types', '--help'],
    ['packages', '--help'],
    ['site', '--help'],
    ['lint', '--language'],
    ['lint:selftest', '--help'],
    ['examples', '--help', 'examples/run-all.ts'],
  ])(
    'refuses an unknown option of %s, and names those that there are',
    async (name, known, file = `scripts/${name.replace(':', '-')}.ts`) => {
      const { code, out, err } = await runScript(file, '--nonsense')
      expect({ code, out }).toEqual({ code: 2, out: '' })
      expect(err).toContain("Unknown option '--nonsense'. The options are: ")
      expect(err).toContain(known)
      expect(err).toContain(`See npm run ${name} -- --help.`)
    },
    30_000,
  )

  it('refuses to build a package that does not exist', async () => {
    const { code, out, err } = await runScript('scripts/build.ts', 'cliemt')
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toBe('There is no package "cliemt" to build. See npm run build -- --help.\n')
  }, 30_000)
})
