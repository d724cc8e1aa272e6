// What the Markdown tests import of the build: see `builtMarkdown()`.
export { Lexer } from 'marked'
export { lex } from '../src/markdown/lex.ts'
export { hasMarkdown } from '../src/markdown/load-markdown.ts'
export { markdownNodes } from '../src/markdown/nodes.tsx'
export { plainText } from '../src/markdown/plain-text.ts'
export { shownMarkdown } from '../src/markdown/shown-markdown.ts'
