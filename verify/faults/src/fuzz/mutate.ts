import type { Random } from '../schedule/random.ts'

/** Values that programs like to trip over. */
const ODD_VALUES: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1e308,
  0.1,
  Number.MAX_SAFE_INTEGER,
  '',
  ' ',
  'null',
  'undefined',
  '__proto__',
  '\u0000',
  '\ud800',
  '\u202e',
  '<script>',
  '../../etc',
  'https://x.test:99999/',
  'wss://',
  '9'.repeat(400),
  [],
  {},
  [[]],
  [null],
  { length: -1 },
]

const ODD_NAMES = [
  '__proto__',
  'constructor',
  'toString',
  '',
  'then',
  'toJSON',
  'messageId',
  'content',
  'seq',
  'length',
]

/** Longest text that a mutation adds, in characters. */
const LONG_TEXT = 20_000

/** Deepest nesting that a mutation adds. */
const DEEP = 2_000

/** Text of a valid JSON value after a few seeded changes; sometimes text that is not JSON at all. */
export function mutatedText(valid: unknown, random: Random): string {
  const kind = random.integer(0, 19)
  if (kind === 0) return garbage(random)
  if (kind === 1) return nested(random)
  if (kind === 2) return JSON.stringify(anyJson(random, 0)) ?? ''
  let value = structuredClone(valid)
  for (let left = random.integer(1, 4); left > 0; left--) value = mutate(value, random)
  const text = JSON.stringify(value) ?? ''
  if (kind === 3) return text.slice(0, random.integer(0, text.length))
  if (kind === 4) return text + random.pick([',', '}', '\u0000', text, '\n\n', 'x'])
  return text
}

/** Changes one place of a value. */
function mutate(value: unknown, random: Random): unknown {
  if (typeof value === 'object' && value !== null && random.chance(0.75)) {
    return Array.isArray(value) ? mutateList(value, random) : mutateRecord(value as Record<string, unknown>, random)
  }
  if (random.chance(0.5)) return random.pick(ODD_VALUES)
  if (typeof value === 'string') return mutateString(value, random)
  if (typeof value === 'number') return value * random.pick([-1, 0, 1e9, 1e300, 0.5])
  return anyJson(random, 2)
}

function mutateList(list: readonly unknown[], random: Random): unknown[] {
  const at = random.integer(0, Math.max(0, list.length - 1))
  switch (random.integer(0, 3)) {
    case 0:
      return list.filter((_, index) => index !== at)
    case 1:
      return [...list, ...list]
    case 2:
      return [...list.slice(0, at), random.pick(ODD_VALUES), ...list.slice(at)]
    default:
      return list.map((item, index) => (index === at ? mutate(item, random) : item))
  }
}

function mutateRecord(record: Record<string, unknown>, random: Random): Record<string, unknown> {
  const names = Object.keys(record)
  const name = names.length > 0 ? random.pick(names) : ''
  switch (random.integer(0, 4)) {
    case 0:
      return Object.fromEntries(Object.entries(record).filter(([each]) => each !== name))
    case 1:
      return Object.fromEntries([...Object.entries(record), [random.pick(ODD_NAMES), anyJson(random, 1)]])
    default:
      return Object.fromEntries(
        Object.entries(record).map(([each, value]) => [each, each === name ? mutate(value, random) : value]),
      )
  }
}

function mutateString(text: string, random: Random): string {
  const at = random.integer(0, text.length)
  switch (random.integer(0, 3)) {
    case 0:
      return text.slice(0, at)
    case 1:
      return text.slice(0, at) + random.pick(['\u0000', '\ud83d', '\\', '"', '\n', '$&', '%s']) + text.slice(at)
    case 2:
      return text.repeat(random.integer(0, Math.ceil(LONG_TEXT / (text.length + 1))))
    default:
      return text.toUpperCase()
  }
}

function anyJson(random: Random, depth: number): unknown {
  const kind = random.integer(0, depth > 3 ? 2 : 5)
  if (kind <= 1) return random.pick(ODD_VALUES)
  if (kind === 2) return random.uuid()
  const count = random.integer(0, 4)
  if (kind === 3) return Array.from({ length: count }, () => anyJson(random, depth + 1))
  return Object.fromEntries(
    Array.from({ length: count }, () => [
      random.pick([...ODD_NAMES, 'role', 'persona', 'x']),
      anyJson(random, depth + 1),
    ]),
  )
}

function garbage(random: Random): string {
  return String.fromCharCode(...Array.from({ length: random.integer(0, 60) }, () => random.integer(0, 0xffff)))
}

function nested(random: Random): string {
  const [open, close] = random.pick([
    ['[', ']'],
    ['{"a":', '}'],
    ['{"persona":"agent","role":"r","messageData":', '}'],
  ] as const)
  const depth = random.integer(1, DEEP)
  return `${open.repeat(depth)}1${close.repeat(depth)}`
}
