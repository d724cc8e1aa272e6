import { type AgentEventPayloadMap, type AgentMessage, handOverAddress } from '@aiagent/client'
import { colorCode, plainText } from './terminal-text.ts'

/** How text stands out, or does not. */
export interface Style {
  bold(text: string): string
  dim(text: string): string
  name(text: string): string
  warning(text: string): string
  /** Text in Markdown, with what is strong shown so. */
  markdown(text: string): string
}

/** @param color false returns every text as it is, without a single escape code */
export function createStyle(color: boolean): Style {
  const paint = (on: string, off: string) => (text: string) => (color ? colorCode(on) + text + colorCode(off) : text)
  const bold = paint('1', '22')
  return {
    bold,
    dim: paint('2', '22'),
    name: paint('1;36', '22;39'),
    warning: paint('33', '39'),
    // Only where it can be shown: elsewhere the stars carry the meaning.
    markdown: text => (color ? text.replace(/\*\*(\S(?:[^*\n]*\S)?)\*\*/g, (_, strong: string) => bold(strong)) : text),
  }
}

/** Text of the service without control characters, on one line. */
export function oneLine(text: string): string {
  return plainText(text).trim().replace(/\s+/g, ' ')
}

/** The name of who speaks, at the beginning of a line. It cannot look like the prompt. */
export function speakerName(name: string): string {
  return oneLine(name).replace(/^[>\s]+/, '')
}

/** Text of the service without control characters, on several lines. All but the first are indented. */
export function indented(text: string): string {
  return plainText(text)
    .trim()
    .replace(/\n(?!\n)/g, '\n  ')
}

/** What the agent said, with its sources, the options it offers, and where a human takes over. */
export function formatAgentMessage(name: string, message: AgentMessage, style: Style): string {
  const lines = [`${style.name(`${speakerName(name)}:`)} ${style.markdown(indented(message.content ?? ''))}`.trimEnd()]
  const sources = (message.sources ?? []).map(formatSource).filter(text => text !== '')
  if (sources.length > 0)
    lines.push(style.dim('  Sources:'), ...sources.map((text, at) => style.dim(`  [${at + 1}] ${text}`)))
  lines.push(...optionsOf(message).map((option, at) => `  ${style.bold(`${at + 1})`)} ${option}`))
  lines.push(...formatEscalation(message).map(text => `  ${style.warning(text)}`))
  return lines.join('\n')
}

/** The answers that a message suggests, in order. */
export function optionsOf(message: Pick<AgentMessage, 'options'>): string[] {
  return (message.options ?? []).map(oneLine).filter(text => text !== '')
}

/** Attributes of the context that the service refused. */
export function formatContextIssues({ issues }: Pick<AgentEventPayloadMap['contextValidation'], 'issues'>): string {
  const all = issues.map(({ name, reason, expectedType, providedType }) => {
    const types = expectedType && providedType ? `: expected ${expectedType}, got ${providedType}` : ''
    return oneLine(`${name} (${reason.replaceAll('_', ' ')}${types})`)
  })
  return `The service left out part of the context: ${all.join(', ') || 'it does not say which'}.`
}

/** Earlier messages of a session that was opened again, a line each. Their shape is the service's; what is no message is left out. */
export function formatHistory(history: readonly unknown[], agentName: string, style: Style): string[] {
  return history.flatMap(entry => {
    const { persona, content } = fields(entry)
    if (typeof content !== 'string' || content.trim() === '') return []
    return [formatLine(persona === 'agent' ? agentName : 'You', content, style)]
  })
}

/** One earlier message: who said what. */
export function formatLine(name: string, content: string, style: Style): string {
  return style.dim(`${speakerName(name)}: ${indented(content)}`)
}

/** A wait as people say it: tenths below ten seconds, whole seconds above. */
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
    // A terminal makes links of addresses, so only one that a page may open is shown.
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
