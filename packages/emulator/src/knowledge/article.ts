import { resolveEntities } from '@aiagent/protocol'
import { followFences } from './blocks.ts'
import { asList, asText, splitFrontMatter } from './front-matter.ts'

/** A piece of an article under one heading. The piece before the first heading has none. */
export interface Section {
  /** The heading as plain text. */
  readonly heading?: string
  /** Text below the heading, as Markdown. */
  readonly text: string
}

/** An article that the agent answers from. */
export interface Article {
  /** The file's name without its ending, with its folder: `returns`, `account/sign-in`. */
  readonly id: string
  /** Title from the front matter, else the first heading, else the file's name. */
  readonly title: string
  /** Where a person can read the whole article; the file's name when the article does not say. */
  readonly url: string
  /** Words that people use for the subject and that may not stand in the text. */
  readonly keywords: readonly string[]
  /** File names of articles that may be of interest next. */
  readonly related: readonly string[]
  /** The text as Markdown, without front matter. */
  readonly body: string
  /** The text in pieces; the title's own heading and empty pieces are left out. */
  readonly sections: readonly Section[]
}

const HEADING = /^ {0,3}#{1,6}[ \t]+(.+?)[ \t]*#*[ \t]*$/
const UNDERLINE = /^ {0,3}(?:=+|-{2,})[ \t]*$/
/** A line that may be underlined as a heading: text, and no other block. */
const UNDERLINED = /^ {0,3}(?![-*+>|#=]|\d+[.)])\S/
const DEFINITION = /^ {0,3}\[([^\]^][^\]]*)\]:[ \t]*(<[^>]*>|\S+)(?:[ \t]+("[^"]*"|'[^']*'|\([^)]*\)))?[ \t]*$/
/** Code, which is passed over, or a reference: `[text][label]`, `[label][]`, `[label]`. */
const REFERENCE = /(`+)(?!`).*?[^`]\1(?!`)|\[([^[\]]+)\](?:\[([^[\]]*)\])?(?![([:])/g

/**
 * Reads an article from a Markdown document.
 *
 * Front matter is optional: without a `title` the first heading is the title, and without any heading the file's name;
 * without a `url` the file's name stands in. Broken front matter is read as text. Never throws.
 *
 * @param fileName the file's name, with its folder below the root of the articles if it is in one
 */
export function parseArticle(markdown: string, fileName: string): Article {
  const source = markdown.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n')
  const { frontMatter, text } = splitFrontMatter(source)
  const id = fileName.replace(/\\/g, '/').replace(/\.md$/i, '')
  const body = text.trim()
  const parts = splitSections(body)
  const firstHeading = parts.find(part => part.heading !== undefined)?.heading
  const title = asText(frontMatter.title) ?? firstHeading ?? id.slice(id.lastIndexOf('/') + 1)
  const filled = parts.filter(part => part.text !== '')
  return {
    id,
    title,
    url: asText(frontMatter.url) ?? fileName,
    keywords: asList(frontMatter.keywords),
    related: asList(frontMatter.related),
    body,
    sections: filled.map(part => (part.heading === title || part.heading === undefined ? { text: part.text } : part)),
  }
}

/** Splits a text at its headings. Definitions are left out, and references are links with their address, in whichever piece they are. */
function splitSections(body: string): Section[] {
  const fences = followFences()
  const lines = body.split('\n').map(line => ({ line, inCode: fences.isCode(line) }))
  const definitions = new Map<string, string>()
  for (const { line, inCode } of lines) {
    const [, label = '', address = '', title = ''] = (!inCode && DEFINITION.exec(line)) || []
    if (address && !definitions.has(labelOf(label)))
      definitions.set(labelOf(label), `${address.replace(/^<(\S*)>$/, '$1')} ${title}`.trim())
  }
  const linked = (line: string) =>
    line.replace(REFERENCE, (whole, _code, text, label) => {
      const target = text && definitions.get(labelOf(label || text))
      return target ? `[${text}](${target})` : whole
    })
  const sections: Section[] = []
  let heading: string | undefined
  let kept: string[] = []
  const close = (next?: string) => {
    const text = kept.join('\n').trim()
    sections.push(heading === undefined ? { text } : { heading, text })
    heading = next && plainHeading(next)
    kept = []
  }
  for (const { line, inCode } of lines) {
    const found = inCode ? undefined : HEADING.exec(line)?.[1]
    const last = kept.at(-1) ?? ''
    if (found !== undefined) close(linked(found))
    else if (!inCode && UNDERLINE.test(line) && UNDERLINED.test(last) && (kept.at(-2) ?? '').trim() === '') {
      kept.pop()
      close(last)
    } else if (inCode) kept.push(line)
    else if (!DEFINITION.test(line)) kept.push(linked(line))
  }
  close()
  return sections
}

const labelOf = (label: string) => label.trim().replace(/\s+/g, ' ').toLowerCase()

/** The text of a heading without anchor, marks, addresses, HTML and references. */
function plainHeading(heading: string): string {
  const parts = heading.replace(/[ \t]*\{[#.:][^}]*\}$/, '').split(/(?<!`)(`+)(?!`)(.*?[^`])\1(?!`)/)
  return parts
    .map((part, index) => {
      // Text, then the marks of code, then the code.
      if (index % 3 === 1) return ''
      if (index % 3 === 2) return part.trim()
      return resolveEntities(
        part
          .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
          .replace(/<((?:https?|mailto):[^>]*)>/g, '$1')
          .replace(/<\/?[a-z][^>]*>|<!--.*?-->/gi, '')
          .replace(/(?<!\\)(\*{1,3}|~~)(?=\S)(.*?[^\s\\])\1/g, '$2')
          .replace(/(?<![\w\\])(_{1,3})(?=\S)(.*?[^\s\\])\1(?!\w)/g, '$2')
          .replace(/\\([!-/:-@[-`{-~])/g, '$1'),
      )
    })
    .join('')
    .replace(/\s+/g, ' ')
    .trim()
}
