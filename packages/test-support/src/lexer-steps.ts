/** What a lexer of Markdown has done. It does not depend on the machine. */
export interface LexerSteps {
  /** Number of times that a text was compared with the beginning of a block or of a part of a line. */
  calls: number
  /** Characters in which the end of a part of a line may have been looked for. */
  read: number
}

/** The parts of a line: for each of them the lexer may read the rest of the text. */
const INLINE = [
  'escape',
  'tag',
  'link',
  'reflink',
  'emStrong',
  'codespan',
  'br',
  'del',
  'autolink',
  'url',
  'inlineText',
]

/**
 * Counts what lexers of `marked` do, from now on.
 *
 * @param prototype that of the class of their tokenizers
 * @returns `take` returns the steps since the last call; `stop` ends the count
 */
export function countLexerSteps(prototype: object): { take(): LexerSteps; stop(): void } {
  const methods = Object.entries(Object.getOwnPropertyDescriptors(prototype)).filter(([name]) => name !== 'constructor')
  let steps: LexerSteps = { calls: 0, read: 0 }
  for (const [name, { value }] of methods) {
    Object.assign(prototype, {
      [name](this: unknown, text: string, ...given: unknown[]) {
        steps.calls++
        if (INLINE.includes(name)) steps.read += text.length
        return value.call(this, text, ...given)
      },
    })
  }
  return {
    take() {
      const taken = steps
      steps = { calls: 0, read: 0 }
      return taken
    },
    stop: () => void Object.defineProperties(prototype, Object.fromEntries(methods)),
  }
}
