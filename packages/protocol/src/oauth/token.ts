import { optional, type Reader, readFilledText, readNumber, readRecord, readText } from '../reading.ts'

/** Answer of a token endpoint. */
export interface TokenResponse {
  /** The access token. */
  access_token: string
  /** Kind of token. Missing reads as `Bearer`. */
  token_type: string
  /** Lifetime in seconds. */
  expires_in?: number | null
  /** Granted scopes, with blanks between them. */
  scope?: string | null
}

/** @throws {ProtocolError} when the value has no access token, or a field has the wrong type */
export const parseTokenResponse: Reader<TokenResponse> = (value, path) =>
  readRecord<TokenResponse>(value, path, {
    access_token: readFilledText,
    token_type: (type = 'Bearer', at) => readText(type, at),
    expires_in: optional(readNumber),
    scope: optional(readText),
  })

/**
 * The credentials of the anonymous token request: literally these words. The gateway in front of the token endpoint
 * replaces them with the real ones.
 */
export const ANONYMOUS_CLIENT = { id: 'clientId', secret: 'clientSecret' } as const
