import { Lexer, type Token } from 'marked'

/** Splits Markdown into tokens. A separate chunk: it weighs as much as the rest of the chat. */
export function lex(text: string): Token[] {
  return new Lexer({ gfm: true, breaks: true }).lex(text)
}
