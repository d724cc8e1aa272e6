/** Used until a language is set. */
export const DEFAULT_LANGUAGE = 'en-us'

/** Common codes of languages with another region. A Map, since any string may be looked up. */
const SPECIAL: ReadonlyMap<string, string> = new Map([
  ['da-da', 'da-dk'],
  ['ja-ja', 'ja-jp'],
  ['ko-ko', 'ko-kr'],
])

/** Values that the service accepts in `Accept-Language`. */
const ACCEPTED = /* @__PURE__ */ new Set(
  'da-dk de-de en-us es-es fr-ca fr-fr it-it ja-jp ko-kr nl-nl pt-br pt-pt ru-ru sv-se zh-cn'.split(' '),
)

/** The value of the query parameter `$lang`: language and region in lower case; a code without region is unchanged. */
export function toLangParameter(code: string | null | undefined): string {
  const given = hyphenated(code)
  const special = SPECIAL.get(given.toLowerCase())
  if (special) return special
  return given.includes('-') ? given.split('-', 2).join('-').toLowerCase() : given
}

/** The value of the `Accept-Language` header: one that the service accepts, `en-us` for any other. */
export function toAcceptLanguage(code: string | null | undefined): string {
  const given = hyphenated(code).toLowerCase()
  const mapped = SPECIAL.get(given) ?? given
  return ACCEPTED.has(mapped) ? mapped : DEFAULT_LANGUAGE
}

function hyphenated(code: string | null | undefined): string {
  return code?.trim().replaceAll('_', '-') || DEFAULT_LANGUAGE
}
