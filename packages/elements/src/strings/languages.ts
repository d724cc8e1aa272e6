import type { ChatStrings } from './chat-strings.ts'

/** Loads the texts of a language. */
export type LoadStrings = () => ChatStrings | Promise<ChatStrings>

const languages = new Map<string, LoadStrings>([
  ['en', async () => (await import('./en.ts')).en],
  ['de', async () => (await import('./de.ts')).de],
  ['ar', async () => (await import('./ar.ts')).ar],
])

/**
 * Adds a language, or replaces one, for all chats of the page that load their texts later. Call it before the element is in
 * the page.
 *
 * @param code a language such as `fr`, or one of a region such as `pt-BR`, which is tried first
 */
export function addLanguage(code: string, load: LoadStrings): void {
  languages.set(code.toLowerCase(), load)
}

/** The first of the wanted codes that has texts: itself, or its language without the region; else English. */
export function findLanguage(wanted: readonly (string | null | undefined)[]): string {
  for (const code of wanted) {
    const exact = code?.toLowerCase() ?? ''
    const language = exact.split('-')[0] ?? ''
    const found = [exact, language].find(name => languages.has(name))
    if (found !== undefined) return found
  }
  return 'en'
}

/** Loads the texts of a language that {@link findLanguage} has found. */
export async function loadStrings(code: string): Promise<ChatStrings> {
  const load = languages.get(code)
  if (!load) throw new Error(`There are no texts for the language "${code}". Call addLanguage() first.`)
  return load()
}
