import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { defaultScopes, hostScopes, prefixScopes, resolveScopes, scopeFingerprint } from './scopes.ts'

const DEFAULTS = ['knowledge.portalmgr.manage', 'core.aiservices.read']
const CUSTOMER = 'core.customermgr.read'

describe('resolveScopes', () => {
  it.each<[string, Parameters<typeof resolveScopes>[0], readonly string[]]>([
    ['the defaults', { agent: { userType: 'agent' } }, DEFAULTS],
    ['the customer’s scope after them', { agent: { userType: 'customer' } }, [...DEFAULTS, CUSTOMER]],
    [
      'extras as a list, without duplicates',
      { agent: { extraScopes: ['x', 'core.aiservices.read', 'x'] } },
      [...DEFAULTS, 'x'],
    ],
    ['extras as text', { agent: { extraScopes: ' x, y z,, x' } }, [...DEFAULTS, 'x', 'y', 'z']],
    ['the platform’s list instead of the defaults', { platformScopes: ['p', 'q'], agent: {} }, ['p', 'q']],
    ['the defaults where the platform adds none', { platformScopes: [], agent: {} }, DEFAULTS],
    [
      'the platform’s, the customer’s, the agent’s',
      { platformScopes: ['p'], agent: { userType: 'customer', extraScopes: ['x'] } },
      ['p', CUSTOMER, 'x'],
    ],
    [
      'the platform’s position of the customer scope',
      { platformScopes: [CUSTOMER, 'p'], agent: { userType: 'customer' } },
      [CUSTOMER, 'p'],
    ],
  ])('[AUTH-10] [AUTH-11] gives %s', (_case, facts, expected) => {
    expect(resolveScopes(facts)).toEqual(expected)
  })

  it('[AUTH-10] starts a connector’s list from the defaults of that agent', () => {
    const platformScopes = [...defaultScopes({ userType: 'customer' }), 'p']
    expect(resolveScopes({ platformScopes, agent: { userType: 'customer' } })).toEqual([...DEFAULTS, CUSTOMER, 'p'])
  })

  it('does not change its arguments', () => {
    const given = Object.freeze(['p'])
    resolveScopes({ platformScopes: given, agent: {} })
    hostScopes(given, null)
    expect(given).toEqual(['p'])
  })
})

describe('hostScopes', () => {
  it.each<[string, readonly string[] | undefined, string, readonly string[]]>([
    ['those of initParams, in order', undefined, ' b, a ,,', ['b', 'a']],
    ['a duplicate too', undefined, 'a,a', ['a', 'a']],
    ['those of the login rather than those of initParams', ['h'], 'a', ['h']],
    ['those of initParams where the login has none', [], 'a', ['a']],
  ])('[AUTH-09] [INIT-06] uses the host’s exactly as given: %s', (_case, ofLogin, ofInitParams, expected) => {
    expect(hostScopes(ofLogin, ofInitParams)).toEqual(expected)
  })

  it.each([[''], [' , '], [null], [undefined]])('[INIT-06] treats %j as no host scopes', ofInitParams => {
    expect(hostScopes([' '], ofInitParams)).toBeUndefined()
  })
})

describe('prefixScopes', () => {
  it.each([
    ['core.read', 'api://x/core.read'],
    ['api://x/core.read', 'api://x/core.read'],
    ['https://other/scope', 'https://other/scope'],
    ['openid', 'openid'],
    ['profile', 'profile'],
    ['offline_access', 'offline_access'],
  ])('turns %s into %s', (scope, expected) => {
    expect(prefixScopes([scope], 'api://x/')).toEqual([expected])
  })

  it('keeps scopes that begin with the prefix, but not those that end with it', () => {
    expect(prefixScopes(['acme/read', 'read.acme/'], 'acme/')).toEqual(['acme/read', 'acme/read.acme/'])
  })

  it('returns the scopes unchanged without a prefix', () => {
    expect(prefixScopes(['a', 'b'], '')).toEqual(['a', 'b'])
  })
})

describe('scopeFingerprint', () => {
  it('is the same for the same set, regardless of order, repetitions and blanks', () => {
    const scope = fc.stringMatching(/^[a-z.]{1,8}$/)
    fc.assert(
      fc.property(fc.array(scope), scopes => {
        const shuffled = [...scopes].reverse().flatMap(each => [` ${each} `, each, ''])
        expect(scopeFingerprint(shuffled)).toBe(scopeFingerprint(scopes))
      }),
    )
  })

  it('differs for a larger set', () => {
    expect(scopeFingerprint(['a', 'b'])).not.toBe(scopeFingerprint(['a']))
    expect(scopeFingerprint(['a', 'b'])).not.toBe(scopeFingerprint(['ab']))
    expect(scopeFingerprint([])).toBe('811c9dc5')
  })
})
