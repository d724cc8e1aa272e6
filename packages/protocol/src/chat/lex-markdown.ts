import { changeRules, cjkMask, type MarkdownRules } from './markdown-rules.ts'
import { type MarkdownToken, settleBlocks, settleInline } from './settle-markdown.ts'

/** Longest text that is lexed, in characters. */
const MAX_LENGTH = 64 * 1024
/** Most lines: an item of a list and a row of a table need at least one each. */
const MAX_LINES = 3000
/** Most lists and quotes one in the other. */
const MAX_DEPTH = 24
/** Work for one text. A unit is about a character that the lexer reads; ordinary answers of 16 kB need less. */
const MAX_WORK = 500_000
/** Work for each block and each cell of a table beside its text. */
const BLOCK_WORK = 300
/** Work for each character of a list or quote within another one: they are read line by line. */
const CONTAINER_WORK = 4
/** The start of a list or of a quote. */
const CONTAINER = /^ {0,3}(?:[-*+>]|\d{1,9}[.)])/
/** Characters that start something within a line, a run of one as a single one; each makes the lexer read the rest of the text. */
const MARKS = /\*+|_+|~+|[[\]<`&\\@!\n]|:\/\/|www\.|[ \t](?=[ \t]{2})/g

/** The parts of the lexer of `marked` (18) that {@link lexMarkdown} needs. */
export interface MarkdownLexer<Token> {
  /** The blocks that were read so far. */
  readonly tokens: Token[]
  /** The texts within blocks that are still to be read. */
  readonly inlineQueue: readonly { readonly src: string; readonly tokens: Token[] }[]
  /** Its settings, with the tokenizer that reads each block. */
  readonly options: { tokenizer?: MarkdownTokenizer | null }
  /** Reads the blocks of a text and adds them to `tokens`. */
  blockTokens(text: string, tokens: Token[]): unknown
  /** Reads the text within a block and adds its parts to `tokens`. */
  inlineTokens(text: string, tokens: Token[]): unknown
}

/** The tokenizer of such a lexer. */
export interface MarkdownTokenizer {
  /** Reads empty lines. */
  space(text: string): unknown
  /** Reads a list. */
  list(text: string): unknown
  /** Reads a quote. */
  blockquote(text: string): unknown
  /** Reads a table. */
  table(text: string): unknown
  /** Reads a line of text. */
  text(text: string): unknown
}

/** Markdown in tokens, with the work that it took. */
export interface LexedMarkdown<Token> {
  /** The tokens; undefined for a text that is to be shown as it was written. */
  readonly tokens: Token[] | undefined
  /** The work, at most 500,000 units and one block: about a character each that the lexer has read. */
  readonly work: number
}

/**
 * Splits the Markdown of a message into tokens, with a bounded amount of work: a lexer can need seconds for some kilobytes. A
 * line or paragraph that would cost too much is one token of type `escape`, with the text as it was written.
 *
 * Whatever shows the tokens shows the same. `text` and `href` have their character references resolved, but in code, which has no
 * controls of direction. There are no comments; an HTML block has the `text` beside them. `<br>` is a token of type `br`. Two
 * tildes strike out, one does not; emphasis may stand beside CJK punctuation, and bare addresses end before it. A task begins with
 * its `checkbox` within its first line. A heading has a `level` beside its `depth`: the first one of a text has 1, and none is
 * more than one below that before it.
 *
 * @param lexer a new lexer of `marked`, with a new tokenizer
 */
export function lexMarkdown<Token>(lexer: MarkdownLexer<Token>, text: string): LexedMarkdown<Token> {
  let left = MAX_WORK
  let depth = 0
  const spend = (work: number) => {
    left -= work
    if (left < 0 || depth > MAX_DEPTH) throw new RangeError('The text is too costly.')
  }
  const { tokenizer } = lexer.options
  if (tokenizer) {
    // The tokenizer of `marked` has these, too.
    changeRules(tokenizer as MarkdownTokenizer & MarkdownRules, spend)
    countWork(tokenizer)
  }
  Object.assign(lexer.options, { hooks: { emStrongMask: cjkMask } })
  try {
    const lines = text.replace(/\r\n?/g, '\n')
    if (text.length > MAX_LENGTH || isLongerThan(lines, MAX_LINES)) return { tokens: undefined, work: text.length }
    lexer.blockTokens(lines, lexer.tokens)
  } catch {
    return { tokens: undefined, work: MAX_WORK - left }
  }
  for (const { src, tokens } of lexer.inlineQueue) {
    const work = inlineWork(src)
    if (work > left || !lexInline(src, tokens))
      tokens.splice(0, tokens.length, { type: 'escape', raw: src, text: src } as Token)
    else left -= work
  }
  settleBlocks(lexer.tokens as MarkdownToken[])
  return { tokens: lexer.tokens, work: MAX_WORK - left }

  function lexInline(src: string, tokens: Token[]): boolean {
    try {
      lexer.inlineTokens(src, tokens)
      settleInline(tokens as MarkdownToken[])
      return true
    } catch {
      // The stack was exhausted.
      return false
    }
  }

  function countWork(each: MarkdownTokenizer): void {
    const { space, list, blockquote, table, text: line } = each
    const nested = (lex: (text: string) => unknown) =>
      function (this: MarkdownTokenizer, text: string) {
        if (!CONTAINER.test(text)) return undefined
        // One within another is read again, also by a quote that goes on after it.
        if (depth++ > 0) spend(BLOCK_WORK + CONTAINER_WORK * text.length)
        const token = lex.call(this, text)
        depth--
        return token
      }
    Object.assign(each, {
      // It is asked first for each block.
      space(this: MarkdownTokenizer, text: string) {
        spend(BLOCK_WORK)
        return space.call(this, text)
      },
      list: nested(list),
      blockquote: nested(blockquote),
      table(this: MarkdownTokenizer, text: string) {
        const cells = cellsOf(text)
        if (cells > 0) spend(cells * BLOCK_WORK)
        return table.call(this, text)
      },
      // In an item of a list the rest of the paragraph is read again for each of its lines.
      text(this: MarkdownTokenizer, text: string) {
        spend(paragraphOf(text).length)
        return line.call(this, text)
      },
    })
  }
}

/** Work for the text of a paragraph, of a heading or of a cell. */
function inlineWork(text: string): number {
  const least = (text.length * text.length) / 100
  return least > MAX_WORK ? least : least + (text.match(MARKS)?.length ?? 0) * (text.length + BLOCK_WORK)
}

function isLongerThan(text: string, lines: number): boolean {
  return text.split('\n', lines + 1).length > lines
}

/** Number of cells, at least, of a table at the start of a text; a row that is too short is filled up. */
function cellsOf(text: string): number {
  const [header = '', line = ''] = text.split('\n', 2)
  if (!/^ {0,3}[|:-][\s|:-]*$/.test(line)) return 0
  return header.split('|').length * (paragraphOf(text).split('\n').length - 1)
}

/** A text up to its first empty line. */
function paragraphOf(text: string): string {
  const end = text.indexOf('\n\n')
  return end < 0 ? text : text.slice(0, end)
}
