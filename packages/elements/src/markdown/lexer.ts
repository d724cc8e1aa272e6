// What Markdown needs, with the lexer that weighs as much as the rest of the chat without its styles: a separate chunk.
export { lex } from './lex.ts'
export { markdownNodes } from './nodes.tsx'
export { plainText } from './plain-text.ts'
