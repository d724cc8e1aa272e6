/**
 * The texts of the chat element, and further languages.
 *
 * @module
 */
import type { ChatStrings } from './strings/chat-strings.ts'
import { findLanguage, loadStrings } from './strings/languages.ts'

export type { ChatStrings, LanguageTexts, PluralForms } from './strings/chat-strings.ts'
export { errorSentence } from './strings/error-sentence.ts'
export { addLanguage, type LoadStrings } from './strings/languages.ts'

/**
 * Loads the texts of the chat in one language, for a user interface of the host. The element itself is not loaded.
 *
 * @param wanted languages, the most wanted first, such as `[document.documentElement.lang, ...navigator.languages]`; English where
 *   none of them has texts
 */
export function loadChatStrings(wanted: readonly (string | null | undefined)[]): Promise<ChatStrings> {
  return loadStrings(findLanguage(wanted))
}
