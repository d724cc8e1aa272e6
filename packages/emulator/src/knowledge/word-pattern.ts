/** A pattern for any of several wordings, parted by `|`; line breaks and blanks around the bars do not count. */
export function anyOf(wordings: string): string {
  return `(?:${wordings
    .trim()
    .split(/\s*\|\s*/)
    .join('|')})`
}
