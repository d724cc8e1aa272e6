/** The `lang` that applies to an element: its own, or that of the closest one around it, also outside of its shadow tree. */
export function languageAround(element: Element | undefined): string | null | undefined {
  if (!element) return undefined
  const { host } = element.getRootNode() as Partial<ShadowRoot>
  return element.closest('[lang]')?.getAttribute('lang') ?? languageAround(host)
}

/** Codes that mean the same texts. */
const SAME: Readonly<Record<string, string>> = { zh: 'zh-cn' }

/** The first of the wanted codes that there is something for: itself, or its language without the region; else English. */
export function matchLanguage(wanted: readonly (string | null | undefined)[], has: (code: string) => boolean): string {
  for (const code of wanted) {
    const exact = code?.toLowerCase() ?? ''
    const language = exact.split('-')[0] ?? ''
    const found = [exact, language, SAME[language] ?? ''].find(has)
    if (found !== undefined) return found
  }
  return 'en'
}
