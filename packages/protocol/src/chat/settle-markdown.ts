import { resolveEntities } from './entities.ts'

/** The fields of the tokens of `marked` that are settled. */
export interface MarkdownToken {
  type: string
  raw: string
  text?: string | undefined
  href?: string
  tokens?: MarkdownToken[]
  items?: MarkdownToken[]
  task?: boolean
  depth?: number
  level?: number
}

/** Controls that change the direction of a text: they make code look like other code. */
const DIRECTIONS = /\p{Bidi_Control}/gu

const isLineEnd = (token: MarkdownToken | undefined) => token?.type === 'br' && token.raw.includes('\n')

/**
 * Turns inline tokens into what is shown. Removes comments, turns `<br>` into a line break, which absorbs the end of its line,
 * and resolves character references in `text` and `href`, but not in `raw`.
 */
export function settleInline(tokens: MarkdownToken[]): void {
  const settled: MarkdownToken[] = []
  for (let token of tokens) {
    if (token.type === 'html') {
      if (token.raw.startsWith('<!--')) continue
      if (/^<\/?br[\s/>]/i.test(token.raw)) {
        if (isLineEnd(settled.at(-1))) settled.pop()
        token = { type: 'br', raw: token.raw }
      }
    }
    const last = settled.at(-1)
    if (isLineEnd(token) && last?.type === 'br' && !isLineEnd(last)) continue
    settled.push(token)
    if (token.type === 'codespan') token.text = token.text?.replace(DIRECTIONS, '')
    if (token.type === 'image' || (token.type === 'text' && !token.tokens))
      token.text = resolveEntities(token.text ?? '')
    if (token.href) token.href = resolveEntities(token.href)
    if (token.tokens) settleInline(token.tokens)
  }
  tokens.splice(0, tokens.length, ...settled)
}

/**
 * Makes blocks what they show. HTML is without its comments, is a `space` where nothing else was there, and has its references
 * resolved between its tags; a task begins with
 * its box, also in a loose list; `level` is the level of a heading in a text whose headings begin at 1 and leave none out.
 */
export function settleBlocks(tokens: readonly MarkdownToken[], above: number[] = []): void {
  for (const token of tokens) {
    if (token.type === 'html') {
      token.raw = withoutComments(token.raw)
      if (token.raw.trim() === '') token.type = 'space'
      token.text = token.raw.replace(/<[^<>]*>|[^<]+/g, part => (part.startsWith('<') ? part : resolveEntities(part)))
    }
    if (token.type === 'code') token.text = token.text?.replace(DIRECTIONS, '')
    if (token.type === 'heading') {
      const { depth = 1 } = token
      while (Number(above.at(-1)) >= depth) above.pop()
      token.level = above.push(depth)
    }
    if (token.type === 'blockquote') settleBlocks(token.tokens ?? [], above)
    for (const item of token.items ?? []) {
      if (item.task) moveBox(item)
      settleBlocks(item.tokens ?? [], above)
    }
  }
}

/** Moves the box of an item into its first line. In a loose list it is there already. */
function moveBox({ tokens = [] }: MarkdownToken): void {
  const [box, line] = tokens
  if (box?.type !== 'checkbox') return
  tokens.shift()
  line?.tokens?.unshift(box)
}

/** HTML without its complete comments. */
function withoutComments(html: string): string {
  let rest = ''
  let from = 0
  for (;;) {
    const start = html.indexOf('<!--', from)
    const end = start < 0 ? -1 : html.indexOf('-->', start + 2)
    if (end < 0) return rest + html.slice(from)
    rest += html.slice(from, start)
    from = end + 3
  }
}
