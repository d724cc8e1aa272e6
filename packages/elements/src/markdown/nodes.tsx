/** @jsxImportSource preact */
import type { Token, Tokens } from 'marked'
import type { ComponentChildren, ComponentType } from 'preact'
import type { ChatStrings } from '../strings/chat-strings.ts'
import { isForLater, later, lex } from './lex.ts'
import { Link } from './link.tsx'
import { Picture } from './picture.tsx'
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

/** Longest code that is laid out as a whole, in characters: it scrolls sideways. */
const LONGEST_CODE = 16_384

/**
 * Markdown as nodes. Only the tokens named here become elements; all else, HTML too, is shown as text. No HTML string exists on
 * the way, so nothing has to be sanitized.
 *
 * @param again is called in a later task if there is too much work for this one
 * @returns undefined if the text is to be shown as it was written, for now or for good
 */
export function markdownNodes(
  text: string,
  options: MarkdownOptions,
  again: () => void,
): ComponentChildren[] | undefined {
  if (isForLater(text)) {
    later(again)
    return undefined
  }
  const tokens = lex(text)
  return tokens && blocks(tokens, options)
}

function blocks(tokens: readonly Token[], options: MarkdownOptions): ComponentChildren[] {
  return tokens.map(token => block(token, options))
}

function block(token: Token, options: MarkdownOptions): ComponentChildren {
  switch (token.type) {
    case 'space':
    case 'def':
      return null
    case 'heading': {
      // The heading of the chat is above those of an answer.
      const Name = `h${Math.min(6, (token as Token & { level: number }).level + 2)}` as 'h3'
      return <Name>{inline(token.tokens, options)}</Name>
    }
    case 'paragraph':
      return <p>{inline(token.tokens, options)}</p>
    case 'code':
      return code(token as Tokens.Code, options)
    case 'blockquote':
      return <blockquote dir="auto">{blocks(token.tokens ?? [], options)}</blockquote>
    case 'hr':
      return <hr />
    case 'list':
      return list(token as Tokens.List, options)
    case 'table':
      return table(token as Tokens.Table, options)
    case 'html':
      return <p>{pieces(token.text)}</p>
    default:
      return inline([token], options)
  }
}

function code({ text, lang = '' }: Tokens.Code, options: MarkdownOptions): ComponentChildren {
  const { strings, Copy } = options
  return (
    <>
      {Copy && <Copy settings={options} text={text} language={lang.split(/\s/, 1)[0] ?? ''} />}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: long lines scroll, also by keyboard */}
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset would be read as a form */}
      <div class="code" role="group" tabIndex={0} aria-label={strings.code}>
        <pre>
          <code>{text.length > LONGEST_CODE ? pieces(text) : text}</code>
        </pre>
      </div>
    </>
  )
}

function list({ ordered, start, items }: Tokens.List, options: MarkdownOptions): ComponentChildren {
  const rows = items.map(({ task, tokens }) => (
    <li class={task ? 'task' : undefined} dir="auto">
      {blocks(tokens, options)}
    </li>
  ))
  return ordered ? <ol start={Number(start)}>{rows}</ol> : <ul>{rows}</ul>
}

const alignment = ({ align }: Tokens.TableCell) => (align ? { textAlign: align } : {})

function table({ header, rows }: Tokens.Table, options: MarkdownOptions): ComponentChildren {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: wide tables scroll, also by keyboard
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would be read as a form
    <div class="table" role="group" tabIndex={0} aria-label={options.strings.table} dir="auto">
      <table>
        <thead>
          <tr>
            {header.map(cell => (
              <th scope="col" style={alignment(cell)}>
                {inline(cell.tokens, options)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(row => (
            <tr>
              {row.map(cell => (
                <td style={alignment(cell)}>{inline(cell.tokens, options)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function inline(tokens: readonly Token[] = [], options: MarkdownOptions): ComponentChildren {
  const [box, ...rest] = tokens
  if (box?.type === 'checkbox')
    return (
      <label>
        <input type="checkbox" checked={(box as Tokens.Checkbox).checked} disabled /> {inline(rest, options)}
      </label>
    )
  return tokens.map(token => {
    switch (token.type) {
      case 'strong':
        return <strong>{inline(token.tokens, options)}</strong>
      case 'em':
        return <em>{inline(token.tokens, options)}</em>
      case 'del':
        return <del>{inline(token.tokens, options)}</del>
      case 'codespan':
        return <code>{token.text}</code>
      case 'br':
        return <br />
      case 'link':
        return link(token as Tokens.Link, options)
      case 'image':
        return image(token as Tokens.Image, options)
      case 'text':
        return token.tokens ? inline(token.tokens, options) : token.text
      default:
        return pieces('text' in token ? String(token.text) : token.raw)
    }
  })
}

function link(token: Tokens.Link, options: MarkdownOptions): ComponentChildren {
  const href = linkAddress(token.href)
  const content = inline(token.tokens, href ? { ...options, isLinked: true } : options)
  return href ? (
    <Link href={href} strings={options.strings}>
      {content}
    </Link>
  ) : (
    content
  )
}

function image(token: Tokens.Image, options: MarkdownOptions): ComponentChildren {
  const { text } = token
  const src = imageAddress(token.href, options.imageOrigins)
  if (src) return <Picture src={src} alt={text} strings={options.strings} isLinked={options.isLinked} />
  const href = linkAddress(token.href)
  const label = text || options.strings.image
  return href ? (
    <Link href={href} strings={options.strings}>
      {label}
    </Link>
  ) : (
    label
  )
}

const LINKS = new Set(['http:', 'https:', 'mailto:', 'tel:'])

/**
 * The address of a link in an answer; undefined for one that is not absolute, that has another scheme than `https`, `http`,
 * `mailto` and `tel`, or that holds credentials.
 */
function linkAddress(text: string): string | undefined {
  const url = parse(text)
  return url && LINKS.has(url.protocol) && !url.username && !url.password ? url.href : undefined
}

/** The address of an image in an answer, if it is one of the origins that the host app allows. */
function imageAddress(text: string, origins: readonly string[]): string | undefined {
  const url = parse(text)
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:')) return undefined
  return origins.some(origin => parse(origin)?.origin === url.origin) ? url.href : undefined
}

function parse(text: string): URL | undefined {
  try {
    return new URL(text)
  } catch {
    return undefined
  }
}
