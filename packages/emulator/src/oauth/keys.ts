import { hmac } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { base64url } from 'jose'
import type { Clock } from '../clock.ts'
import type { Random } from '../random.ts'
import { ServiceState, type TokenCut } from '../state/service-state.ts'

/** A token whose signature holds, reduced to what the service decides on. */
export interface VerifiedToken {
  readonly subject: string
  readonly scopes: readonly string[]
  /** Place in the order of issue. */
  readonly serial: number
  /** End of life, in seconds since the epoch. */
  readonly exp: number
}

/** The token when another issuer that counts here made it, whether or not its life is over; else undefined. */
export type TokenVerifier = (token: string) => VerifiedToken | undefined

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
  iat: number
  exp: number
  jti: string
}

const HEADER = base64url.encode(JSON.stringify({ alg: 'HS256', typ: 'JWT' }))
const VERIFIED_LIMIT = 1000

/**
 * Issues the access tokens and judges them.
 *
 * Signed with HS256 and a secret made from the seed: the issuer is the only one who verifies, and unlike the
 * signatures of an asymmetric key, these are the same in every run, byte by byte. The platform's own HMAC works in
 * another thread and comes back at a moment that no clock and no seed decide; a synchronous one keeps its place in the
 * order of events.
 */
export class TokenKeys {
  readonly #clock: Clock
  readonly #audience: string
  readonly #secret: Uint8Array
  readonly #others: TokenVerifier[] = []
  #serial = 0
  readonly #cuts: TokenCut[]
  readonly #state: ServiceState
  /** A signature needs one check only. Holds the newest tokens, so that a bench with one token pays once. */
  readonly #verified = new Map<string, VerifiedToken>()

  constructor(clock: Clock, random: Random, audience: string, state = new ServiceState(undefined)) {
    this.#clock = clock
    this.#audience = audience
    this.#state = state
    this.#secret = state.takeSecret(random)
    this.#serial = state.serial
    this.#cuts = [...state.cuts]
  }

  issue({ lifeSeconds, scopes, subject }: TokenRequest): string {
    const now = Math.floor(this.#clock.now() / 1000)
    const claims: ServiceClaims = {
      scope: scopes.join(' '),
      sub: subject,
      aud: this.#audience,
      iat: now,
      exp: now + lifeSeconds,
      jti: String(this.nextSerial()),
    }
    const signed = `${HEADER}.${base64url.encode(JSON.stringify(claims))}`
    return `${signed}.${this.#sign(signed)}`
  }

  /** The next place in the order of issue. */
  nextSerial(): number {
    return ++this.#serial
  }

  /** Lets the tokens of another issuer count. */
  admit(verify: TokenVerifier): void {
    this.#others.push(verify)
  }

  /** The token when its signature and audience are right, whether or not its life is over; else undefined. */
  verify(token: string): VerifiedToken | undefined {
    const known = this.#verified.get(token)
    if (known) return known
    const verified = this.#check(token) ?? this.#checkOthers(token)
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
    this.#state.keepCuts(this.#cuts)
  }

  #check(token: string): VerifiedToken | undefined {
    const [header, payload, signature, more] = token.split('.')
    // The header is the only one ever issued, so there is no algorithm to choose and none to be talked into.
    if (header !== HEADER || payload === undefined || more !== undefined) return undefined
    if (signature !== this.#sign(`${header}.${payload}`)) return undefined
    // Whatever carries this signature was written by issue() above.
    const claims = JSON.parse(new TextDecoder().decode(base64url.decode(payload))) as ServiceClaims
    if (claims.aud !== this.#audience) return undefined
    const { sub: subject, scope, exp, jti } = claims
    return { subject, scopes: scope.split(' ').filter(Boolean), exp, serial: Number(jti) }
  }

  #checkOthers(token: string): VerifiedToken | undefined {
    for (const verify of this.#others) {
      const verified = verify(token)
      if (verified) return verified
    }
    return undefined
  }

  #sign(text: string): string {
    return base64url.encode(hmac(sha256, this.#secret, new TextEncoder().encode(text)))
  }
}
