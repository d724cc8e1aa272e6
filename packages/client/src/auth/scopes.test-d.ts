import { assertType, describe, expectTypeOf, it } from 'vitest'
import { resolveScopes, type ScopeFacts } from '../pkce.ts'

describe('the types of scopes', () => {
  it('ScopeFacts requires the agent; scopes of host and platform are optional', () => {
    assertType<ScopeFacts>({ agent: {} })
    assertType<ScopeFacts>({ agent: { extraScopes: 'a b' }, hostScopes: ['a'], initParamsScopes: null })
    // @ts-expect-error the host's scopes are a list
    assertType<ScopeFacts>({ agent: {}, hostScopes: 'a' })
    expectTypeOf(resolveScopes).parameters.toEqualTypeOf<[ScopeFacts]>()
  })
})
