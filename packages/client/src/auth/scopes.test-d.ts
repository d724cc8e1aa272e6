import { assertType, describe, expectTypeOf, it } from 'vitest'
import { resolveScopes, type ScopeFacts } from '../pkce.ts'

describe('the types of scopes', () => {
  it('ScopeFacts: the agent, and optionally the scopes of the host and the platform', () => {
    assertType<ScopeFacts>({ agent: {} })
    assertType<ScopeFacts>({ agent: { extraScopes: 'a b' }, hostScopes: ['a'], initParamsScopes: null })
    // @ts-expect-error The scopes of the host are a list.
    assertType<ScopeFacts>({ agent: {}, hostScopes: 'a' })
    expectTypeOf(resolveScopes).parameters.toEqualTypeOf<[ScopeFacts]>()
  })
})
