/** The code of the chat could not be loaded, and the button that loads it again: as the chat says it, whose texts are not there. */
const TEXTS: Readonly<Record<string, readonly [string, string]>> = {
  en: ['The chat could not be loaded.', 'Try again'],
  de: ['Der Chat konnte nicht geladen werden.', 'Erneut versuchen'],
  ar: ['تعذر تحميل المحادثة.', 'إعادة المحاولة'],
}

/** Texts for a failed load, in the first of the wanted languages that there are texts for; else in English. */
export function loadFailureTexts(wanted: readonly (string | null | undefined)[]) {
  const codes = wanted.map(code => code?.toLowerCase().split('-')[0] ?? '')
  const [loadFailed, loadAgain] = TEXTS[codes.find(code => code in TEXTS) ?? 'en'] as readonly [string, string]
  return { loadFailed, loadAgain }
}
