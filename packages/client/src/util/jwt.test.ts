import { describe, expect, it } from 'vitest'
import { fakeToken } from '../../test/fake-service.ts'
import { subjectFingerprint, subjectOf } from './jwt.ts'

const DIGITS = /^[0-9a-f]{32}$/
const ADA = fakeToken({ iss: 'https://login.test', sub: 'ada' })

describe('subjectFingerprint()', () => {
  it.each([
    ['the object id where there is no subject', fakeToken({ iss: 'https://login.test', oid: 'ada' })],
    ['the object id where the subject is empty', fakeToken({ iss: 'https://login.test', sub: '', oid: 'ada' })],
    ['the subject after a renewal', fakeToken({ iss: 'https://login.test', sub: 'ada', oid: 'x', exp: 2 })],
  ])('identifies a user by %s', (_case, token) => {
    expect(subjectFingerprint(token)).toBe(subjectFingerprint(ADA))
    expect(subjectFingerprint(token)).toMatch(DIGITS)
  })

  it.each([
    ['opaque', 'opaque-token'],
    ['without a readable payload', 'a.%%%.c'],
    ['with a payload that is not an object', `a.${btoa('null')}.c`],
    ['without a subject', fakeToken({ exp: 1 })],
    ['with a numeric subject', fakeToken({ sub: 5 })],
  ])('is a hash of the whole token when it is %s', (_case, token) => {
    expect(subjectOf(token)).toBeUndefined()
    expect(subjectFingerprint(token)).toMatch(DIGITS)
    expect(subjectFingerprint(token)).not.toBe(subjectFingerprint(`${token} `))
  })

  it('[SEC-71] distinguishes users also by half of a surrogate pair, and never throws', () => {
    const subjects = ['\ud83d', '\ud83e', '\ude00', '\ufffd', '\ud83d\ude00', '%ud83d', 'a\ud83d', '\ud83da']
    const users = subjects.flatMap(sub => [
      fakeToken({ iss: 'https://login.test', sub }),
      fakeToken({ iss: sub, sub: 'ada' }),
    ])
    expect(new Set(users.map(subjectOf)).size).toBe(users.length)
    expect(new Set(users.map(subjectFingerprint)).size).toBe(users.length)
  })

  it('[SEC-01] distinguishes users with one subject of two issuers, and claims that join to the same text', () => {
    const users = [
      { sub: '1001', iss: 'https://staff.test' },
      { sub: '1001', iss: 'https://customers.test' },
      { sub: '1001' },
      { sub: 'b|c', iss: 'a' },
      { sub: 'c', iss: 'a|b' },
      { sub: 'Zoë' },
    ]
    expect(new Set(users.map(claims => subjectFingerprint(fakeToken(claims)))).size).toBe(users.length)
  })

  it('[SEC-01] distinguishes subjects that were computed to collide in the hash that was used before', () => {
    const [first, second] = ['1254d58b59210dc5', '1dcdbabf33f69e81'].map(sub => subjectFingerprint(fakeToken({ sub })))
    expect(first).not.toBe(second)
  })
})
