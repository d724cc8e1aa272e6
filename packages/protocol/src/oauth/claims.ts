import { ifPresent, type Reader, readFinite, readNumber, readRecord, readText, readTextOrTexts } from '../reading.ts'

/** Claims of an access token, as far as they are read. Nothing verifies the token: that is the service's part. */
export interface AccessTokenClaims {
  /** Expiry, in seconds since the epoch. */
  exp?: number
  /** Issue time, in seconds since the epoch. */
  iat?: number
  /** Issuer. Together with `sub` it identifies the user. */
  iss?: string
  /** Subject: the user within the issuer. */
  sub?: string
  /** Id of the user that some providers send beside `sub`. */
  oid?: string
  /** Granted scopes, as a list or as text with blanks between them. */
  scope?: string | string[]
  /** Address to open for a logout where the provider has no end-session endpoint. */
  logout?: string
}

/** @throws {ProtocolError} when the value is not an object, or a claim has the wrong type */
export const parseAccessTokenClaims: Reader<AccessTokenClaims> = (value, path) => {
  const text = ifPresent(readText)
  return readRecord<AccessTokenClaims>(value, path, {
    exp: ifPresent(readFinite),
    iat: ifPresent(readNumber),
    iss: text,
    sub: text,
    oid: text,
    scope: ifPresent(readTextOrTexts),
    logout: text,
  })
}
