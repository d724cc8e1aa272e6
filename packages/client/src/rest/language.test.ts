import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toAcceptLanguage, toLangParameter } from './language.ts'

const TABLE = [
  [undefined, 'en-us', 'en-us'],
  [null, 'en-us', 'en-us'],
  ['', 'en-us', 'en-us'],
  ['  ', 'en-us', 'en-us'],
  ['en-US', 'en-us', 'en-us'],
  ['en_US', 'en-us', 'en-us'],
  ['en-GB', 'en-gb', 'en-us'],
  ['fr-CA', 'fr-ca', 'fr-ca'],
  ['da-DA', 'da-dk', 'da-dk'],
  ['da_DA', 'da-dk', 'da-dk'],
  ['da-dk', 'da-dk', 'da-dk'],
  ['ja-JA', 'ja-jp', 'ja-jp'],
  ['ko-KO', 'ko-kr', 'ko-kr'],
  ['de', 'de', 'en-us'],
  ['DE', 'DE', 'en-us'],
  ['de-DE', 'de-de', 'de-de'],
  ['es-ES', 'es-es', 'es-es'],
  ['es-MX', 'es-mx', 'en-us'],
  ['fr-FR', 'fr-fr', 'fr-fr'],
  ['it-IT', 'it-it', 'it-it'],
  ['ja-JP', 'ja-jp', 'ja-jp'],
  ['ko-KR', 'ko-kr', 'ko-kr'],
  ['nl-NL', 'nl-nl', 'nl-nl'],
  ['pt-BR', 'pt-br', 'pt-br'],
  ['pt-PT', 'pt-pt', 'pt-pt'],
  ['ru-RU', 'ru-ru', 'ru-ru'],
  ['sv-SE', 'sv-se', 'sv-se'],
  ['zh-CN', 'zh-cn', 'zh-cn'],
  ['zh-Hans-CN', 'zh-hans', 'en-us'],
  ['constructor', 'constructor', 'en-us'],
] as const

describe('the language of a call', () => {
  it.each(TABLE)('%s is sent as $lang=%s and Accept-Language: %s', (code, lang, header) => {
    expect(toLangParameter(code)).toBe(lang)
    expect(toAcceptLanguage(code)).toBe(header)
  })

  it('is never blank and never has an underscore, whatever is set', () => {
    fc.assert(
      fc.property(fc.string(), code => {
        expect(toLangParameter(code)).not.toMatch(/_|^\s*$/)
        expect(toAcceptLanguage(code)).toMatch(/^[a-z]{2}-[a-z]{2}$/)
      }),
    )
  })
})
