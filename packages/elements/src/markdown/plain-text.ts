import { resolveEntities } from '@aiagent/protocol'
import type { Token, Tokens } from 'marked'
import { isForLater, lex } from './lex.ts'

/** Markdown as plain text, for screen readers: without marks, addresses and HTML. */
export function plainText(markdown: string): string {
  const tokens = isForLater(markdown) ? undefined : lex(markdown)
  if (!tokens) return markdown.trim()
  return blocks(tokens)
    .replace(/[^\S\n]+/g, ' ')
    .replace(/\s*\n\s*/g, '\n')
    .trim()
}

function blocks(tokens: readonly Token[]): string {
  return tokens.map(token => block(token as Tokens.Generic)).join('\n')
}

function block(token: Tokens.Generic): string {
  if (token.type === 'list') return (token as Tokens.List).items.map(item => blocks(item.tokens)).join('\n')
  if (token.type === 'table') {
    const { header, rows } = token as Tokens.Table
    return [header, ...rows].map(row => row.map(cell => inline(cell.tokens)).join(', ')).join('\n')
  }
  if (token.type === 'blockquote') return blocks(token.tokens ?? [])
  if (token.type === 'def' || token.type === 'space' || token.type === 'hr') return ''
  // The text between the tags. What looks like a tag after its references are resolved is text.
  if (token.type === 'html') return resolveEntities(token.raw.replace(/<[/!?a-z][^<>]*>/gi, ' '))
  return inline([token])
}

function inline(tokens: readonly Token[]): string {
  return tokens
    .map(token => {
      if (token.type === 'html') return ' '
      if (token.type === 'br') return '\n'
      if ('tokens' in token && token.tokens) return inline(token.tokens)
      return 'text' in token ? token.text : ''
    })
    .join('')
}
