const COLUMNS = 1000

const repeat = (unit: string, length: number) => unit.repeat(Math.ceil(length / unit.length)).slice(0, length)
const TABLE = `${repeat('|a', 2 * COLUMNS)}|\n${repeat('|-', 2 * COLUMNS)}|\n`

/** Texts of any length, by what they consist of: what a lexer reads again and again, and what becomes many elements. */
const TEXTS = {
  delimiters: length => repeat('*a_', length),
  'strong words and code': length => repeat('**word** and `code`, ', length),
  'paragraphs of strong words': length => repeat('**word** and `code`, \n\n', length),
  'a wide table': length => TABLE + repeat('|\n', length),
  'small tables': length => repeat('|a|b|\n|-|-|\n|c|d|\n\n', length),
  quotes: length => repeat('> ', length),
  'quotes that go on': length =>
    repeat(`${Array.from({ length: 24 }, (_, at) => `${'>'.repeat(24 - at)} a`).join('\n')}\n`, length),
  lists: length => repeat('- a\n', length),
  'lists in quotes': length => repeat('> - a\nb\n', length),
  'lists in lists': length => repeat('- a\n  - b\n    - c\n', length),
  brackets: length => repeat('![](', length),
  links: length => repeat('[a](https://shop.test) ', length),
  definitions: length => repeat('[a]: b\n', length),
  entities: length => repeat('&amp;', length),
  'combining marks': length => repeat('e\u0301', length),
  headings: length => repeat('# a\n', length),
  'blocks of code': length => repeat('```\na\n```\n', length),
  'code of many lines': length => `\`\`\`\n${repeat('a\n', length)}`,
  'comments without an end': length => repeat('<!-- a\n', length),
  'comments in HTML': length => repeat('<div><!-- a', length),
  'comments in lines': length => repeat('a <!-- b --> <!--', length),
  'line breaks in HTML': length => repeat('a<br>\n', length),
  'emphasis beside CJK punctuation': length => repeat('は**「a」**', length),
  'struck CJK text': length => repeat('~~。は', length),
  addresses: length => repeat('https://shop.test/a。', length),
  'open emphasis of CJK text': length => repeat('。*「', length),
  words: length => repeat('word ', length),
} as const satisfies Record<string, (length: number) => string>

/** What a costly text consists of. */
export type CostlyKind = keyof typeof TEXTS

/** All kinds. */
export const KINDS = Object.keys(TEXTS) as CostlyKind[]

/** A text of this kind, of about a number of characters. */
export const costlyText = (kind: CostlyKind, length: number): string => TEXTS[kind](length)
