/** Replaces a secret. */
export const REDACTED = '[redacted]'

/** Names of fields whose values are never shown: tokens, and ids that open a conversation. */
const SECRET_NAME = /token|secret|password|authorization|credential|verifier|cookie|session_?id|external_?call_?id/i
/** Signed tokens, wherever they are. */
const SIGNED_TOKEN = /\beyJ[\w-]+\.[\w-]+(?:\.[\w-]*)?/g
const LONGEST_TEXT = 400

/** A text without signed tokens. */
export function redactText(text: string): string {
  return text.replace(SIGNED_TOKEN, REDACTED)
}

/** A copy of plain data in which every secret is replaced. */
export function redactData(value: unknown, name = ''): unknown {
  if (SECRET_NAME.test(name) && value !== null && value !== undefined) return REDACTED
  if (typeof value === 'string') return redactText(value)
  if (Array.isArray(value)) return value.map(item => redactData(item))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, redactData(each, key)]))
}

/** Path of an address: without the ids of sessions, and with the names but not the values of its query. */
export function redactAddress(address: string): string {
  if (!URL.canParse(address)) return '-'
  const { pathname, searchParams } = new URL(address)
  const names = [...new Set(searchParams.keys())]
  const query = names.map(name => `${name}=…`).join('&')
  return pathname.replace(/(\/sessions?\/)[^/]+/, '$1…') + (query && `?${query}`)
}

/** A frame as it may be shown. */
export interface ShownFrame {
  /** Persona and role. */
  readonly title: string
  /** Its text, or the names of its data. */
  readonly summary: string
  readonly json: string
  readonly isReadable: boolean
}

/** Describes a frame without its secrets. */
export function redactFrame(data: unknown): ShownFrame {
  const text = typeof data === 'string' ? data : ''
  const frame = parsed(text)
  if (!frame)
    return { title: 'unreadable', summary: redactText(text).slice(0, LONGEST_TEXT), json: '', isReadable: false }
  const { persona, role, content, messageData } = frame
  const shown = redactData(frame) as Record<string, unknown>
  const names = Object.keys((messageData as object | null) ?? {}).join(', ')
  return {
    title: `${String(persona)} · ${String(role)}`,
    summary: redactText(typeof content === 'string' && content !== '' ? content : names).slice(0, LONGEST_TEXT),
    json: JSON.stringify(shown, null, 2),
    isReadable: true,
  }
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}
