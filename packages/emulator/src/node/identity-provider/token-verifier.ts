import { type KeyObject, verify as verifySignature } from 'node:crypto'
import type { TokenVerifier, VerifiedToken } from '../../oauth/keys.ts'
import { loginIssuerPath } from '../../oauth/login-addresses.ts'
import type { LoginParts } from './configuration.ts'

/** Recognizes the access tokens of one login. */
export function createTokenVerifier({ origin, state, tenant, userType, world }: LoginParts): TokenVerifier {
  const issuer = origin + loginIssuerPath(tenant, userType)
  return text => {
    const token = readToken(text, issuer, world.tenant.id, state.publicKey)
    return token && { ...token, tenantId: tenant.id }
  }
}

/**
 * The token when this login signed it. At once and in this thread, unlike the platform's promises: the order of events
 * on a chat must not depend on a signature.
 */
function readToken(
  token: string,
  issuer: string,
  audience: string,
  key: KeyObject,
): Omit<VerifiedToken, 'tenantId'> | undefined {
  const [header, payload, signature, more] = token.split('.')
  if (!header || !payload || !signature || more !== undefined) return undefined
  const data = Buffer.from(`${header}.${payload}`)
  const proof = Buffer.from(signature, 'base64url')
  if (!verifySignature('sha256', data, { key, dsaEncoding: 'ieee-p1363' }, proof)) return undefined
  // Whatever carries this signature was written by the provider: an access token, or an id token, which is for clients.
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Record<string, unknown>
  const { iss, aud, sub, scope, exp, serial } = claims
  if (iss !== issuer || aud !== audience || typeof sub !== 'string' || typeof serial !== 'number') return undefined
  return {
    subject: sub,
    scopes: String(scope ?? '')
      .split(' ')
      .filter(Boolean),
    serial,
    exp: Number(exp),
  }
}
