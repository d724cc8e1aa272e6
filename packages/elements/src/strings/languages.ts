import type { ChatStrings, LanguageTexts, PluralForms } from './chat-strings.ts'
import { matchLanguage } from './language-around.ts'

/** Loads the texts of a language. */
export type LoadStrings = () => LanguageTexts | Promise<LanguageTexts>

const languages = new Map<string, LoadStrings>([
  ['ar', async () => (await import('./ar.ts')).ar],
  ['da', async () => (await import('./da.ts')).da],
  ['de', async () => (await import('./de.ts')).de],
  ['en', async () => (await import('./en.ts')).en],
  ['es', async () => (await import('./es.ts')).es],
  ['fr', async () => (await import('./fr.ts')).fr],
  ['fr-ca', async () => (await import('./fr-ca.ts')).frCa],
  ['it', async () => (await import('./it.ts')).it],
  ['ja', async () => (await import('./ja.ts')).ja],
  ['ko', async () => (await import('./ko.ts')).ko],
  ['nl', async () => (await import('./nl.ts')).nl],
  ['pt', async () => (await import('./pt.ts')).pt],
  ['pt-br', async () => (await import('./pt-br.ts')).ptBr],
  ['ru', async () => (await import('./ru.ts')).ru],
  ['sv', async () => (await import('./sv.ts')).sv],
  ['zh-cn', async () => (await import('./zh-cn.ts')).zhCn],
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
  return matchLanguage(wanted, code => languages.has(code))
}

/** Loads the texts of a language that {@link findLanguage} has found. */
export async function loadStrings(code: string): Promise<ChatStrings> {
  const load = languages.get(code)
  if (!load) throw new Error(`There are no texts for the language "${code}". Call addLanguage() first.`)
  const texts = await load()
  const rules = new Intl.PluralRules(texts.language)
  const counted = (forms: PluralForms | ChatStrings['unread']) => {
    if (typeof forms === 'function') return forms
    return (count: number) =>
      (forms[rules.select(count)] ?? forms.other).replace('#', count.toLocaleString(texts.language))
  }
  return {
    ...texts,
    unread: counted(texts.unread),
    manyUnknown: counted(texts.manyUnknown),
    manyFailed: counted(texts.manyFailed),
    manySent: counted(texts.manySent),
  }
}
