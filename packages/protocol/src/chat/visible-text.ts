/** Control characters other than tab and line feed, and the soft hyphen. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is removed
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad]/g

/**
 * What is invisible: bidirectional controls, zero-width characters, fillers, variation selectors and tags. In the group, what emoji,
 * their flags, and the scripts that are spelled with joiners need.
 */
const INVISIBLE =
  /((?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}]|\ufe0f)\u200d(?=\p{Extended_Pictographic})|(?<=[\p{sc=Arab}\p{sc=Beng}\p{sc=Deva}\p{sc=Gujr}\p{sc=Guru}\p{sc=Knda}\p{sc=Khmr}\p{sc=Mlym}\p{sc=Mong}\p{sc=Mymr}\p{sc=Orya}\p{sc=Sinh}\p{sc=Syrc}\p{sc=Taml}\p{sc=Telu}\p{sc=Thaa}])[\u200c\u200d](?=[\p{sc=Arab}\p{sc=Beng}\p{sc=Deva}\p{sc=Gujr}\p{sc=Guru}\p{sc=Knda}\p{sc=Khmr}\p{sc=Mlym}\p{sc=Mong}\p{sc=Mymr}\p{sc=Orya}\p{sc=Sinh}\p{sc=Syrc}\p{sc=Taml}\p{sc=Telu}\p{sc=Thaa}])|(?<=\p{Emoji})[\ufe0e\ufe0f]|(?<=\u{1f3f4})[\u{e0030}-\u{e0039}\u{e0061}-\u{e007a}]{3,6}\u{e007f})|[\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/gu

/** Letters that are written from right to left. Texts with them need marks of direction. */
const RIGHT_TO_LEFT = /(?=\p{L})[\p{sc=Arab}\p{sc=Hebr}\p{sc=Syrc}\p{sc=Thaa}\p{sc=Nkoo}]/u
const MARKS = '\u200e\u200f\u061c'

/**
 * A text as its reader sees it: without control characters and without what is invisible, for terminals and the clipboard. Line
 * feeds and tabs stay, as do the joiners, variation selectors and tags that emoji and some scripts are spelled with, and marks of
 * direction in texts with Arabic or Hebrew letters.
 *
 * @param instead returns what replaces an invisible character; by default nothing does
 */
export function visibleText(text: string, instead: (invisible: string) => string = () => ''): string {
  const hasMarks = RIGHT_TO_LEFT.test(text)
  return text
    .replace(CONTROLS, '')
    .replace(INVISIBLE, (character: string, needed: string | undefined) =>
      needed !== undefined || (hasMarks && MARKS.includes(character)) ? character : instead(character),
    )
}
