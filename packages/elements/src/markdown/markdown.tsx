/** @jsxImportSource preact */
import { Component } from 'preact'
import { differ } from './differ.ts'
import { hasMarkdown, loadedMarkdown } from './load-markdown.ts'
import type { MarkdownOptions } from './nodes.tsx'
import { pieces } from './pieces.tsx'

interface MarkdownProps {
  text: string
  options: MarkdownOptions
  /** Whether the lexer is loaded. */
  hasLexer: boolean
}

/** An answer. Its text becomes nodes once, and again when what Markdown needs is loaded. */
export class Markdown extends Component<MarkdownProps> {
  override shouldComponentUpdate(next: MarkdownProps): boolean {
    return differ(this.props, next)
  }

  render({ text, options }: MarkdownProps) {
    if (!hasMarkdown(text)) return <p>{text}</p>
    const nodes = loadedMarkdown()?.markdownNodes(text, options, () => this.forceUpdate())
    return nodes ? <>{nodes}</> : <p class="plain">{pieces(text)}</p>
  }
}
