import type { Token, Tokens } from 'marked'

/**
 * The Markdown of what is shown of an answer: without comments, definitions, titles of links, and what follows the language of
 * a block of code.
 */
export function shownMarkdown(tokens: readonly Token[]): string {
  return blocks(tokens, '\n\n')
}

function blocks(tokens: readonly Token[], between: string): string {
  return tokens
    .map(block)
    .filter(text => text !== '')
    .join(between)
}

function block(token: Token): string {
  switch (token.type) {
    case 'space':
    case 'def':
      return ''
    case 'heading':
      return `${'#'.repeat((token as Tokens.Heading).depth)} ${inline(token.tokens)}`
    case 'code':
      return token.raw
        .replace(/^([ \t]*(?:`{3,}|~{3,})[ \t]*\S*).*/, '$1')
        .replace(/\p{Bidi_Control}/gu, '')
        .trimEnd()
    case 'blockquote':
      return prefixed(blocks(token.tokens ?? [], '\n\n'), '> ', '> ')
    case 'list':
      return list(token as Tokens.List)
    case 'table':
      return table(token as Tokens.Table)
    case 'paragraph':
    case 'text':
      return inline(token.tokens ?? [token])
    default:
      return token.raw.trim()
  }
}

function list({ ordered, start, items, loose }: Tokens.List): string {
  const between = loose ? '\n\n' : '\n'
  return items
    .map(({ tokens }, index) => {
      const marker = ordered ? `${Number(start) + index}. ` : '- '
      return prefixed(blocks(tokens, between), marker, ' '.repeat(marker.length))
    })
    .join(between)
}

function table({ header, align, rows }: Tokens.Table): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  const marks = { left: ':--', center: ':-:', right: '--:' }
  const row = (cells: readonly Tokens.TableCell[]) =>
    line(cells.map(({ tokens }) => inline(tokens).replaceAll('|', '\\|').replaceAll('\n', '<br>')))
  return [row(header), line(align.map(side => (side ? marks[side] : '---'))), ...rows.map(row)].join('\n')
}

const prefixed = (text: string, first: string, further: string) => first + text.replace(/\n(?!\n)/g, `\n${further}`)

const MARKS: Readonly<Record<string, string>> = { strong: '**', em: '*', del: '~~' }

function inline(tokens: readonly Token[] = []): string {
  return tokens
    .map(token => {
      const mark = MARKS[token.type]
      const { tokens: parts } = token as Tokens.Generic
      if (mark !== undefined) return mark + inline(parts) + mark
      if (token.type === 'br') return '\n'
      if (token.type === 'codespan') return token.raw.replace(/\p{Bidi_Control}/gu, '')
      if (token.type === 'image' || (token.type === 'link' && !token.autolink)) {
        const address = /[\s()<>]/.test(token.href) ? `<${token.href}>` : token.href
        return token.type === 'image' ? `![${token.text}](${address})` : `[${inline(parts)}](${address})`
      }
      return token.type === 'text' && parts ? inline(parts) : token.raw
    })
    .join('')
}
