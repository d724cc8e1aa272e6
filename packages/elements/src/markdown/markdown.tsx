/** @jsxImportSource preact */
import { Component } from 'preact'
import type { ChatStrings } from '../strings/chat-strings.ts'
import { differ } from './differ.ts'
import { hasMarkdown, loadedMarkdown } from './load-markdown.ts'

/** What Markdown needs beside its text. */
export interface MarkdownOptions {
  readonly strings: ChatStrings
  /** Origins from which images are loaded. */
  readonly imageOrigins: readonly string[]
}

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
    const markdown = hasMarkdown(text) && loadedMarkdown()
    return markdown ? <>{markdown.markdownNodes(text, options)}</> : <p>{text}</p>
  }
}
