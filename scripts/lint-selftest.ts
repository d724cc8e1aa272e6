// Proves that the lint rules bite: in a copy of the sources, each of these changes must make one of them fail with the
// named rule.

import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { readCommandLine } from './command-line.ts'
import { describeFinding, languageFindings } from './language/language.ts'
import { ROOT, run, verifyTool } from './tools.ts'

interface Offence {
  /** What is done wrong, for the report. */
  what: string
  /** The file that gets the lines, made when it is not there. */
  file: string
  lines: string
  /** What the linter must name. */
  rule: string
}

const OFFENCES: readonly Offence[] = [
  {
    what: 'a room imports a room above it',
    file: 'packages/client/src/chat/offence.ts',
    lines: `import '../conversation/offence-target.ts'`,
    rule: 'client-room-chat',
  },
  {
    what: 'a room imports the type of a room on its own level',
    file: 'packages/client/src/auth/offence.ts',
    lines: `import type { Masking } from '../masking/masking.ts'\nexport type Own = Masking`,
    rule: 'client-room-auth',
  },
  {
    what: 'a part imports what builds the agent',
    file: 'packages/client/src/rest/offence.ts',
    lines: `import '../agent/parts.ts'`,
    rule: 'client-room-rest',
  },
  {
    what: 'the platform imports a part',
    file: 'packages/client/src/platform/offence.ts',
    lines: `import '../conversation/offence-target.ts'`,
    rule: 'client-room-storageplatform',
  },
  {
    what: 'the client imports the emulator',
    file: 'packages/client/src/offence.ts',
    lines: `import '@aiagent/emulator'`,
    rule: 'client-knows-only-the-protocol',
  },
  {
    what: 'two files import each other',
    file: 'packages/protocol/src/offence.ts',
    lines: `import { second } from './offence-second.ts'\nexport const first = () => second`,
    rule: 'no-circle',
  },
  {
    what: 'the core of the emulator imports a module of Node',
    file: 'packages/emulator/src/offence.ts',
    lines: `import 'node:fs'`,
    rule: 'node-only-where-node-is',
  },
  {
    what: 'the core of the emulator imports its Node half',
    file: 'packages/emulator/src/offence-second.ts',
    lines: `import './node/index.ts'`,
    rule: 'emulator-core-is-below-node',
  },
  {
    what: 'the client reads a global',
    file: 'packages/client/src/chat/offence-global.ts',
    lines: `export const later = (callback: () => void): void => void setTimeout(callback, 1)`,
    rule: 'lint/style/noRestrictedGlobals',
  },
  {
    what: 'the client reads the time',
    file: 'packages/client/src/chat/offence-time.ts',
    lines: `export const now = (): number => Date.now()`,
    rule: 'Time and chance come from Environment',
  },
  {
    what: 'a promise is left alone',
    file: 'packages/client/src/chat/offence-promise.ts',
    lines: `const work = async (): Promise<void> => {}\nexport const start = (): void => {\n  work()\n}`,
    rule: 'lint/nursery/noFloatingPromises',
  },
  {
    what: 'a value of any type',
    file: 'packages/client/src/chat/offence-any.ts',
    lines: `export const value = (input: any): unknown => input`,
    rule: 'lint/suspicious/noExplicitAny',
  },
  {
    what: 'a value that is only claimed to exist',
    file: 'packages/client/src/chat/offence-non-null.ts',
    lines: `export const first = (list: string[]): string => list[0]!`,
    rule: 'lint/style/noNonNullAssertion',
  },
  {
    what: 'a refused phrase in a comment',
    file: 'packages/client/src/chat/offence-comment.ts',
    lines: '/**\n * It starts\n * anew.\n */\nexport const one = 1', // language: quoted
    rule: '"anew"', // language: quoted
  },
  {
    what: 'a refused phrase in a test title',
    file: 'packages/client/src/chat/offence-title.test.ts',
    lines: "it('counts an answer that is no list', () => {})", // language: quoted
    rule: '"is no <noun>"',
  },
  {
    what: 'a refused phrase in a document',
    file: 'packages/client/OFFENCE.md',
    lines: 'The host is told of it.', // language: quoted
    rule: '"told of"', // language: quoted
  },
]

/** Files that the offences need beside them. */
const TARGETS: Readonly<Record<string, string>> = {
  'packages/client/src/conversation/offence-target.ts': 'export interface Target {\n  name: string\n}\n',
  'packages/protocol/src/offence-second.ts': `import { first } from './offence.ts'\nexport const second = () => first\n`,
  // Where these are not there yet.
  'packages/emulator/src/node/index.ts': '',
  'packages/emulator/src/index.ts': '',
}

readCommandLine({ name: 'lint:selftest', about: 'Proves that each lint rule fails for what it forbids.', options: {} })

const copy = mkdtempSync(join(tmpdir(), 'aiagent-lint-'))
try {
  makeCopy()
  for (const [file, text] of Object.entries(TARGETS)) append(file, text)
  for (const { file, lines } of OFFENCES) append(file, `${lines}\n`)
  const output = await lintCopy()
  const unnoticed = OFFENCES.filter(({ file, rule }) => !isReported(output, file, rule))
  for (const { what, rule } of unnoticed) console.error(`Not noticed: ${what} (${rule}).`)
  if (unnoticed.length > 0) console.error(output)
  else console.log(`The linters noticed all ${OFFENCES.length} offences.`)
  process.exitCode = unnoticed.length > 0 ? 1 : 0
} finally {
  rmSync(copy, { recursive: true, force: true })
}

function makeCopy(): void {
  const skipped = /(?:^|[\\/])(?:node_modules|dist|[.]git)$/
  for (const name of ['packages', 'tools/lint', 'biome.json', '.dependency-cruiser.cjs', '.gitignore', 'package.json'])
    cpSync(join(ROOT, name), join(copy, name), { recursive: true, filter: source => !skipped.test(source) })
  mkdirSync(join(copy, 'node_modules', '@aiagent'), { recursive: true })
  for (const name of readdirSync(join(ROOT, 'node_modules')).filter(name => name !== '@aiagent'))
    symlinkSync(join(ROOT, 'node_modules', name), join(copy, 'node_modules', name), 'junction')
  for (const name of ['client', 'emulator', 'protocol'])
    symlinkSync(join(copy, 'packages', name), join(copy, 'node_modules', '@aiagent', name), 'junction')
}

function append(file: string, text: string): void {
  mkdirSync(dirname(join(copy, file)), { recursive: true })
  appendFileSync(join(copy, file), text)
}

async function lintCopy(): Promise<string> {
  // The version control settings would look for a repository around the copy.
  const settings = readFileSync(join(copy, 'biome.json'), 'utf8').replace('"enabled": true', '"enabled": false')
  writeFileSync(join(copy, 'biome.json'), settings)
  const options = { cwd: copy, capture: true }
  const biome = await run(verifyTool('biome'), ['lint', '--max-diagnostics=none', '--reporter=concise', '.'], options)
  const directions = await run(verifyTool('depcruise'), ['--config', '.dependency-cruiser.cjs', 'packages'], options)
  return [biome.output, directions.output, ...languageFindings(copy).map(describeFinding)].join('\n')
}

/** A circle may be reported under the other file, whose name has the same beginning. */
function isReported(output: string, file: string, rule: string): boolean {
  const beginning = file.replace(/[.][a-z]+$/, '')
  return output.split('\n').some(line => line.includes(beginning) && line.includes(rule))
}
