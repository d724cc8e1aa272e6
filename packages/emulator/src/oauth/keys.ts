import { hmac } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { base64url } from 'jose'
import type { Clock } from '../clock.ts'
import type { Random } from '../random.ts'
import { ServiceState, type TokenCut } from '../state/service-state.ts'

/** A token with a valid signature, reduced to the claims that the service uses. */
export interface VerifiedToken {
  /** Subject of the token: the id of a user or of a client. */
  readonly subject: string
  /** Id of the tenant that the token is for. */
  readonly tenantId: string
  /** Granted scopes, without the tenant's prefix. */
  readonly scopes: readonly string[]
  /** Serial number of the token. */
  readonly serial: number
  /** Expiry, in seconds since the epoch. */
  readonly exp: number
}

/** The token if another accepted issuer created it, expired or not; otherwise undefined. */
export type TokenVerifier = (token: string) => VerifiedToken | undefined

export interface TokenRequest {
  lifeSeconds: number
  scopes: readonly string[]
  subject: string
  /** Id of the tenant that the token is for. By default that of the subject. */
  tenantId: string
}

/** Subject of anonymous tokens. */
export const ANONYMOUS_SUBJECT = 'anonymous'

/** Claims of every token of this issuer. */
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
 * Issues and verifies the access tokens.
 *
 * Signed with HS256 and a secret derived from the seed. The issuer is the only verifier, and unlike asymmetric
 * signatures these are the same in every run. The platform's own HMAC is asynchronous, and its completion depends on
 * neither clock nor seed; a synchronous one keeps the order of events.
 */
export class TokenKeys {
  readonly #clock: Clock
  readonly #tenantIds: readonly string[]
  readonly #secret: Uint8Array
  readonly #others: TokenVerifier[] = []
  #serial = 0
  readonly #cuts: TokenCut[]
  readonly #state: ServiceState
  /**
   * Each signature is verified once. Contains the newest tokens, so that a benchmark with one token verifies it once.
   */
  readonly #verified = new Map<string, VerifiedToken>()

  constructor(clock: Clock, random: Random, tenantIds: readonly string[], state = new ServiceState(undefined)) {
    this.#clock = clock
    this.#tenantIds = tenantIds
    this.#state = state
    this.#secret = state.takeSecret(random)
    this.#serial = state.serial
    this.#cuts = [...state.cuts]
  }

  issue({ lifeSeconds, scopes, subject, tenantId }: TokenRequest): string {
    const now = Math.floor(this.#clock.now() / 1000)
    const claims: ServiceClaims = {
      scope: scopes.join(' '),
      sub: subject,
      aud: tenantId,
      iat: now,
      exp: now + lifeSeconds,
      jti: String(this.nextSerial()),
    }
    const signed = `${HEADER}.${base64url.encode(JSON.stringify(claims))}`
    return `${signed}.${this.#sign(signed)}`
  }

  /** The next serial number. */
  nextSerial(): number {
    return ++this.#serial
  }

  /** Accepts the tokens of another issuer. */
  admit(verify: TokenVerifier): void {
    this.#others.push(verify)
  }

  /** The token if its signature and audience are valid, expired or not; otherwise undefined. */
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

  /** Seconds until the expiry; zero or less for an expired token. */
  secondsLeft(token: VerifiedToken): number {
    let exp = token.exp
    for (const cut of this.#cuts) if (token.serial <= cut.serial) exp = Math.min(exp, cut.exp)
    return exp - this.#clock.now() / 1000
  }

  /** Expires all tokens issued so far, now or after the given number of seconds. */
  expireAll(secondsLeft: number): void {
    this.#cuts.push({ serial: this.#serial, exp: this.#clock.now() / 1000 + secondsLeft })
    this.#state.keepCuts(this.#cuts)
  }

  #check(token: string): VerifiedToken | undefined {
    const [header, payload, signature, more] = token.split('.')
    // Only this header is ever issued, so there is no algorithm to choose, and none for an attacker to select.
    if (header !== HEADER || payload === undefined || more !== undefined) return undefined
    if (signature !== this.#sign(`${header}.${payload}`)) return undefined
    // A valid signature proves that issue() above wrote it.
    const claims = JSON.parse(new TextDecoder().decode(base64url.decode(payload))) as ServiceClaims
    const { sub: subject, aud: tenantId, scope, exp, jti } = claims
    if (!this.#tenantIds.includes(tenantId)) return undefined
    return { subject, tenantId, scopes: scope.split(' ').filter(Boolean), exp, serial: Number(jti) }
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
