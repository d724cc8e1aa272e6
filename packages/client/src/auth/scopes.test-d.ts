import { assertType, describe, expectTypeOf, it } from 'vitest'
import { resolveScopes, type ScopeFacts } from '../pkce.ts'

describe('the types of scopes', () => {
  it('ScopeFacts requires the agent; scopes of the platform are optional', () => {
    assertType<ScopeFacts>({ agent: {} })
    assertType<ScopeFacts>({ agent: { extraScopes: 'a b' }, platformScopes: ['a'] })
    // @ts-expect-error the platform's scopes are a list
    assertType<ScopeFacts>({ agent: {}, platformScopes: 'a' })
    expectTypeOf(resolveScopes).parameters.toEqualTypeOf<[ScopeFacts]>()
  })
})
