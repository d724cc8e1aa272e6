import type { Article, Section } from './article.ts'
import { closeFence, splitBlock, splitBlocks } from './blocks.ts'
import { queryTerms, termsOf } from './terms.ts'

/** The part of an article that answers a question. */
export interface Passage {
  /** Markdown of a modest kind: paragraphs, lists, bold, links with a full address. */
  readonly text: string
  /** The heading under which it stands; absent for an article's beginning. */
  readonly heading?: string
}

/** Length of an answer, in characters, above which paragraphs are left out. */
const LONGEST = 1_050
/** A beginning shorter than this leads on to the next section, which then comes along. */
const SHORT_BEGINNING = 320

/**
 * Picks what of an article to answer with. A question about what the whole article is about gets its beginning, one
 * that asks for more gets the section that holds most of the rest of its words.
 */
export function pickPassage(article: Article, question: string): Passage {
  const subject = termsOf(article.title)
  const asked = new Set(queryTerms(question).map(({ term }) => term))
  const special = new Set([...asked].filter(term => !subject.has(term)))
  const ratings = rateSections(article.sections, special, asked)
  const best = Math.max(0, ...ratings)
  const section = article.sections[best > 0 ? ratings.indexOf(best) : 0]
  if (section === undefined) return { text: article.title }

  const text = readable(section.text)
  const next = article.sections[article.sections.indexOf(section) + 1]
  if (section.heading === undefined && text.length < SHORT_BEGINNING && next?.heading !== undefined) {
    const more = `${text}\n\n${bold(next.heading)}\n\n${readable(next.text)}`
    if (more.length <= LONGEST) return { text: more }
  }
  const shown = shorten(text, asked)
  return section.heading === undefined
    ? { text: shown }
    : { text: `${bold(section.heading)}\n\n${shown}`, heading: section.heading }
}

/**
 * Rates each section by the special words it holds, those in its heading three times; a word that fewer sections hold
 * tells more. Words of the subject only break a tie. Zero means that no special word is there.
 */
function rateSections(
  sections: readonly Section[],
  special: ReadonlySet<string>,
  asked: ReadonlySet<string>,
): number[] {
  const held = sections.map(({ heading, text }) => ({ heading: termsOf(heading ?? ''), text: termsOf(text) }))
  const holds = (section: (typeof held)[number], term: string) => section.heading.has(term) || section.text.has(term)
  return held.map(section => {
    let rating = 0
    for (const term of special) {
      if (!holds(section, term)) continue
      const places = (section.heading.has(term) ? 2 : 0) + (section.text.has(term) ? 1 : 0)
      rating += places / held.filter(other => holds(other, term)).length
    }
    const inSubject = [...asked].filter(term => holds(section, term)).length
    return rating > 0 ? rating + inSubject / 1_000 : 0
  })
}

/** Leaves out what reads badly outside the article: pictures, comments, links that only work on its page. */
function readable(markdown: string): string {
  return markdown
    .replace(/<!--[\s\S]*?-->/g, '')
    .replace(/!\[[^\]]*\]\([^)]*\)/g, '')
    .replace(/\[([^\]]+)\]\((?!https?:)[^)]*\)/g, '$1')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
}

/**
 * Keeps the block that holds most of the asked words, and as much around it as an answer may have. A single block that is too
 * long is cut between its rows, items, lines or sentences, and keeps the header of a table and the ends of a fence.
 */
function shorten(text: string, asked: ReadonlySet<string>): string {
  if (text.length <= LONGEST) return text
  const kept = keepBest(splitBlocks(text), '\n\n', asked, LONGEST)
  if (kept.length <= LONGEST) return kept
  const { before, parts, joiner, after } = splitBlock(kept)
  const room = Math.max(1, LONGEST - before.length - after.length)
  const best = keepBest(parts, joiner, asked, room).trimEnd()
  if (best.length <= room) return before + best + after
  return closeFence(`${before}${best.slice(0, room - 1).trimEnd()}…`) + after
}

function keepBest(parts: readonly string[], joiner: string, asked: ReadonlySet<string>, room: number): string {
  const counts = parts.map(part => [...termsOf(part)].filter(term => asked.has(term)).length)
  let first = counts.indexOf(Math.max(...counts))
  let last = first
  const fits = (part: string | undefined): part is string =>
    part !== undefined && parts.slice(first, last + 1).join(joiner).length + joiner.length + part.length <= room
  // Forward first: what follows a paragraph explains it more often than what precedes it.
  while (fits(parts[last + 1])) last += 1
  while (fits(parts[first - 1])) first -= 1
  return parts.slice(first, last + 1).join(joiner)
}

/** A heading as a line in bold; characters that would be marks are escaped. */
const bold = (heading: string) => `**${heading.replace(/[\\`*_~[\]<&]/g, '\\$&')}**`
