/** What can be read of an access token. Nothing is verified: that is the service's part. */
export interface ReadToken {
  /** `opaque`: its text means something to who issued it, and to nobody else. */
  form: 'jwt' | 'opaque'
  /** How it is signed, by its own word. */
  algorithm?: string
  claims: Readonly<Record<string, unknown>>
}

/** Reads header and claims of a token; the signature is left alone. It never throws. */
export function readToken(token: string): ReadToken {
  const parts = token.split('.')
  const [header, claims] = parts.slice(0, 2).map(readObject)
  // Five parts are an encrypted token, whose second one is a key.
  if (parts.length !== 3 || !header || !claims) return { form: 'opaque', claims: {} }
  return { form: 'jwt', ...(typeof header.alg === 'string' && { algorithm: header.alg }), claims }
}

/** The scopes that a token names: text split on blanks, or a list, under either name that is in use. */
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
