import { asList, asText, splitFrontMatter } from './front-matter.ts'

/** A piece of an article under one heading. The piece before the first heading has none. */
export interface Section {
  /** Text of the heading, without its marks. */
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
const CODE_FENCE = /^ {0,3}(?:```|~~~)/

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

function splitSections(body: string): Section[] {
  const sections: Section[] = []
  let heading: string | undefined
  let lines: string[] = []
  let inCode = false
  const close = () => {
    const text = lines.join('\n').trim()
    sections.push(heading === undefined ? { text } : { heading, text })
  }
  for (const line of body.split('\n')) {
    if (CODE_FENCE.test(line)) inCode = !inCode
    const found = inCode ? undefined : HEADING.exec(line)?.[1]
    if (found === undefined) {
      lines.push(line)
      continue
    }
    close()
    heading = found
    lines = []
  }
  close()
  return sections
}
