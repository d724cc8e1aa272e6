export { Lexer } from 'marked'
export { markdownNodes, plainText } from '../src/markdown/lexer.ts'
