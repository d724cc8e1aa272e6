/** The readable parts of an access token, not verified. */
export interface ReadToken {
  /** `opaque`: only the issuer can read it. */
  form: 'jwt' | 'opaque'
  /** The algorithm in the header of the token. */
  algorithm?: string
  claims: Readonly<Record<string, unknown>>
}

/** Reads header and claims of a token without verifying it. Does not throw. */
export function readToken(token: string): ReadToken {
  const parts = token.split('.')
  const [header, claims] = parts.slice(0, 2).map(readObject)
  // Five parts are an encrypted token. Its second part is a key.
  if (parts.length !== 3 || !header || !claims) return { form: 'opaque', claims: {} }
  return { form: 'jwt', ...(typeof header.alg === 'string' && { algorithm: header.alg }), claims }
}

/** The scopes in the claim `scope` or `scp`: text separated by blanks, or a list. */
export function scopesIn({ scope, scp }: Readonly<Record<string, unknown>>): string[] {
  const given = scope ?? scp
  if (typeof given === 'string') return given.split(/\s+/).filter(Boolean)
  return Array.isArray(given) ? given.filter(each => typeof each === 'string') : []
}

function readObject(part: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString())
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined
  } catch {
    return undefined
  }
}
