import { randomBytes } from 'node:crypto'
import type { Writable } from 'node:stream'
import { stripVTControlCharacters } from 'node:util'
import { visibleText } from '@aiagent/protocol'

/** Stands at both ends of a colour code of this program. Random, so that no text from elsewhere contains it. */
const KEY = randomBytes(8).toString('hex')
const OWN_CODE = new RegExp(`\u0001${KEY}([\\d;]+)m`, 'g')

/** A colour code, as text that only {@link renderText} turns into an escape code. */
export function colorCode(parameters: string): string {
  return `\u0001${KEY}${parameters}m`
}

const LINE_BREAKS = /\r\n?|[\u0085\u2028\u2029]/g

/**
 * Text without escape codes and control characters. Characters that are invisible or change the direction of the text
 * are shown as `<U+202E>`. Line breaks and tabs stay.
 */
export function plainText(text: string): string {
  return visibleText(stripVTControlCharacters(text.replace(LINE_BREAKS, '\n')), codePoint)
}

/**
 * Text as a terminal may get it: {@link plainText} with the colours of this program. Continuation lines are indented, so
 * that no line of the service looks like the prompt.
 */
export function renderText(text: string): string {
  return (
    text
      .split(OWN_CODE)
      // Every second part is the parameters of a colour code.
      .map((part, index) => (index % 2 === 0 ? plainText(part) : `\u001b[${part}m`))
      .join('')
      // biome-ignore lint/suspicious/noControlCharactersInRegex: a line may begin with a colour
      .replace(/\n(?!(?:\u001b\[[\d;]+m)*(?:[ \t\n]|$))/g, '\n  ')
  )
}

/** Writes one entry with a line break at its end. Every text that may come from a service is written here. */
export function writeEntry(stream: Writable, text: string): void {
  stream.write(`${renderText(text)}\n`)
}

/** A value as JSON in which control and invisible characters are escaped. */
export function printableJson(value: unknown): string {
  return JSON.stringify(value, null, 2).replace(
    /[\u007f-\u009f\u2028\u2029\ufff9-\ufffb\p{Default_Ignorable_Code_Point}]/gu,
    character => Array.from({ length: character.length }, (_, at) => escapeUnit(character.charCodeAt(at))).join(''),
  )
}

const escapeUnit = (unit: number) => `\\u${unit.toString(16).padStart(4, '0')}`

const codePoint = (character: string) =>
  `<U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}>`
