import { describe, expect, it } from 'vitest'
import { describeToken, formatDuration, reportToken } from './token-report.ts'

const NOW = Date.UTC(2026, 10, 21, 12)
const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
const jwt = (claims: unknown, header: unknown = { alg: 'RS256' }) => `${part(header)}.${part(claims)}.c2ln-sentinel`
const given = { source: 'given' } as const
const describeText = (token: string) => describeToken(reportToken(token, given, NOW)).join('\n')

describe('reportToken', () => {
  it('shows claims, scopes and the remaining lifetime', () => {
    const claims = { sub: 'customer', scope: 'a  b', exp: NOW / 1000 + 3600 }
    expect(reportToken(jwt(claims), { source: 'anonymous', from: 'a.test' }, NOW)).toEqual({
      source: 'anonymous',
      from: 'a.test',
      form: 'jwt',
      algorithm: 'RS256',
      claims,
      scopes: ['a', 'b'],
      expiresAt: '2026-11-21T13:00:00.000Z',
      remainingSeconds: 3600,
    })
  })

  it.each([
    [{ scope: ['a', 7, 'b'] }, ['a', 'b']],
    [{ scp: 'a b' }, ['a', 'b']],
    [{ scope: 7 }, []],
    [{}, []],
  ])('finds the scopes in %j', (claims, scopes) => {
    expect(reportToken(jwt(claims), given, NOW).scopes).toEqual(scopes)
  })

  it.each([
    ['an opaque token', 'abc'],
    ['three parts that are not JSON', 'a.b.c'],
    ['claims that are not an object', `${part({})}.${part([1])}.x`],
    ['an encrypted token', `${part({ alg: 'dir' })}.${part({})}.c.d.e`],
    ['a token without a signature part', `${part({})}.${part({})}`],
    ['nothing', ''],
  ])('reads nothing in %s', (_what, token) => {
    expect(reportToken(token, given, NOW)).toEqual({
      source: 'given',
      form: 'opaque',
      claims: {},
      scopes: [],
      expiresAt: null,
      remainingSeconds: null,
    })
  })

  it.each(['1790003600', Infinity, null, 1e300])('knows no expiry where exp is %j', exp => {
    expect(reportToken(jwt({ exp }), given, NOW).expiresAt).toBeNull()
  })
})

describe('describeToken', () => {
  it('says it in plain words', () => {
    const claims = { sub: 'customer', exp: NOW / 1000 + 5400, scope: 'a b', groups: ['x'] }
    expect(describeText(jwt(claims))).toBe(
      [
        'The given token.',
        'It is valid for another 1 h 30 min, until 2026-11-21 13:30:00 UTC.',
        'Scopes:',
        '  a',
        '  b',
        'Claims:',
        '  sub     customer',
        '  exp     1795267800 (2026-11-21 13:30:00 UTC)',
        '  scope   a b',
        '  groups  ["x"]',
        'Signed with RS256; the signature is not verified and not shown.',
      ].join('\n'),
    )
  })

  it.each<[string, Record<string, unknown>, RegExp]>([
    ['is over', { exp: NOW / 1000 - 90 }, /^It expired 1 min 30 s ago, at 2026-11-21 11:58:30 UTC\.$/m],
    ['is too short for a session', { exp: NOW / 1000 + 289 }, /another 4 min 49 s, .* too short to open a session/],
    ['is just enough', { exp: NOW / 1000 + 290 }, /another 4 min 50 s, until [^.]*\.$/m],
    ['has no end', {}, /^The token has no expiry\.$/m],
    ['has no scope', {}, /^Scopes: none\.$/m],
  ])('says that a token %s', (_what, claims, text) => {
    expect(describeText(jwt(claims))).toMatch(text)
  })

  it('shows nothing that could move the cursor', () => {
    const text = describeText(
      jwt({ 'a\u001b[2Jb': 'c\u001b]0;x\u0007\nd', scope: 'e\u001b[1mf' }, { alg: '\u001b[0m' }),
    )
    expect(text).not.toContain('\u001b')
    expect(text).toContain('  ab     c')
  })

  it('never shows the token or its signature, in words or as JSON', () => {
    for (const token of [jwt({ sub: 'x' }), 'opaque-sentinel', 'a.b.sentinel']) {
      const report = reportToken(token, given, NOW)
      const shown = describeToken(report).join('\n') + JSON.stringify(report)
      expect(shown).not.toContain('sentinel')
      for (const each of token.split('.').filter(piece => piece.length > 1)) expect(shown).not.toContain(each)
    }
  })
})

describe('formatDuration', () => {
  it.each([
    [0, '0 s'],
    [59, '59 s'],
    [60, '1 min'],
    [3599, '59 min 59 s'],
    [3600, '1 h'],
    [90_061, '1 d 1 h'],
    [86_401, '1 d 1 s'],
  ])('%i s are %s', (seconds, text) => {
    expect(formatDuration(seconds)).toBe(text)
  })
})
