import { CommandFailure } from '../failure.ts'

/** What the owner of an agent expects of an answer. */
export type ExpectationKind =
  | 'contains'
  | 'matches'
  | 'source'
  | 'option'
  | 'escalation'
  | 'within'
  | 'masked as'
  | 'never says'
  /** The whole answer, as a quote in the talk. */
  | 'says'

/** One expectation, with its place in the file. */
export interface Expectation {
  readonly kind: ExpectationKind
  readonly value: string
  /** Number of the line, from 1. */
  readonly line: number
}

/** One message of the user, and what the agent is expected to answer. */
export interface Turn {
  readonly user: string
  readonly expectations: readonly Expectation[]
  /** Number of the line of the user's message, from 1. */
  readonly line: number
  /** Lines of the expectations: from the one after `**Agent:**` to the next turn. */
  readonly answerLines: readonly [from: number, to: number]
}

/** A conversation test. */
export interface Talk {
  /** Path of the file, as it was given. */
  readonly file: string
  /** First heading of the file; its path without one. */
  readonly title: string
  /** Id of the agent, where the talk names one. */
  readonly agent?: string
  /** Expectations of every answer. */
  readonly always: readonly Expectation[]
  readonly turns: readonly Turn[]
}

const KINDS: ReadonlySet<string> = new Set<ExpectationKind>([
  'contains',
  'matches',
  'source',
  'option',
  'escalation',
  'within',
  'masked as',
  'never says',
])
const SPEAKER = /^\*\*(User|Agent):\*\*\s*(.*)$/
const ITEM = /^[-*]\s+([a-z ]+):\s*(.*)$/
const SETTING = /^([a-z ]+):\s*(.*)$/

/**
 * Reads a talk from Markdown. Text outside the turns is a description, and ignored.
 *
 * @throws {CommandFailure} naming file and line, when it cannot be understood
 */
export function parseTalk(markdown: string, file: string): Talk {
  const lines = markdown.replace(/^\uFEFF/, '').split(/\r\n?|\n/)
  const fail = (line: number, problem: string): never => {
    throw new CommandFailure(`${file}:${line}: ${problem}`)
  }
  const { settings, next } = readSettings(lines, fail)
  const turns: { user: string[]; expectations: Expectation[]; line: number; from: number; to: number }[] = []
  let title: string | undefined
  let speaker: 'User' | 'Agent' | undefined
  for (let index = next; index < lines.length; index++) {
    const text = lines[index] ?? ''
    const line = index + 1
    title ??= /^#\s+(.+)$/.exec(text)?.[1]
    const [, said, rest = ''] = SPEAKER.exec(text) ?? []
    const turn = turns.at(-1)
    if (said === 'User') {
      if (turn && speaker === 'User') fail(line, 'The agent has no turn before this message of the user.')
      turns.push({ user: [rest], expectations: [], line, from: line + 1, to: line + 1 })
      speaker = 'User'
    } else if (said === 'Agent') {
      if (!turn || speaker === 'Agent') return fail(line, 'The agent answers, but the user has said nothing.')
      if (rest !== '') fail(line, 'Put expectations below **Agent:**, as a list or a quote.')
      Object.assign(turn, { from: line + 1, to: line + 1 })
      speaker = 'Agent'
    } else if (speaker === 'User' && turn) turn.user.push(text)
    else if (speaker === 'Agent' && turn && text.trim() !== '') {
      turn.to = line + 1
      turn.expectations.push(readExpectation(text, line) ?? fail(line, unknown(text)))
    }
  }
  if (turns.length === 0) fail(1, 'The file has no turn. A talk has lines that begin with **User:** and **Agent:**.')
  const agent = settings.find(({ kind }) => kind === 'agent')?.value
  return {
    file,
    title: title ?? file,
    ...(agent !== undefined && { agent }),
    always: settings.flatMap(({ kind, value, line }) => (kind === 'agent' ? [] : [check({ kind, value, line }, fail)])),
    turns: turns.map(({ user, expectations, line, from, to }) => ({
      user: user.join('\n').trim() || fail(line, 'The message of the user is empty.'),
      expectations: joinQuotes(expectations).map(each => check(each, fail)),
      line,
      answerLines: [from, to],
    })),
  }
}

type Fail = (line: number, problem: string) => never

function readSettings(lines: readonly string[], fail: Fail) {
  const settings: { kind: 'agent' | 'within' | 'never says'; value: string; line: number }[] = []
  if (lines[0]?.trim() !== '---') return { settings, next: 0 }
  const end = lines.findIndex((text, index) => index > 0 && text.trim() === '---')
  if (end < 0) fail(1, 'The settings have no end: a line with --- is missing.')
  for (let index = 1; index < end; index++) {
    const [, kind, value = ''] = SETTING.exec(lines[index] ?? '') ?? []
    if (kind !== 'agent' && kind !== 'within' && kind !== 'never says')
      return fail(index + 1, 'The settings of a talk are agent, within and never says.')
    settings.push({ kind, value: value.trim(), line: index + 1 })
  }
  return { settings, next: end + 1 }
}

function readExpectation(text: string, line: number): Expectation | undefined {
  const quote = /^>\s?(.*)$/.exec(text)
  if (quote) return { kind: 'says', value: quote[1] ?? '', line }
  const [, kind = '', value = ''] = ITEM.exec(text.trim()) ?? []
  return KINDS.has(kind) ? { kind: kind as ExpectationKind, value: value.trim(), line } : undefined
}

const unknown = (text: string) =>
  `"${text.trim().slice(0, 40)}" is neither a quote nor one of: ${[...KINDS].map(kind => `- ${kind}: …`).join(', ')}.`

/** Lines of a quote that follow each other are one answer. */
function joinQuotes(expectations: readonly Expectation[]): Expectation[] {
  const joined: Expectation[] = []
  for (const each of expectations) {
    const last = joined.at(-1)
    if (each.kind === 'says' && last?.kind === 'says')
      joined[joined.length - 1] = { ...last, value: `${last.value}\n${each.value}` }
    else joined.push(each)
  }
  return joined
}

function check(expectation: Expectation, fail: Fail): Expectation {
  const { kind, value, line } = expectation
  if (value === '') fail(line, `"${kind}" has no value.`)
  if (kind === 'matches' && !patternOf(value))
    fail(line, `${value} is not a regular expression, such as /ten seconds/i.`)
  if (kind === 'within' && millisecondsOf(value) === undefined)
    fail(line, `${value} is not a time, such as 5 s or 500 ms.`)
  if (kind === 'escalation' && !/^(?:live|alternate|none)$/.test(value))
    fail(line, `${value} is not a type of escalation: live, alternate or none.`)
  return expectation
}

/** The pattern of a regular expression between slashes; undefined for anything else. */
export function patternOf(value: string): RegExp | undefined {
  const [, source, flags] = /^\/(.+)\/([a-z]*)$/.exec(value) ?? []
  try {
    return source === undefined ? undefined : new RegExp(source, flags)
  } catch {
    return undefined
  }
}

/** A time such as `5 s` or `500 ms`, in milliseconds; undefined for anything else. */
export function millisecondsOf(value: string): number | undefined {
  const [, number, unit] = /^(\d+(?:\.\d+)?)\s*(ms|s)$/.exec(value) ?? []
  return number === undefined ? undefined : Number(number) * (unit === 's' ? 1000 : 1)
}
