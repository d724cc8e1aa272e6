/** A meaningful word of a question. */
export interface QueryTerm {
  /** The word as written. */
  readonly word: string
  /** The word's stem, as it stands in the index. */
  readonly term: string
  /** Written with a capital inside the sentence, so probably the name of something. */
  readonly isName: boolean
}

const STOP_WORDS = new Set(
  `a about again all also am an and any anybody anyone anything are arent around as at be because been before being but
  by can cannot cant could couldnt did didnt do does doesnt doing dont down each either else ever every everything
  explain few find for from get gets getting give given go goes going gone got had has hasnt have havent having he
  hello help her here hers hey hi him his how i id if ill im in into is isnt it its ive just keep keeps know let
  lets like long lot made make makes many may maybe me mean means might mine more most much must my myself need
  needs no nor not now of off often ok okay on once one only or other our ours out over own please possible put
  question quite really same say says see seem seems shall she should show so some somehow someone something soon
  still such sure take takes tell than thank thanks that thats the their them then there theres these they theyre
  thing things this those though three time times to told too try trying two up us very want wants was wasnt way we
  well were what whats when whenever where wheres whether which while who whole whom whos whose why will with
  without wonder wont would wouldnt yes yet you your youre yours`.split(/\s+/),
)

/** Spellings that would fall into pieces, or that people write in several ways. */
const SPELLINGS: ReadonlyArray<readonly [RegExp, string]> = [
  [/\bwi[\s-]fi\b/gi, 'WiFi'],
  [/\be-mail/gi, 'email'],
  [/\b(set|log|sign)[\s-](up|in|out)\b/gi, '$1$2'],
  [/\bsetting[\s-]up\b/gi, 'setup'],
  [/['’]s\b/g, ''],
  [/['’]/g, ''],
]

/** Capitalised in English without being a name of anything a person asks about. */
const CALENDAR =
  /^(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|(?:jan|febr)uary|march|april|june|july|august|(?:septem|octo|novem|decem)ber)$/i

/** In characters; longer text is not a word, and would slow down the search for similar words. */
const LONGEST_WORD = 64

const WORD = /[\p{L}\p{N}\p{M}]+/gu
/** Scripts that put no blanks between their words. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/u

/** The words of a text as written, in order, in the spelling that the index uses. */
export function splitWords(text: string): string[] {
  let spelled = text
  for (const [pattern, replacement] of SPELLINGS) spelled = spelled.replace(pattern, replacement)
  return (spelled.match(WORD) ?? []).flatMap(word => (UNSPACED.test(word) ? segment(word) : [word]))
}

/** The stem under which a word is found; absent for words that say nothing about the subject. */
export function toTerm(word: string): string | undefined {
  const plain = word.toLowerCase().normalize('NFKD').replace(/\p{M}/gu, '')
  if (plain.length > LONGEST_WORD || STOP_WORDS.has(plain) || /^[a-z]?$/.test(plain)) return undefined
  return stem(plain)
}

/** The meaningful words of a text, each once, in the order in which they first appear; at most `limit`. */
export function queryTerms(text: string, limit = 32): QueryTerm[] {
  const words = splitWords(text)
  // In a text of capitals, or of capitalised words, a capital tells nothing.
  const capitals = words.slice(1).filter(isCapitalised).length
  const capitalsTell = capitals * 2 <= words.length
  const terms = new Map<string, QueryTerm>()
  for (const [index, word] of words.entries()) {
    const term = toTerm(word)
    if (term === undefined || terms.has(term)) continue
    terms.set(term, { word, term, isName: capitalsTell && index > 0 && isCapitalised(word) && !CALENDAR.test(word) })
    if (terms.size === limit) break
  }
  return [...terms.values()]
}

/** The set of meaningful words of a text. */
export function termsOf(text: string): Set<string> {
  return new Set(
    splitWords(text)
      .map(toTerm)
      .filter(term => term !== undefined),
  )
}

const isCapitalised = (word: string) => /^\p{Lu}/u.test(word)

function segment(word: string): string[] {
  const pieces = new Intl.Segmenter('und', { granularity: 'word' }).segment(word)
  return [...pieces].map(piece => piece.segment)
}

/**
 * Cuts the common endings of English, so that "resetting", "resets" and "reset" are one word. Both the articles and the
 * questions go through it, so the stem need not be a word.
 */
function stem(word: string): string {
  if (!/^[a-z]{4,}$/.test(word)) return word
  let base = word
  if (base.endsWith('ies') && base.length > 4) base = `${base.slice(0, -3)}y`
  else if (/(?:ss|x|ch|sh)es$/.test(base)) base = base.slice(0, -2)
  else if (/[^su]s$/.test(base) && !base.endsWith('is')) base = base.slice(0, -1)
  const cut = /^(.*[aeiouy].*)(?:ing|ed)$/.exec(base)?.[1]
  if (cut !== undefined && cut.length > 2) base = cut
  if (base.length > 3 && /([^aeiou])\1$/.test(base)) base = base.slice(0, -1)
  return base.length > 3 && base.endsWith('e') ? base.slice(0, -1) : base
}
