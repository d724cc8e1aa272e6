/**
 * A text with a number in it, by the rules for plurals of a language.
 *
 * @param forms the text for each form that the language has, with `#` where the number is
 */
export function plural(
  language: string,
  forms: Partial<Record<Intl.LDMLPluralRule, string>> & { readonly other: string },
): (count: number) => string {
  const rules = new Intl.PluralRules(language)
  return count => (forms[rules.select(count)] ?? forms.other).replace('#', count.toLocaleString(language))
}
