const FENCE = /^([ \t]*)(`{3,}|~{3,})(.*)$/
const ITEM = /^ {0,3}(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)/
const TABLE_LINE = /^[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/
/** The end of a sentence, with the blank or line break after it. */
const SENTENCE_END = /(?<=[.!?][ \t]|[。！？]|\n)/

/** A block in parts that can be left out, with what every choice of them keeps. */
interface Parts {
  /** Before the parts: the header of a table, the opening of a fence, the sentence above a list. */
  readonly before: string
  readonly parts: readonly string[]
  readonly joiner: string
  /** After the parts: the end of a fence. */
  readonly after: string
}

/** Follows the fences of a text, one line after the other. */
export function followFences() {
  let indent = ''
  let open: string | undefined
  return {
    /** Whether the next line is code in a fence, or one of its two ends. */
    isCode(line: string): boolean {
      const [, blank = '', marks = '', rest = ''] = FENCE.exec(line) ?? []
      if (open !== undefined) {
        if (marks.startsWith(open) && rest.trim() === '') open = undefined
        return true
      }
      // Backticks after the opening ones are code within a line.
      if (marks === '' || (marks[0] === '`' && rest.includes('`'))) return false
      indent = blank
      open = marks
      return true
    },
    /** The line that ends an open fence. */
    get end(): string | undefined {
      return open === undefined ? undefined : indent + open
    },
  }
}

/** Splits Markdown at empty lines into blocks. A fence, and an item with all that is indented below it, stay whole. */
export function splitBlocks(text: string): string[] {
  const blocks: string[][] = []
  const fences = followFences()
  let isApart = true
  for (const line of text.split('\n')) {
    const inCode = fences.isCode(line)
    if (!inCode && line.trim() === '') {
      isApart = true
      continue
    }
    const block = blocks.at(-1)
    const isInItem = /^(?: {2}|\t)/.test(line) && block !== undefined && ITEM.test(block[0] ?? '')
    if (block && !isApart) block.push(line)
    else if (isInItem) block.push('', line)
    else blocks.push([line])
    // Empty lines of code belong to its block.
    isApart = false
  }
  return blocks.map(lines => lines.join('\n'))
}

/** Splits a block at what a reader would leave out: lines of code, rows, items, lines of a quote, or sentences. */
export function splitBlock(block: string): Parts {
  const lines = block.split('\n')
  const headed = (count: number, parts: readonly string[], after = '') => ({
    before: lines
      .slice(0, count)
      .map(line => `${line}\n`)
      .join(''),
    parts,
    joiner: '\n',
    after,
  })
  const fences = followFences()
  if (fences.isCode(lines[0] ?? '')) {
    const { end } = fences
    const isClosed = lines.slice(1).map(line => fences.isCode(line)).length > 0 && fences.end === undefined
    return headed(1, lines.slice(1, isClosed ? -1 : undefined), `\n${end}`)
  }
  const table = lines.findIndex(
    (line, at) => at > 0 && line.includes('-') && TABLE_LINE.test(line) && lines[at - 1]?.includes('|'),
  )
  if (table > 0) return headed(table + 1, lines.slice(table + 1))
  const first = lines.findIndex(line => ITEM.test(line))
  if (first >= 0) {
    const items: string[] = []
    const indent = indentOf(lines[first])
    for (const line of lines.slice(first))
      if (ITEM.test(line) && indentOf(line) <= indent) items.push(line)
      else items.push(`${items.pop()}\n${line}`)
    return headed(first, items)
  }
  if (block.startsWith('>')) return headed(0, lines)
  return { before: '', parts: block.split(SENTENCE_END), joiner: '', after: '' }
}

/** Ends a fence that a cut has left open. */
export function closeFence(text: string): string {
  const fences = followFences()
  for (const line of text.split('\n')) fences.isCode(line)
  return fences.end === undefined ? text : `${text}\n${fences.end}`
}

const indentOf = (line = '') => line.length - line.trimStart().length
