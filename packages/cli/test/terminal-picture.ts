/**
 * What a terminal of so many columns shows after this output: its rows, without trailing blanks and empty rows.
 *
 * Knows the escape codes that readline and the command use, and fails on any other.
 */
export function terminalPicture(output: string, columns: number): string[] {
  const rows: string[][] = []
  let row = 0
  let column = 0
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape codes are what it reads
  const codes = /\u001b\[([\d;]*)([A-Za-z])|\u001b|([\s\S])/gu
  for (const [all, digits = '', command, character] of output.matchAll(codes)) {
    const count = Number(digits || '1')
    if (character === '\n') {
      row++
      column = 0
    } else if (character === '\r') column = 0
    else if (character !== undefined) {
      if (column >= columns) {
        row++
        column = 0
      }
      const cells = (rows[row] ??= [])
      while (cells.length < column) cells.push(' ')
      cells[column++] = character
    } else if (command === 'A') row = Math.max(0, row - count)
    else if (command === 'B') row += count
    else if (command === 'C') column += count
    else if (command === 'D') column = Math.max(0, column - count)
    else if (command === 'G') column = count - 1
    else if (command === 'K') (rows[row] ??= []).length = Math.min(column, rows[row]?.length ?? 0)
    else if (command === 'J') {
      rows.length = Math.min(rows.length, row + 1)
      const cells = (rows[row] ??= [])
      cells.length = Math.min(cells.length, column)
    } else if (command !== 'm') throw new Error(`An escape code that is not expected: ${JSON.stringify(all)}`)
  }
  const lines = Array.from(rows, cells => (cells ?? []).join('').trimEnd())
  while (lines.at(-1) === '') lines.pop()
  return lines
}
