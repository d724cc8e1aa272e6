/** The `lang` that applies to an element: its own, or that of the closest one around it, also outside of its shadow tree. */
export function languageAround(element: Element | undefined): string | null | undefined {
  if (!element) return undefined
  const { host } = element.getRootNode() as Partial<ShadowRoot>
  return element.closest('[lang]')?.getAttribute('lang') ?? languageAround(host)
}
