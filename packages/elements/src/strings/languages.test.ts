import { describe, expect, it } from 'vitest'
import { en } from './en.ts'
import { addLanguage, findLanguage, loadStrings } from './languages.ts'

describe('the languages of the chat', () => {
  it('takes the first wanted language that has texts: of the region, else of the language, else English', () => {
    expect(findLanguage([null, 'de-AT'])).toBe('de')
    expect(findLanguage(['xx', undefined, 'ar'])).toBe('ar')
    expect(findLanguage(['xx', ''])).toBe('en')
  })

  it.each(['en', 'de', 'ar'])('has all texts in %s', async code => {
    const strings = await loadStrings(code)
    expect(strings.language).toBe(code)
    expect(Object.keys(strings).toSorted()).toEqual(Object.keys(en).toSorted())
  })

  it('takes a language of the host, and one of a region before it', async () => {
    addLanguage('fr', () => ({ ...en, language: 'fr', send: 'Envoyer' }))
    addLanguage('fr-CA', async () => ({ ...en, language: 'fr-CA', send: 'Transmettre' }))
    expect((await loadStrings(findLanguage(['fr-FR']))).send).toBe('Envoyer')
    expect((await loadStrings(findLanguage(['fr-CA']))).send).toBe('Transmettre')
  })

  it('names a language without texts', async () => {
    await expect(loadStrings('xx')).rejects.toThrow('"xx"')
  })
})
