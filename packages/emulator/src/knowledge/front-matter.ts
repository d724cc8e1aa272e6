/** The front matter of a document: single values as text, lists as arrays. */
export type FrontMatter = Readonly<Record<string, string | readonly string[]>>

const FENCE = /^---[ \t]*$/
const FENCE_END = /^(?:---|\.\.\.)[ \t]*$/
const PAIR = /^([A-Za-z_][\w-]*)[ \t]*:(?:[ \t]+(.*)|)$/
const ITEM = /^[ \t]*-[ \t]+(.*)$/

/**
 * Parts a Markdown document into its front matter and its text.
 *
 * Reads the plain part of YAML that documents use: `key: value`, `[a, b]` and lists of `- item` lines. Nested values
 * are passed over. What only looks like front matter (no closing fence, or lines of another kind) is taken as text, so that
 * nothing of a document is lost. Never throws. Expects line ends as `\n`.
 */
export function splitFrontMatter(source: string): { frontMatter: FrontMatter; text: string } {
  const whole = { frontMatter: {}, text: source }
  const lines = source.split('\n')
  if (!FENCE.test(lines[0] ?? '')) return whole
  const end = lines.findIndex((line, index) => index > 0 && FENCE_END.test(line))
  if (end === -1) return whole
  const frontMatter = parsePairs(lines.slice(1, end))
  return frontMatter === undefined ? whole : { frontMatter, text: lines.slice(end + 1).join('\n') }
}

/** A front matter value as a list: an array as it is, a text parted at its commas, blanks dropped. */
export function asList(value: string | readonly string[] | undefined): string[] {
  const parts = typeof value === 'string' ? value.split(',') : (value ?? [])
  return parts.map(part => part.trim()).filter(part => part !== '')
}

/** A front matter value as one text; absent when there is none or it is blank. */
export function asText(value: string | readonly string[] | undefined): string | undefined {
  const text = typeof value === 'string' ? value.trim() : value?.join(', ').trim()
  return text === '' ? undefined : text
}

function parsePairs(lines: readonly string[]): FrontMatter | undefined {
  // A map rather than an object while reading, so that a key named `__proto__` is a key like any other.
  const pairs = new Map<string, string | string[]>()
  let key: string | undefined
  for (const line of lines) {
    const pair = PAIR.exec(line)
    const item = ITEM.exec(line)
    if (pair?.[1] !== undefined) {
      key = pair[1].toLowerCase()
      pairs.set(key, parseValue(pair[2] ?? ''))
    } else if (item && key !== undefined) {
      const value = pairs.get(key)
      pairs.set(key, [...(Array.isArray(value) ? value : []), unquote(item[1] ?? '')])
    } else if (line.trim() !== '' && !/^\s*#/.test(line) && !(key !== undefined && /^[ \t]/.test(line))) {
      return undefined
    }
  }
  return Object.fromEntries(pairs)
}

function parseValue(raw: string): string | string[] {
  const value = raw.trim()
  if (value.startsWith('[') && value.endsWith(']')) return asList(value.slice(1, -1)).map(unquote)
  return unquote(value)
}

function unquote(raw: string): string {
  const value = raw.trim()
  const quote = value[0]
  return (quote === '"' || quote === "'") && value.length > 1 && value.endsWith(quote) ? value.slice(1, -1) : value
}
