import { describe, expect, it } from 'vitest'
import { fakeToken } from '../../test/fake-service.ts'
import { fnv1a } from './fnv1a.ts'
import { subjectFingerprint } from './subject-fingerprint.ts'

const SIXTEEN_DIGITS = /^[0-9a-f]{16}$/

describe('subjectFingerprint', () => {
  it.each([
    ['the subject', fakeToken({ sub: 'ada', oid: 'x', exp: 1 }), 'ada'],
    ['the object id where there is no subject', fakeToken({ oid: 'ada' }), 'ada'],
    ['the object id where the subject is empty', fakeToken({ sub: '', oid: 'ada' }), 'ada'],
    ['text beyond ASCII', fakeToken({ sub: 'Zoë' }), 'Zoë'],
  ])('is that of %s', (_case, token, subject) => {
    expect(subjectFingerprint(token)).toBe(subjectFingerprint(subject))
    expect(subjectFingerprint(token)).toMatch(SIXTEEN_DIGITS)
  })

  it.each([
    ['opaque', 'opaque-token'],
    ['without a readable payload', 'a.%%%.c'],
    ['with a payload that is no object', `a.${btoa('null')}.c`],
    ['without a subject', fakeToken({ exp: 1 })],
    ['with a subject that is no text', fakeToken({ sub: 5 })],
  ])('is that of the whole token when it is %s', (_case, token) => {
    expect(subjectFingerprint(token)).toMatch(SIXTEEN_DIGITS)
    expect(subjectFingerprint(token)).not.toBe(subjectFingerprint(`${token} `))
  })

  it('stays the same over renewals and differs between people', () => {
    expect(subjectFingerprint(fakeToken({ sub: 'ada', exp: 1 }))).toBe(
      subjectFingerprint(fakeToken({ sub: 'ada', exp: 2 })),
    )
    expect(subjectFingerprint(fakeToken({ sub: 'ada' }))).not.toBe(subjectFingerprint(fakeToken({ sub: 'bob' })))
  })

  it('tells people apart whose subjects meet in one of its two hashes', () => {
    // A known pair of the 32-bit hash.
    expect(fnv1a('costarring')).toBe(fnv1a('liquid'))
    expect(subjectFingerprint(fakeToken({ sub: 'costarring' }))).not.toBe(
      subjectFingerprint(fakeToken({ sub: 'liquid' })),
    )
  })
})
