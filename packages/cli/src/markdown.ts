import { lexMarkdown } from '@aiagent/protocol'
import { Lexer, type Token, type Tokens } from 'marked'

/** How the parts of Markdown are marked in a terminal. */
export interface MarkdownStyle {
  bold(text: string): string
  dim(text: string): string
  italic(text: string): string
  code(text: string): string
}

/**
 * Markdown as text for a terminal with colours: headings and strong parts in bold, lists with their markers, links with their
 * addresses, code without its fences. A text that is too long or nested too deeply is shown as it was written. The text must be
 * free of control characters.
 */
export function renderMarkdown(markdown: string, style: MarkdownStyle): string {
  const { tokens } = lexMarkdown<Token>(new Lexer({ gfm: true, breaks: true }), markdown)
  return tokens ? blocks(tokens, style).join('\n\n') : markdown
}

function blocks(tokens: readonly Token[], style: MarkdownStyle): string[] {
  return tokens.flatMap(token => {
    const text = block(token, style)
    return text === undefined ? [] : [text]
  })
}

/** The text of a block; undefined for one that shows nothing. */
function block(token: Token, style: MarkdownStyle): string | undefined {
  switch (token.type) {
    case 'space':
    case 'def':
      return undefined
    case 'heading':
      return style.bold(inline(token.tokens ?? [], style))
    case 'paragraph':
      return inline(token.tokens ?? [], style)
    case 'text':
      return token.tokens ? inline(token.tokens, style) : token.text
    case 'code':
      return prefixed(String(token.text), '    ', style.code)
    case 'blockquote':
      return prefixed(blocks(token.tokens ?? [], style).join('\n\n'), `${style.dim('│')} `)
    case 'hr':
      return style.dim('───')
    case 'list':
      return list(token as Tokens.List, style)
    case 'table':
      return table(token as Tokens.Table, style)
    case 'html':
      return token.text.trim()
    default:
      return token.raw.trim()
  }
}

function list({ items, ordered, start }: Tokens.List, style: MarkdownStyle): string {
  return items
    .map(({ tokens, task }, index) => {
      const marker = `${ordered ? `${Number(start) + index}.` : '•'} `
      const indent = ' '.repeat(marker.length + (task ? '[x] '.length : 0))
      return `${marker}${blocks(tokens, style).join('\n').replaceAll('\n', `\n${indent}`)}`
    })
    .join('\n')
}

function table({ header, rows }: Tokens.Table, style: MarkdownStyle): string {
  const cells = (row: readonly Tokens.TableCell[]) => row.map(({ tokens }) => inline(tokens, style))
  const names = cells(header)
  return rows
    .map(row =>
      cells(row)
        .map((cell, index) => `${style.bold(`${names[index] ?? ''}:`)} ${cell}`)
        .join('\n'),
    )
    .join('\n\n')
}

function inline(tokens: readonly Token[], style: MarkdownStyle): string {
  return tokens
    .map(token => {
      const inner = () => inline(('tokens' in token && token.tokens) || [], style)
      switch (token.type) {
        case 'strong':
          return style.bold(inner())
        case 'em':
          return style.italic(inner())
        case 'del':
          return `~~${inner()}~~`
        case 'codespan':
          return style.code(String(token.text))
        case 'br':
          return '\n'
        case 'link':
          return addressed(inner(), String(token.href))
        case 'image':
          return addressed(String(token.text), String(token.href))
        case 'checkbox':
          return token.checked ? '[x] ' : '[ ] '
        case 'escape':
          return String(token.text)
        case 'text':
          return 'tokens' in token && token.tokens ? inner() : String(token.text)
        default:
          return token.raw
      }
    })
    .join('')
}

/** A link with its address, so that the reader sees where it leads. */
const addressed = (text: string, address: string) =>
  text === address || `mailto:${text}` === address ? text : `${text} <${address}>`

const prefixed = (text: string, prefix: string, paint = (line: string) => line) =>
  text
    .split('\n')
    .map(line => prefix + (line && paint(line)))
    .join('\n')
