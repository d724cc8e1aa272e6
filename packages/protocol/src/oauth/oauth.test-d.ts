import { assertType, describe, expectTypeOf, it } from 'vitest'
import type { AccessTokenClaims, OAuthMetadata, TokenResponse } from '../index.ts'

describe('records of a login', () => {
  it('AccessTokenClaims: what is read of a token', () => {
    assertType<AccessTokenClaims>({ exp: 1_800_000_000, scope: ['a.b'] })
    // @ts-expect-error an expiry is a number of seconds
    assertType<AccessTokenClaims>({ exp: '2026-01-01' })
  })

  it('OAuthMetadata: addresses, each of which may be missing', () => {
    assertType<OAuthMetadata>({ authenticationDetails: { oAuthUser: [{ authURL: 'https://login.example.test' }] } })
    // @ts-expect-error addresses stand in a list
    assertType<OAuthMetadata>({ authenticationDetails: { oAuthUser: { authURL: 'https://login.example.test' } } })
  })

  it('TokenResponse: a token, whose kind is known', () => {
    assertType<TokenResponse>({ access_token: 'secret', token_type: 'Bearer', expires_in: 3600 })
    expectTypeOf<TokenResponse['token_type']>().toBeString()
    // @ts-expect-error the token is missing
    assertType<TokenResponse>({ token_type: 'Bearer' })
  })
})
