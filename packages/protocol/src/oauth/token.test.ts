import { describe, expect, it } from 'vitest'
import rest from '../../fixtures/rest.json' with { type: 'json' }
import { ProtocolError } from '../protocol-error.ts'
import { parseAccessTokenClaims } from './claims.ts'
import { parseOAuthMetadata, TENANT_PLACEHOLDER } from './metadata.ts'
import { DEFAULT_SCOPES } from './scopes.ts'
import { ANONYMOUS_CLIENT, parseTokenResponse } from './token.ts'

describe('parseTokenResponse', () => {
  it('reads a missing token_type as Bearer', () => {
    expect(parseTokenResponse({ access_token: 't', expires_in: 60 })).toEqual({
      access_token: 't',
      token_type: 'Bearer',
      expires_in: 60,
    })
  })

  it.each([
    [{}],
    [{ access_token: '' }],
    [{ access_token: null }],
    [{ error: 'invalid_client' }],
    [{ access_token: 't', expires_in: '60' }],
  ])('refuses %j', value => {
    expect(() => parseTokenResponse(value)).toThrow(ProtocolError)
  })
})

describe('parseOAuthMetadata', () => {
  it.each([
    {},
    { authenticationDetails: null },
    { authenticationDetails: {} },
    { authenticationDetails: { oAuthAnonymousCustomer: [] } },
    { authenticationDetails: { oAuthAnonymousCustomer: [{}] }, apiMetadata: { CORE: null } },
  ])('reads metadata with levels missing, for the strategy to say which: %j', value => {
    expect(parseOAuthMetadata(value)).toEqual(value)
  })
})

describe('parseAccessTokenClaims', () => {
  it.each([
    [{}, true],
    [{ exp: 1790003600, scope: ['a', 'b'] }, true],
    [{ exp: '1790003600' }, false],
    [{ exp: Infinity }, false],
  ])('reads %j: %s', (claims, fits) => {
    const read = () => parseAccessTokenClaims(claims)
    if (fits) expect(read()).toEqual(claims)
    else expect(read).toThrow(ProtocolError)
  })
})

describe('the anonymous token request', () => {
  it('has the literal credentials and the default scopes', () => {
    const { client_id, client_secret, scope } = rest.anonymousTokenRequest
    expect({ id: client_id, secret: client_secret }).toEqual(ANONYMOUS_CLIENT)
    const prefix = rest.oauthMetadata.authenticationDetails.apiPermissionPrefix
    expect(scope).toBe(DEFAULT_SCOPES.map(name => prefix + name).join(' '))
  })

  it('goes to an address that holds the tenant placeholder', () => {
    expect(rest.oauthMetadata.authenticationDetails.oAuthAnonymousCustomer[0]?.accessTokenURL).toContain(
      TENANT_PLACEHOLDER,
    )
  })
})
