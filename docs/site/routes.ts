/*
 * Addresses of documents on the site. The documents stay where they are and link to each other as files, so that the links work on a
 * code host; the site shows copies whose links lead to its own pages.
 */
import { posix } from 'node:path'
import { FENCED } from '../links.ts'

/** Documents outside `docs` and the packages, with their addresses. */
const NAMED: Readonly<Record<string, string>> = {
  'docs/guide/README.md': 'guide',
  'packages/protocol/PROTOCOL.md': 'protocol',
  'examples/README.md': 'examples',
  'apps/playground/README.md': 'playground',
  'README.md': 'repository',
}

/** Files that a page shows as they are. */
const PICTURE = /\.(?:svg|png)$/

/**
 * The address of a file of the repository on the site, from its root and without an extension.
 *
 * Guides stand at the root (`docs/guide/errors.md` is `errors`). Files that are not documents are shown as text, in `files/`.
 *
 * @param path from the root of the repository, with slashes
 */
export function routeOf(path: string): string {
  const named = NAMED[path]
  if (named !== undefined) return named
  if (PICTURE.test(path)) return `pictures/${path.replaceAll('/', '-')}`
  const [, page] = /^(?:docs\/(?:guide\/)?)?([\w-]+)\.md$/.exec(path) ?? []
  if (page !== undefined) return page.toLowerCase()
  const [, folder] = /^packages\/([\w-]+)\/README\.md$/.exec(path) ?? []
  return folder === undefined ? `files/${path.replace(/(?:\/README)?\.md$/, '')}` : `packages/${folder}`
}

/** A document with the links of the site. */
export interface RoutedMarkdown {
  readonly text: string
  /** Files of the repository that it links to. */
  readonly targets: readonly string[]
}

const LINK = /\]\(([^)\s]+)\)/g

/**
 * Replaces links to files of the repository by addresses of the site.
 *
 * @param path of the document, from the root of the repository
 * @param isFolder whether a path from the root names a folder
 */
export function routeLinks(path: string, markdown: string, isFolder: (path: string) => boolean): RoutedMarkdown {
  const targets = new Set<string>()
  const routed = outsideOfBlocks(markdown, text =>
    text.replace(LINK, (whole, link: string) => {
      if (/^[a-z]+:/i.test(link) || link.startsWith('#')) return whole
      const [file = '', anchor] = link.split('#')
      let target = posix.join(posix.dirname(path), decodeURI(file)).replace(/\/$/, '')
      if (isFolder(target)) target = `${target}/README.md`
      targets.add(target)
      return `](/${routeOf(target)}${anchor === undefined ? '' : `#${anchor}`})`
    }),
  )
  return { text: routed, targets: [...targets] }
}

/** Applies a change to the text between blocks of code. */
export function outsideOfBlocks(markdown: string, change: (text: string) => string): string {
  const parts: string[] = []
  let from = 0
  for (const block of markdown.matchAll(FENCED)) {
    parts.push(change(markdown.slice(from, block.index)), block[0])
    from = block.index + block[0].length
  }
  parts.push(change(markdown.slice(from)))
  return parts.join('')
}

/** A group of pages with one purpose. */
export interface Section {
  readonly title: string
  /** The sentence below its heading. */
  readonly text: string
  readonly pages: readonly SectionPage[]
}

/** An entry of a section. */
export interface SectionPage {
  readonly title: string
  /** The document, from the root of the repository. */
  readonly path: string
  /** The part of the document that is meant, as `#anchor`; else empty. */
  readonly anchor: string
  readonly text: string
}

/**
 * Reads the sections of the guide from its table of contents: a heading, a sentence, and a list of `- [Title](file): text`.
 *
 * @param path of the table of contents, from the root of the repository
 */
export function sectionsOf(path: string, markdown: string): Section[] {
  return markdown
    .split(/^## /m)
    .slice(1)
    .map(part => {
      const [title = '', ...lines] = part.trim().split('\n')
      const pages = [...part.matchAll(/^- \[([^\]]+)\]\(([^)]+)\): ([^\n]+(?:\n {2}[^\n]+)*)$/gm)].map(
        ([, name = '', file = '', text = '']) => ({
          title: name.replaceAll('`', ''),
          path: posix.join(posix.dirname(path), file.replace(/#.*$/, '')),
          anchor: /#.*$/.exec(file)?.[0] ?? '',
          text: text.replace(/\n\s+/g, ' '),
        }),
      )
      return { title, text: lines.find(line => line.trim() !== '') ?? '', pages }
    })
}
