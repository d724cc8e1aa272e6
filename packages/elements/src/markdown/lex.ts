import { lexMarkdown } from '@aiagent/protocol'
import { Lexer, type Token } from 'marked'

/** Most work of the lexer in one task of the page, which takes some tens of milliseconds: no more than one costly text. */
const TASK_WORK = 500_000
/** Expected work for a character, at most. */
const CHARACTER_WORK = 20

/** Work of this task. */
let work = 0
let isCounting = false
const waiting: (() => void)[] = []

/**
 * Splits Markdown into tokens.
 *
 * @returns undefined if the text is to be shown as it was written, because it is too long or nested too deeply
 */
export function lex(text: string): Token[] | undefined {
  const lexed = lexMarkdown<Token>(new Lexer({ gfm: true, breaks: true }), text)
  work += lexed.work
  if (!isCounting) {
    isCounting = true
    setTimeout(endTask)
  }
  return lexed.tokens
}

/** Whether this task has done so much that the text belongs into a later one. */
export function isForLater(text: string): boolean {
  return work > 0 && work + Math.min(text.length * CHARACTER_WORK, TASK_WORK) > TASK_WORK
}

/** Calls a function in a later task. */
export function later(run: () => void): void {
  waiting.push(run)
}

function endTask(): void {
  work = 0
  isCounting = false
  for (const run of waiting.splice(0, 8)) run()
  if (waiting.length === 0 || isCounting) return
  isCounting = true
  setTimeout(endTask)
}
