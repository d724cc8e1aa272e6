/** @jsxImportSource preact */
import { Component, type ComponentType } from 'preact'
import type { ChatStrings } from '../strings/chat-strings.ts'
import { differ } from './differ.ts'
import { hasMarkdown, loadedMarkdown } from './load-markdown.ts'
import { pieces } from './pieces.tsx'

/** What Markdown needs beside its text. */
export interface MarkdownOptions {
  readonly strings: ChatStrings
  /** Origins from which images are loaded. */
  readonly imageOrigins: readonly string[]
  /** Says texts to screen readers. */
  readonly announcer: { say(text: string): void }
  /** Copies answers and code; undefined while its code is not loaded, and where the host does not want it. */
  readonly Copy: ComponentType<CopyProps> | undefined
  /** Whether it is within a link, which is followed by a click on an image. */
  readonly isLinked?: boolean
}

/** What is copied. */
export interface CopyProps {
  settings: Pick<MarkdownOptions, 'strings' | 'announcer'>
  /** A block of code, or what gives the answers of a turn in Markdown. */
  text: string | (() => readonly string[])
  /** The language of a block of code, or an empty text; undefined for an answer. */
  language?: string
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
    if (!hasMarkdown(text)) return <p>{text}</p>
    const nodes = loadedMarkdown()?.markdownNodes(text, options, () => this.forceUpdate())
    return nodes ? <>{nodes}</> : <p class="plain">{pieces(text)}</p>
  }
}
