/** The language while none is set. */
export const DEFAULT_LANGUAGE = 'en-us'

/** Codes that people write for a language whose region has another one. A map: any word may be asked for. */
const SPECIAL: ReadonlyMap<string, string> = new Map([
  ['da-da', 'da-dk'],
  ['ja-ja', 'ja-jp'],
  ['ko-ko', 'ko-kr'],
])

/** What the service takes in `Accept-Language`. */
const ACCEPTED = new Set(
  'da-dk de-de en-us es-es fr-ca fr-fr it-it ja-jp ko-kr nl-nl pt-br pt-pt ru-ru sv-se zh-cn'.split(' '),
)

/** The value of the query parameter `$lang`: language and region in lower case, or a code without region as it is. */
export function toLangParameter(code: string | null | undefined): string {
  const given = hyphenated(code)
  const special = SPECIAL.get(given.toLowerCase())
  if (special) return special
  return given.includes('-') ? given.split('-', 2).join('-').toLowerCase() : given
}

/** The value of the `Accept-Language` header: one that the service takes, `en-us` for any other. */
export function toAcceptLanguage(code: string | null | undefined): string {
  const given = hyphenated(code).toLowerCase()
  const mapped = SPECIAL.get(given) ?? given
  return ACCEPTED.has(mapped) ? mapped : DEFAULT_LANGUAGE
}

function hyphenated(code: string | null | undefined): string {
  return code?.trim().replaceAll('_', '-') || DEFAULT_LANGUAGE
}
