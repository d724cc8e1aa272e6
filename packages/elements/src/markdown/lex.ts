import { Lexer, type Token } from 'marked'

/** Depth of tokens and lists, one in the other, from which a text is not rendered as Markdown: it would exhaust the stack. */
const TOO_DEEP = 400

/** Splits Markdown into tokens. A text that is nested too deeply is one token, and is shown as it was written. */
export function lex(text: string): Token[] {
  try {
    const tokens = new Lexer({ gfm: true, breaks: true }).lex(text)
    if (!isDeep(tokens, TOO_DEEP)) return tokens
  } catch {
    // The stack was exhausted.
  }
  return [{ type: 'paragraph', raw: text, text, tokens: [{ type: 'escape', raw: text, text }] }]
}

function isDeep(value: unknown, room: number): boolean {
  return Object(value) === value && (room === 0 || Object.values(value as object).some(part => isDeep(part, room - 1)))
}
