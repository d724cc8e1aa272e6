import { type Exchange, judge } from './judge.ts'
import type { Talk } from './parse-talk.ts'

/** Expectations that a person writes, and that blessing keeps where they hold. */
const KEPT: ReadonlySet<string> = new Set(['contains', 'matches', 'within', 'masked as', 'never says'])

const LINE_BREAK = /\r\n?|\n/

/** The text of a talk with the answers that were seen: each as a quote, with sources, options and escalation. */
export function blessTalk(markdown: string, { turns }: Talk, exchanges: readonly Exchange[]): string {
  const lines = markdown.split(LINE_BREAK)
  // From the end, so that the numbers of earlier lines stay.
  for (const [index, { expectations, answerLines }] of [...turns.entries()].reverse()) {
    const exchange = exchanges[index]
    if (!exchange) continue
    const [from, to] = answerLines
    const kept = expectations
      .filter(each => KEPT.has(each.kind) && judge(each, exchange) === undefined)
      .map(({ kind, value }) => `- ${kind}: ${value}`)
    const hasAgent = lines[from - 2]?.startsWith('**Agent:**') === true
    const written = [...(hasAgent ? [] : ['', '**Agent:**']), '', ...seenIn(exchange), ...kept]
    if (written.at(-1) === '') written.pop()
    lines.splice(from - 1, to - from, ...written)
  }
  return lines.join('\n')
}

function seenIn({ messages }: Exchange): string[] {
  const said = messages.map(({ content }) => content).join('\n\n')
  const quote = said.trim() === '' ? [] : said.split(LINE_BREAK).map(line => `> ${line}`.trimEnd())
  // What takes several lines would add expectations, or a turn of the user.
  const list = (field: 'sources' | 'options') => messages.flatMap(message => message[field] ?? []).flatMap(onOneLine)
  const escalation = messages.findLast(each => each.escalation)?.escalation
  return [
    ...quote,
    ...(quote.length > 0 ? [''] : []),
    ...list('sources').map(source => `- source: ${hostAndPath(source)}`),
    ...list('options').map(option => `- option: ${option}`),
    ...(escalation === undefined || escalation === 'unknown' ? [] : [`- escalation: ${escalation}`]),
  ]
}

/** Nothing for a text of blanks, which no expectation can hold. */
function onOneLine(text: string): string[] {
  const line = text.replace(/\s+/g, ' ').trim()
  return line === '' ? [] : [line]
}

function hostAndPath(source: string): string {
  if (!URL.canParse(source)) return source
  const { host, pathname } = new URL(source)
  return pathname === '/' ? host : host + pathname
}
