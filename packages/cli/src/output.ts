import { type AgentEventPayloadMap, type AgentMessage, handOverAddress } from '@aiagent/client'
import { renderMarkdown } from './markdown.ts'
import { colorCode, plainText } from './terminal-text.ts'

/** Formats text with colours, or without. */
export interface Style {
  bold(text: string): string
  dim(text: string): string
  name(text: string): string
  warning(text: string): string
  /** Markdown as text for a terminal; without colours as it came, for programs that read it. */
  markdown(text: string): string
  /** The same, for text that is painted as a whole. */
  plainMarkdown(text: string): string
}

const asItIs = (text: string) => text
const UNPAINTED = { bold: asItIs, dim: asItIs, italic: asItIs, code: asItIs }

/** @param color false returns each text without colour codes */
export function createStyle(color: boolean): Style {
  const paint = (on: string, off: string) => (text: string) => (color ? colorCode(on) + text + colorCode(off) : text)
  const bold = paint('1', '22')
  const dim = paint('2', '22')
  return {
    bold,
    dim,
    name: paint('1;36', '22;39'),
    warning: paint('33', '39'),
    markdown: text =>
      color ? renderMarkdown(text, { bold, dim, italic: paint('3', '23'), code: paint('36', '39') }) : text,
    plainMarkdown: text => (color ? renderMarkdown(text, UNPAINTED) : text),
  }
}

/** Text of the service without control characters, on one line. */
export function oneLine(text: string): string {
  return plainText(text).trim().replace(/\s+/g, ' ')
}

/** The name of a speaker for the beginning of a line. It cannot look like the prompt. */
export function speakerName(name: string): string {
  return oneLine(name).replace(/^[>\s]+/, '')
}

/** Text of the service without control characters, on several lines. All but the first are indented. */
export function indented(text: string): string {
  return indentLines(plainText(text).trim())
}

const indentLines = (text: string) => text.replace(/\n(?!\n)/g, '\n  ')

/** A message of the agent with its sources, options and escalation. */
export function formatAgentMessage(name: string, message: AgentMessage, style: Style): string {
  const lines = [
    `${style.name(`${speakerName(name)}:`)} ${indentLines(style.markdown(plainText(message.content ?? '').trim()))}`.trimEnd(),
  ]
  const sources = (message.sources ?? []).map(formatSource).filter(text => text !== '')
  if (sources.length > 0) {
    lines.push(style.dim('  Sources:'))
    lines.push(...firstOf(sources, (text, number) => style.dim(`  [${number}] ${text}`)))
  }
  lines.push(...firstOf(optionsOf(message), (option, number) => `  ${style.bold(`${number})`)} ${option}`))
  lines.push(...formatEscalation(message).map(text => `  ${style.warning(text)}`))
  return lines.join('\n')
}

/** Most sources and options that are listed. */
const LISTED = 100

/** The lines of the first items, numbered from 1, and the number of the others. */
function firstOf(items: readonly string[], line: (item: string, number: number) => string): string[] {
  const lines = items.slice(0, LISTED).map((item, at) => line(item, at + 1))
  return items.length > LISTED ? [...lines, `  … and ${items.length - LISTED} more`] : lines
}

/** The options of a message, in order. */
export function optionsOf(message: Pick<AgentMessage, 'options'>): string[] {
  return (message.options ?? []).map(oneLine).filter(text => text !== '')
}

/** The context attributes that the service rejected. */
export function formatContextIssues({ issues }: Pick<AgentEventPayloadMap['contextValidation'], 'issues'>): string {
  const all = issues.map(({ name, reason, expectedType, providedType }) => {
    const types = expectedType && providedType ? `: expected ${expectedType}, got ${providedType}` : ''
    return oneLine(`${name} (${reason.replaceAll('_', ' ')}${types})`)
  })
  return `The service rejected context attributes: ${all.join(', ') || 'unknown ones'}.`
}

/** The previous messages of a session, one line each. Entries without text are omitted. */
export function formatHistory(history: readonly unknown[], agentName: string, style: Style): string[] {
  return history.flatMap(entry => {
    const { persona, content } = fields(entry)
    if (typeof content !== 'string' || content.trim() === '') return []
    return [persona === 'agent' ? formatAnswer(agentName, content, style) : formatLine('You', content, style)]
  })
}

/** One message of a history: speaker and text. */
export function formatLine(name: string, content: string, style: Style): string {
  return style.dim(`${speakerName(name)}: ${indented(content)}`)
}

/** One message of the agent in a history: speaker and Markdown. */
export function formatAnswer(name: string, content: string, style: Style): string {
  return style.dim(`${speakerName(name)}: ${indentLines(style.plainMarkdown(plainText(content).trim()))}`)
}

/** A duration in seconds: with tenths below ten seconds, rounded above. */
export function formatSeconds(milliseconds: number): string {
  const seconds = milliseconds / 1000
  return seconds < 10 ? `${Number(seconds.toFixed(1))} s` : `${Math.round(seconds)} s`
}

function formatSource(source: unknown): string {
  if (typeof source === 'string') return oneLine(source)
  const { title, url } = fields(source)
  return [title, url].flatMap(text => (typeof text === 'string' && text.trim() ? [oneLine(text)] : [])).join(' – ')
}

function formatEscalation({ escalationType, escalationData }: AgentMessage): string[] {
  if (!escalationData) return []
  if (escalationType === 'live') {
    // Terminals turn addresses into links, so only an address that a page may open is shown.
    const address = handOverAddress(escalationData)
    return [address ? `A human takes over at ${address}` : 'A human takes over.']
  }
  return (escalationData.options ?? []).map(({ type, value }) => `${WAYS[type]}${value ? `: ${oneLine(value)}` : ''}`)
}

const WAYS = {
  phone: 'Reach a human by phone',
  sms: 'Reach a human by SMS',
  email: 'Reach a human by email',
} as const

function fields(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}
