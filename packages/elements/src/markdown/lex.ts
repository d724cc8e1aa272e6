import { Lexer, type Token } from 'marked'

/** Splits Markdown into tokens. */
export function lex(text: string): Token[] {
  return new Lexer({ gfm: true, breaks: true }).lex(text)
}
