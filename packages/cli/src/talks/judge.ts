import { runInNewContext } from 'node:vm'
import { type Expectation, millisecondsOf, patternOf } from './parse-talk.ts'

/** A message of the agent. */
export interface SeenMessage {
  readonly content: string
  /** Addresses of the sources; undefined where the origin of the talk does not hold them. */
  readonly sources: readonly string[] | undefined
  readonly options: readonly string[] | undefined
  readonly escalation: 'live' | 'alternate' | 'unknown' | undefined
}

/** What happened in one turn. */
export interface Exchange {
  /** The message of the user, as it left. */
  readonly sent: string
  readonly messages: readonly SeenMessage[]
  /** Time to the first message, in milliseconds; undefined without one. */
  readonly firstMs: number | undefined
  /** Errors of the service, and the end of the chat. */
  readonly problems: readonly string[]
}

/**
 * Judges an expectation.
 *
 * @returns why it does not hold; undefined where it holds; null where the origin of the exchange does not show it
 */
export function judge({ kind, value }: Expectation, exchange: Exchange): string | undefined | null {
  const { messages, firstMs, sent } = exchange
  const said = messages.map(({ content }) => content).join('\n\n')
  const but = said === '' ? 'The agent said nothing.' : `The agent said: ${shortened(said)}`
  switch (kind) {
    case 'contains':
      return folded(said).includes(folded(value)) ? undefined : `"${value}" is missing. ${but}`
    case 'matches':
      return judgePattern(value, said, but)
    case 'says':
      return spaced(said) === spaced(value) ? undefined : `The answer differs. ${but}`
    case 'never says':
      return folded(said).includes(folded(value)) ? `"${value}" must not be said. ${but}` : undefined
    case 'source':
      return judgeList(messages, 'sources', found => hasHost(found, value), `a source of ${value}`)
    case 'option':
      return judgeList(messages, 'options', found => folded(found) === folded(value), `the option "${value}"`)
    case 'escalation':
      return judgeEscalation(value, messages)
    case 'within': {
      const limit = millisecondsOf(value) ?? 0
      if (firstMs === undefined) return `There was no answer within ${value}.`
      return firstMs <= limit ? undefined : `The answer took ${Math.round(firstMs)} ms, not ${value}.`
    }
    case 'masked as':
      return spaced(sent) === spaced(value) ? undefined : `The message left as: ${shortened(sent)}`
    default:
      return kind satisfies never
  }
}

/** Time that a regular expression may take on an answer, in milliseconds. */
const PATTERN_LIMIT_MS = 500

/** An answer may repeat what users wrote, so it may be one on which an expression of nested repetitions never ends. */
function judgePattern(value: string, said: string, but: string): string | undefined {
  try {
    const isMatch: unknown = runInNewContext(
      'pattern.test(said)',
      { pattern: patternOf(value), said },
      { timeout: PATTERN_LIMIT_MS },
    )
    return isMatch === true ? undefined : `${value} does not match. ${but}`
  } catch {
    return `${value} could not be matched within ${PATTERN_LIMIT_MS} ms. Avoid a repetition within a repetition. ${but}`
  }
}

function judgeList(
  messages: readonly SeenMessage[],
  field: 'sources' | 'options',
  fits: (found: string) => boolean,
  what: string,
): string | undefined | null {
  if (messages.some(message => message[field] === undefined)) return null
  const found = messages.flatMap(message => message[field] ?? [])
  if (found.some(fits)) return undefined
  return `There was not ${what}, but ${found.length === 0 ? 'none' : found.join(', ')}.`
}

function judgeEscalation(value: string, messages: readonly SeenMessage[]): string | undefined {
  const seen = messages.findLast(({ escalation }) => escalation !== undefined)?.escalation ?? 'none'
  if (seen === value || (seen === 'unknown' && value !== 'none')) return undefined
  return `The escalation was ${seen}, not ${value}.`
}

/** Whether an address is at a host, or below it; a path may follow the host. */
function hasHost(address: string, expected: string): boolean {
  if (!URL.canParse(address)) return folded(address) === folded(expected)
  const { host, pathname } = new URL(address)
  const [name = '', ...path] = expected.split('/')
  const isHost = host === name || host.endsWith(`.${name}`)
  return isHost && (path.length === 0 || pathname === `/${path.join('/')}`)
}

const spaced = (text: string) => text.replace(/\s+/g, ' ').trim()
const folded = (text: string) => spaced(text).toLowerCase()
const shortened = (text: string) => (spaced(text).length > 160 ? `${spaced(text).slice(0, 160)}…` : spaced(text))
