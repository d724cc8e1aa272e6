/** The parts of a tokenizer of `marked` (18) that read Markdown in another way here. */
export interface MarkdownRules {
  /** Reads a block of HTML. */
  html(text: string): unknown
  /** Reads an address that has no marks around it. */
  url(text: string): unknown
  /** Reads what is emphasized. */
  emStrong(text: string, mask: string, before?: string): unknown
  /** Reads what is struck out. */
  del(text: string, mask: string, before?: string): unknown
}

/** Characters of Chinese, Japanese and Korean, with their punctuation and the full-width forms. */
const CJK =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}\u3001-\u303f\u30a0-\u30ff\ufe10-\ufe1f\ufe30-\ufe4f\uff01-\uffee]/u
const PUNCTUATION = /[\p{P}\p{S}]/u
const isCjk = (character: string) => CJK.test(character)

/**
 * An address up to the first punctuation that is not ASCII: full-width, CJK, Arabic, closing quotes and guillemets. Dashes and
 * the middle dot stay, as letters do: they are in titles of articles.
 */
const ADDRESS =
  /^(?:(?:https?|ftp):\/\/|www\.)(?:[!-;=-~]|(?![\u3000-\u3004\u3030\u303d-\u303f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65\uffe0-\uffee])(?:\u00b7|[^\s<\p{Po}\p{Ps}\p{Pe}\p{Pi}\p{Pf}\u301c]))*/iu

/**
 * Changes how a tokenizer reads:
 * - Two tildes strike out, one is a tilde: ranges are written with it.
 * - Emphasis may begin and end beside CJK punctuation, by the amended rule of "markdown-cjk-friendly", since these scripts put no
 *   blank there.
 * - A bare address ends before punctuation that is not ASCII.
 * - A comment is a block without the text beside it, and no block without its end. `<br>` begins a paragraph.
 *
 * @param spend counts work for characters that are read
 */
export function changeRules(rules: MarkdownRules, spend: (work: number) => void): void {
  const { html, url, emStrong, del } = rules
  Object.assign(rules, {
    html(this: MarkdownRules, text: string) {
      const comment = /^ {0,3}<!--/.exec(text)?.[0]
      if (comment) {
        const end = text.indexOf('-->', comment.length - 2) + 3
        if (end > 2) return { type: 'html', block: true, raw: text.slice(0, end) + /^[ \t]*\n*/.exec(text.slice(end)) }
        spend(text.length)
        return undefined
      }
      return /^ {0,3}<\/?br[\s/>]/i.test(text) ? undefined : html.call(this, text)
    },
    url(this: MarkdownRules, text: string) {
      return url.call(this, ADDRESS.exec(text)?.[0] ?? text)
    },
    emStrong(this: MarkdownRules, text: string, mask: string, before = '') {
      return emStrong.call(this, text, mask, opens(text, '*', before) ? '' : before)
    },
    del(this: MarkdownRules, text: string, mask: string, before = '') {
      return /^~~(?!~)/.test(text) ? del.call(this, text, mask, opens(text, '~', before) ? '' : before) : undefined
    },
  })
}

/** Whether a run of delimiters opens by the amended rule: beside a CJK character. */
function opens(text: string, delimiter: string, before: string): boolean {
  if (!text.startsWith(delimiter)) return false
  const run = text.search(delimiter === '*' ? /[^*]/ : /[^~]/)
  return isCjk(before) || (run > 0 && isCjk(String.fromCodePoint(text.codePointAt(run) ?? 0)))
}

/**
 * The mask in which a lexer looks for the end of emphasis, for the amended rule: CJK punctuation beside a run of delimiters becomes
 * a letter, and a CJK character becomes punctuation where other punctuation is on the other side of the run.
 */
export function cjkMask(mask: string): string {
  if (!isCjk(mask)) return mask
  const characters = [...mask]
  const masked = [...characters]
  const change = (index: number, opposite = '') => {
    const character = characters[index] ?? ''
    if (!isCjk(character)) return
    if (PUNCTUATION.test(opposite) && !isCjk(opposite)) masked[index] = '.'.repeat(character.length)
    else if (PUNCTUATION.test(character) && masked[index] === character) masked[index] = 'a'
  }
  for (let start = 0; start < characters.length; start++) {
    const delimiter = characters[start]
    if (delimiter !== '*' && delimiter !== '~') continue
    let end = start + 1
    while (characters[end] === delimiter) end++
    change(start - 1, characters[end])
    change(end, characters[start - 1])
    start = end - 1
  }
  return masked.join('')
}
