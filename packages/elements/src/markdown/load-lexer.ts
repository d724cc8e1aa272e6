import type { Token } from 'marked'

type Lex = (text: string) => Token[]

let lex: Lex | undefined
let loading: Promise<void> | undefined

/** The lexer, once it is loaded. */
export function loadedLexer(): Lex | undefined {
  return lex
}

/** Loads the lexer. Never rejects: without it, Markdown is shown as it was written, and the next call tries again. */
export function loadLexer(): Promise<void> {
  loading ??= import('./lexer.ts').then(
    module => {
      lex = module.lex
    },
    () => {
      loading = undefined
    },
  )
  return loading
}

/** Whether a text may hold Markdown; others are shown without the lexer. */
export function hasMarkdown(text: string): boolean {
  return /[*_`#>[\]|~<&\\\n]|^\s*(?:[-+]|\d+[.)])\s|https?:|www\.|@/.test(text)
}
