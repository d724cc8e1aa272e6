import { compactVerify, SignJWT } from 'jose'
import type { Clock } from '../clock.ts'
import type { Random } from '../random.ts'

/** A token whose signature holds, reduced to what the service decides on. */
export interface VerifiedToken {
  readonly subject: string
  readonly scopes: readonly string[]
  /** Place in the order of issue. */
  readonly serial: number
  /** End of life, in seconds since the epoch. */
  readonly exp: number
}

export interface TokenRequest {
  lifeSeconds: number
  scopes: readonly string[]
  subject: string
}

/** Subject of tokens that anybody gets. */
export const ANONYMOUS_SUBJECT = 'anonymous'

/** What every token of this issuer says of itself. */
interface ServiceClaims {
  sub: string
  aud: string
  scope: string
  exp: number
  jti: string
}

const VERIFIED_LIMIT = 1000

/**
 * Issues the access tokens and judges them.
 *
 * Signed with HS256 and a secret made from the seed: the issuer is the only one who verifies, and unlike the
 * signatures of an asymmetric key, these are the same in every run, byte by byte.
 */
export class TokenKeys {
  readonly #clock: Clock
  readonly #audience: string
  readonly #secret: Uint8Array<ArrayBuffer>
  #key: Promise<CryptoKey> | undefined
  #serial = 0
  /** Tokens up to a serial end at the given second at the latest, whatever they say. */
  readonly #cuts: { serial: number; exp: number }[] = []
  /** A signature needs one check only. Holds the newest tokens, so that a bench with one token pays once. */
  readonly #verified = new Map<string, VerifiedToken>()

  constructor(clock: Clock, random: Random, audience: string) {
    this.#clock = clock
    this.#audience = audience
    this.#secret = random.bytes(32)
  }

  async issue({ lifeSeconds, scopes, subject }: TokenRequest): Promise<string> {
    const now = Math.floor(this.#clock.now() / 1000)
    const serial = ++this.#serial
    return new SignJWT({ scope: scopes.join(' ') })
      .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
      .setSubject(subject)
      .setAudience(this.#audience)
      .setIssuedAt(now)
      .setExpirationTime(now + lifeSeconds)
      .setJti(String(serial))
      .sign(await this.#importedKey())
  }

  /** The token when its signature and audience are right, whether or not its life is over; else undefined. */
  async verify(token: string): Promise<VerifiedToken | undefined> {
    const known = this.#verified.get(token)
    if (known) return known
    const verified = await this.#check(token)
    if (!verified) return undefined
    if (this.#verified.size >= VERIFIED_LIMIT) {
      const oldest = this.#verified.keys().next()
      if (!oldest.done) this.#verified.delete(oldest.value)
    }
    this.#verified.set(token, verified)
    return verified
  }

  /** Seconds of life that are left; zero or less when the token has expired. */
  secondsLeft(token: VerifiedToken): number {
    let exp = token.exp
    for (const cut of this.#cuts) if (token.serial <= cut.serial) exp = Math.min(exp, cut.exp)
    return exp - this.#clock.now() / 1000
  }

  /** Ends the life of all tokens issued so far, now or in the given number of seconds. */
  expireAll(secondsLeft: number): void {
    this.#cuts.push({ serial: this.#serial, exp: this.#clock.now() / 1000 + secondsLeft })
  }

  async #check(token: string): Promise<VerifiedToken | undefined> {
    try {
      const { payload } = await compactVerify(token, await this.#importedKey(), { algorithms: ['HS256'] })
      // Whatever carries this signature was written by issue() above.
      const claims = JSON.parse(new TextDecoder().decode(payload)) as ServiceClaims
      if (claims.aud !== this.#audience) return undefined
      const { sub: subject, scope, exp, jti } = claims
      return { subject, scopes: scope.split(' ').filter(Boolean), exp, serial: Number(jti) }
    } catch {
      return undefined
    }
  }

  #importedKey(): Promise<CryptoKey> {
    this.#key ??= crypto.subtle.importKey('raw', this.#secret, { name: 'HMAC', hash: 'SHA-256' }, false, [
      'sign',
      'verify',
    ])
    return this.#key
  }
}
