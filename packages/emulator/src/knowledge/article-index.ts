import MiniSearch from 'minisearch'
import type { Article } from './article.ts'
import { type QueryTerm, queryTerms, splitWords, termsOf, toTerm } from './terms.ts'

/** How well an article fits a question. */
export interface Match {
  readonly article: Article
  /** The weight of the question's words that the article holds, as a part of the weight of all of them: 0 to 1. */
  readonly coverage: number
  /** The question's words that the article holds, as the question has them. */
  readonly matched: readonly string[]
  /** Whether a telling word of the question stands in the article's title or keywords. */
  readonly sharesSubject: boolean
  /** Whether the article covers enough of the question to be an answer to it. */
  readonly fits: boolean
}

/** Articles that can be searched. */
export interface ArticleIndex {
  /** Articles that hold something of the question, best first: those that fit before those that do not. */
  find(question: string): Match[]
}

/** Part of the question that an article must cover. Half is too little: "reset" does not answer "reset my kettle". */
const ENOUGH = 0.55
/** A long story is answered by an article that holds this part of it, and several of its words in title or keywords. */
const ENOUGH_OF_A_STORY = 0.25
const SUBJECT_WORDS_OF_A_STORY = 2
/** A word that more than this part of the articles hold is spread. */
const SPREAD = 1 / 6
/** From this many articles on, a word that most of them hold ("router" in a router shop) tells little. */
const FEWEST_FOR_COMMON = 4

const WEIGHT = { common: 0.3, plain: 1, name: 2 }
/** What a word counts by where it stands; `spread` is in the text of an article when many others hold it as well. */
const QUALITY = { subject: 1, body: 0.85, spread: 0.5, approximate: 0.8 }

/**
 * Builds a full-text index. A pure function of the articles: the same articles and question give the same matches.
 *
 * MiniSearch's scores order the articles, but do not decide whether one fits: they depend on how many articles there
 * are and how long they are, and say nothing in a folder of one. What decides is how many of the question's words an
 * article covers.
 */
export function createArticleIndex(articles: readonly Article[]): ArticleIndex {
  const search = new MiniSearch<{ id: number }>({
    fields: ['title', 'keywords', 'headings', 'body'],
    tokenize: splitWords,
    processTerm: word => toTerm(word) ?? null,
    searchOptions: { boost: { title: 3, keywords: 2.5, headings: 1.5 } },
  })
  const holders = new Map<string, number>()
  for (const [id, article] of articles.entries()) {
    const headings = article.sections.map(section => section.heading ?? '').join('\n')
    const document = { id, title: article.title, keywords: article.keywords.join('\n'), headings, body: article.body }
    search.add(document)
    for (const term of termsOf(Object.values(document).slice(1).join('\n')))
      holders.set(term, (holders.get(term) ?? 0) + 1)
  }

  const isCommon = (term: string) =>
    articles.length >= FEWEST_FOR_COMMON && (holders.get(term) ?? 0) > articles.length / 2

  /** What each article holds of one word. A word that no article holds is taken as a beginning, or as misspelled. */
  const findTerm = ({ word, term, isName }: QueryTerm) => {
    const known = holders.has(term)
    const isSpread = articles.length >= FEWEST_FOR_COMMON && (holders.get(term) ?? 0) > articles.length * SPREAD
    const results = search.search(term, {
      tokenize: text => [text],
      processTerm: word => word,
      prefix: !known && term.length > 3,
      fuzzy: !known && term.length > 4 ? 0.2 : false,
      maxFuzzy: 2,
    })
    const weight = isCommon(term) ? WEIGHT.common : isName ? WEIGHT.name : WEIGHT.plain
    return { word, known, isSpread, weight, results }
  }

  return {
    find(question) {
      const terms = queryTerms(question).map(findTerm)
      const total = terms.reduce((sum, term) => sum + term.weight, 0)
      const tallies = new Map<number, { score: number; covered: number; subjects: number; matched: string[] }>()
      for (const { word, known, isSpread, weight, results } of terms) {
        for (const result of results) {
          const tally = tallies.get(result.id) ?? { score: 0, covered: 0, subjects: 0, matched: [] }
          const fields = Object.values(result.match).flat()
          const isSubject = fields.includes('title') || fields.includes('keywords')
          const quality = isSubject || fields.includes('headings') ? 'subject' : isSpread ? 'spread' : 'body'
          tally.score += result.score * weight
          tally.covered += weight * QUALITY[quality] * (known ? 1 : QUALITY.approximate)
          if (isSubject && weight !== WEIGHT.common) tally.subjects += 1
          tally.matched.push(word)
          tallies.set(result.id, tally)
        }
      }
      const onlyCommon = terms.every(term => term.weight === WEIGHT.common)
      return [...tallies]
        .flatMap(([id, { score, covered, subjects, matched }]) => {
          const article = articles[id]
          if (article === undefined) return []
          const coverage = covered / total
          const story = subjects >= SUBJECT_WORDS_OF_A_STORY && coverage >= ENOUGH_OF_A_STORY
          const fits = !onlyCommon && (coverage >= ENOUGH || story)
          return [
            { id, rank: score * coverage, match: { article, coverage, matched, sharesSubject: subjects > 0, fits } },
          ]
        })
        .sort((a, b) => Number(b.match.fits) - Number(a.match.fits) || b.rank - a.rank || a.id - b.id)
        .map(({ match }) => match)
    },
  }
}
