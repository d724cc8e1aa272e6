import { describe, expect, it } from 'vitest'
import { consentStrings } from '../consent/consent-strings.ts'
import { launcherTexts } from '../launcher-strings.ts'
import { en } from './en.ts'
import { addLanguage, findLanguage, loadStrings } from './languages.ts'

/** The languages of the service, and Arabic. */
const CODES = 'ar da de en es fr fr-ca it ja ko nl pt pt-br ru sv zh-cn'.split(' ')

describe('the languages of the chat', () => {
  it('takes the first wanted language that has texts: of the region, else of the language, else English', () => {
    expect(findLanguage([null, 'de-AT'])).toBe('de')
    expect(findLanguage(['xx', undefined, 'ar'])).toBe('ar')
    expect(findLanguage(['xx', ''])).toBe('en')
  })

  it.each(CODES)('has all texts in %s, of the chat, the launcher and the consent', async code => {
    const strings = await loadStrings(code)
    expect(strings.language.toLowerCase()).toBe(code)
    const texts = Object.values({ ...strings, ...consentStrings([code]), ...launcherTexts([code]) })
    expect(Object.keys(strings).toSorted()).toEqual(Object.keys(en).toSorted())
    for (const text of texts) expect(typeof text === 'function' ? text('7' as never) : text).toMatch(/\S/)
    for (const text of [
      strings.working,
      strings.call,
      strings.sms,
      strings.tooLong,
      strings.remaining,
      strings.nextAttempt,
    ])
      expect(text('34')).toContain('34')
    if (code === 'en') return
    // Nothing is left in English.
    expect(consentStrings([code]).consentText).not.toBe(consentStrings(['en']).consentText)
    expect(launcherTexts([code]).loadFailed).not.toBe(launcherTexts(['en']).loadFailed)
  })

  it.each<[string, string[]]>([
    ['en', ['1 new message', '2 new messages', '1,000 new messages']],
    ['ru', ['1 новое сообщение', '2 новых сообщения', '1\u00a0000 новых сообщений']],
    ['ar', ['رسالة جديدة واحدة', 'رسالتان جديدتان', '1,000 رسالة جديدة']],
    ['ja', ['新しいメッセージ 1件', '新しいメッセージ 2件', '新しいメッセージ 1,000件']],
  ])('counts in %s', async (code, counted) => {
    const { unread } = await loadStrings(code)
    expect([1, 2, 1_000].map(unread)).toEqual(counted)
  })

  it.each<[string, string[]]>([
    ['en', ['1 message was not sent.', '2 messages were not sent.']],
    ['ru', ['1 сообщение не отправлено.', '2 сообщения не отправлены.']],
    ['ar', ['لم تُرسل 1 رسالة.', 'لم تُرسل رسالتان.']],
    ['zh-cn', ['1条消息未发送。', '2条消息未发送。']],
  ])('counts messages that were not sent in %s', async (code, counted) => {
    const { manyFailed } = await loadStrings(code)
    expect([1, 2].map(manyFailed)).toEqual(counted)
  })

  it('finds the texts of a region, of the language of another region, and Chinese by any of its codes', async () => {
    const found = [['fr-CA'], ['fr-BE'], ['pt-BR'], ['pt-PT'], ['zh-CN'], ['zh'], ['zh-Hans-SG'], ['nb', 'sv-FI']].map(
      findLanguage,
    )
    expect(found).toEqual(['fr-ca', 'fr', 'pt-br', 'pt', 'zh-cn', 'zh-cn', 'zh-cn', 'sv'])
    expect(consentStrings(['fr-CA'])).toEqual(consentStrings(['fr']))
    expect(consentStrings(['pt-BR'])).not.toEqual(consentStrings(['pt']))
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
