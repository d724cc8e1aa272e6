/**
 * What the launcher says before the texts of the chat are there: the code of the chat could not be loaded, the buttons that load
 * it again and reload the page, and the button that closes.
 */
const TEXTS: Readonly<Record<string, readonly [string, string, string, string]>> = {
  en: ['The chat could not be loaded.', 'Try again', 'Reload the page', 'Close'],
  de: ['Der Chat konnte nicht geladen werden.', 'Erneut versuchen', 'Seite neu laden', 'Schließen'],
  ar: ['تعذر تحميل المحادثة.', 'إعادة المحاولة', 'إعادة تحميل الصفحة', 'إغلاق'],
}

/** Texts of the launcher, in the first of the wanted languages that there are texts for; else in English. */
export function launcherTexts(wanted: readonly (string | null | undefined)[]) {
  const codes = wanted.map(code => code?.toLowerCase().split('-')[0] ?? '')
  const [loadFailed, loadAgain, reload, close] = TEXTS[
    codes.find(code => code in TEXTS) ?? 'en'
  ] as (typeof TEXTS)[string]
  return { loadFailed, loadAgain, reload, close }
}
