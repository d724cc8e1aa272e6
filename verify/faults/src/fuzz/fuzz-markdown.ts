import { renderMarkdown } from '../../../../packages/cli/src/markdown.ts'
import { Random } from '../schedule/random.ts'
import { type FuzzResult, heapUsed } from './fuzz-result.ts'

/** Parts of Markdown that make a lexer look far ahead or back, beside usual text. */
const PARTS = [
  ...[
    '*',
    '_',
    '**',
    '*a_',
    '~',
    '~~',
    '[',
    ']',
    '(',
    ')',
    '![',
    '](',
    '[a](',
    '[a][',
    '](b "',
    '"',
    "'",
    '`',
    '``',
    '```',
  ],
  ...[
    '<',
    '>',
    '<a ',
    '<a b="',
    '<!--',
    '-->',
    '<?',
    '<![CDATA[',
    '</b',
    '<div>',
    '&',
    '&amp;',
    '&#x',
    '\\',
    '\\*',
    '|',
    '|-|',
  ],
  ...[
    '\n',
    '\n\n',
    '\n> ',
    '\n>> ',
    '\n- ',
    '\n  - ',
    '\n    - ',
    '\n\t',
    '\n1. ',
    '\n* ',
    '\n# ',
    '\n---\n',
    '\n===\n',
    '\n```\n',
  ],
  ...[
    '\n|a|b|\n|-|-|\n',
    '\n|',
    '\n[a]: ',
    '\n[a]: b "',
    '- [ ] ',
    '  \n',
    '\n \n',
    '\n    ',
    '> ',
    '- ',
    '1. ',
    'a',
    'word ',
    ' ',
  ],
  ...[
    '    ',
    'é',
    '😀',
    '.',
    ':',
    '-',
    '=',
    'https://a.b/',
    'www.',
    'a@b.c',
    'a@',
    'mailto:',
    'e\u0301',
    '\u00a0',
    '\t',
    '0',
  ],
]
const SMALL = 16 * 1024
/** 128 kB may cost eight times as much as 16 kB. */
const TIMES = 8
/** Processor time that counts as nothing, in milliseconds: what the process takes for other things. */
const NOISE_MS = 150
/** Measurements of a text that seems to take too long, before it counts as a problem. */
const TRIES = 6

const same = (text: string) => text
const STYLE = { bold: same, dim: same, italic: same, code: same }

/** Renders texts of 16 kB and of 128 kB, and short ones, of generated kinds, and compares their processor times. */
export async function fuzzMarkdown(seed: number, kinds: number): Promise<FuzzResult> {
  const problems: string[] = []
  let start = 0
  for (let index = 0; index < kinds; index++) {
    if (index === Math.ceil(kinds / 10)) start = heapUsed()
    const fill = createKind(new Random(seed + index))
    const short = new Random(seed + index).integer(100, SMALL)
    let isSlow = true
    let figures = ''
    for (let tries = 0; isSlow && tries < TRIES; tries++) {
      const [few = 0, some = 0, many = 0] = [short, SMALL, TIMES * SMALL].map(length => timeOf(fill(length)))
      isSlow = few > NOISE_MS || some > NOISE_MS || many > NOISE_MS + TIMES * some
      figures = `${few.toFixed()}, ${some.toFixed()} and ${many.toFixed()} ms for ${short}, ${SMALL} and ${TIMES * SMALL} characters`
    }
    if (isSlow) problems.push(`seed ${seed + index}: ${JSON.stringify(fill(60))} takes ${figures}`)
    // Lets the process answer.
    if (index % 20 === 0) await new Promise(resolve => setImmediate(resolve))
  }
  return { inputs: 3 * kinds, agents: 0, problems, heapGrowth: heapUsed() - start }
}

function timeOf(text: string): number {
  const start = process.cpuUsage()
  renderMarkdown(text, STYLE)
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1000
}

/** A generated kind of text, which fills any length. */
function createKind(random: Random): (length: number) => string {
  const unit = () => Array.from({ length: random.integer(1, 4) }, () => random.pick(PARTS)).join('')
  const [first, second, before, after] = [unit(), unit(), random.pick(PARTS), random.pick(PARTS)]
  const paragraph = random.integer(10, 5000)
  const depth = random.integer(1, 30)
  switch (random.integer(0, 4)) {
    case 0:
      return length => before + repeat(first, length) + after
    case 1:
      return length => repeat(first, length / 2) + repeat(second, length / 2)
    case 2:
      return length => repeat(`${before}${repeat(first, paragraph)}\n\n`, length)
    case 3:
      return length =>
        repeat(
          steps(depth, at => before.repeat(at) + after),
          length,
        )
    default:
      return length =>
        repeat(
          steps(depth, at => before.repeat(depth - at) + after),
          length,
        )
  }
}

const repeat = (text: string, length: number) => text.repeat(Math.ceil(length / text.length)).slice(0, length)

const steps = (count: number, line: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => `${line(at)}\n`).join('')
