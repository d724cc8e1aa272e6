/** @jsxImportSource preact */
import type { ComponentChildren } from 'preact'

/** Longest text that is laid out as a whole, in characters. */
const LONGEST = 4096

/** A text. A long one in pieces: the browser lays out those that are in view. */
export function pieces(text: string): ComponentChildren {
  if (text.length <= LONGEST) return text
  const all: ComponentChildren[] = []
  for (let start = 0; start < text.length; ) {
    const piece = text.slice(start, start + LONGEST)
    // At the end of a line or of a word, and not within a character.
    const end = Math.max(piece.lastIndexOf('\n'), piece.lastIndexOf(' ')) + 1
    const length = start + LONGEST < text.length ? end || LONGEST - (/[\ud800-\udbff]$/.test(piece) ? 1 : 0) : LONGEST
    all.push(<span class="piece">{piece.slice(0, length)}</span>)
    start += length
  }
  return all
}
