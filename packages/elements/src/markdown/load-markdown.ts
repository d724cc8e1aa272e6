type MarkdownModule = typeof import('./lexer.ts')

let loaded: MarkdownModule | undefined
let loading: Promise<void> | undefined

/** The code for Markdown with its lexer, once it is loaded. */
export function loadedMarkdown(): MarkdownModule | undefined {
  return loaded
}

/** Loads it. Never rejects: without it, Markdown is shown as it was written, and the next call tries again. */
export function loadMarkdown(): Promise<void> {
  loading ??= import('./lexer.ts').then(
    ({ lex, markdownNodes, plainText }) => {
      loaded = { lex, markdownNodes, plainText }
    },
    () => {
      loading = undefined
    },
  )
  return loading
}

/** Whether a text may be more than one short plain paragraph in Markdown; others are shown without the lexer. */
export function hasMarkdown(text: string): boolean {
  return text.length > 4096 || /[*_`#>[\]|~<&\\\n\r]|^(?:\s|[-+=]|\d+[.)])|(?:https?|ftp):|www\.|@|\s$/i.test(text)
}
