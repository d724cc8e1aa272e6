import type { Emulator, Fault } from '@aiagent/emulator'
import type { ManualClock } from '@aiagent/test-support'
import type { AuthenticationInput } from '../src/auth/auth-strategy.ts'
import { AuthError } from '../src/errors.ts'
import { jwtPayload } from '../src/util/jwt.ts'
import { FakeProvider } from './fake-login.ts'
import { fakeToken } from './fake-service.ts'

/** Where tokens come from. */
export const SOURCES = [
  'a token',
  'refreshTokenFn',
  'a provider',
  'a strategy',
  'an anonymous token',
  'client credentials',
  'a login',
] as const
export type Source = (typeof SOURCES)[number]

/** How the function of the host, the provider or the token endpoint answers from then on. */
export const ANSWERS = [
  'well',
  'network',
  'unavailable',
  'limit',
  'refusal',
  'revoked',
  'hangs',
  'late',
  'blank',
] as const
export type Answer = (typeof ANSWERS)[number]

const ENDPOINT = '*/token'
/** The same at the token endpoint of the service. */
const FAULTS: Partial<Record<Answer, Fault>> = {
  network: { kind: 'cut-request', route: ENDPOINT },
  unavailable: { kind: 'answer', route: ENDPOINT, status: 503 },
  limit: { kind: 'rate-limit', route: ENDPOINT, retryAfterSeconds: 5 },
  refusal: { kind: 'answer', route: ENDPOINT, status: 401 },
  revoked: { kind: 'answer', route: ENDPOINT, status: 400, body: { error: 'invalid_grant' } },
  hangs: { kind: 'hang-request', route: ENDPOINT },
  late: { kind: 'delay-requests', route: ENDPOINT, ms: 20_000 },
  blank: { kind: 'answer', route: ENDPOINT, status: 200, body: {} },
}
const ERRORS: Partial<Record<Answer, object>> = {
  network: new TypeError('fetch failed'),
  unavailable: { status: 503 },
  limit: { status: 429 },
  refusal: { cause: { status: 401 } },
  revoked: { error: 'invalid_grant' },
}

/** The login of the host. */
export const LOGIN = {
  clientId: 'app',
  redirectUri: 'https://app.test/callback.html',
  knownAuthorities: ['login.test'],
  authScheme: 'popup',
} as const

interface Claims {
  readonly sub: string
  readonly iat: number
  readonly exp: number
  readonly jti: string
}
export const claimsOf = (token: string) => jwtPayload(token) as Claims
export const subjectOf = (token: string) => claimsOf(token).sub
export const expiryOf = (token: string) => claimsOf(token).exp * 1_000
/** Tokens of the emulator have ascending numbers. */
export const serialOf = (token: string) => Number(claimsOf(token).jti)

/** How long before its expiry a token is renewed by the function of the host, in milliseconds. */
export const RENEWAL_BUFFER_MS = 120_000

/** A simulated host, with its users, login provider and token endpoint. A test chooses how it answers. */
export class TokenHost {
  readonly identity = new FakeProvider()
  readonly #source: Source
  readonly #clock: ManualClock
  readonly #emulator: Emulator
  #answer: Answer = 'well'
  /** How often the user has changed. */
  #users = 0
  /** How often the host or the provider was asked for a token. */
  #asked = 0
  /** Calls of the host that run. */
  #running = 0
  /** Token of a strategy of the host. */
  #held: string | undefined

  constructor(source: Source, clock: ManualClock, emulator: Emulator) {
    this.#source = source
    this.#clock = clock
    this.#emulator = emulator
  }

  get answer(): Answer {
    return this.#answer
  }

  get users(): number {
    return this.#users
  }

  get asked(): number {
    return this.#asked
  }

  get isRunning(): boolean {
    return this.#running > 0
  }

  /** Another user is at the host from now on. */
  changeUser(): void {
    this.#users++
    this.#held = undefined
  }

  /** How the host, the provider and the token endpoint answer from then on. */
  setAnswer(how: Answer): void {
    // A provider answers with a session or an error, and limits its requests itself.
    const ofLogin = { hangs: 'late', blank: 'network' } as const
    this.#answer = this.#source === 'a login' && (how === 'hangs' || how === 'blank') ? ofLogin[how] : how
    const { faults } = this.#emulator
    faults.lift()
    const fault = FAULTS[how]
    if (fault) faults.add(fault)
  }

  get #user(): string {
    return `user ${this.#users}`
  }

  /** A new token of the present user. */
  mint(): string {
    const subject = this.#user
    const { control, world } = this.#emulator
    return control.issueToken({ subject, tenantId: world.tenants[0]?.id ?? '' })
  }

  readonly #give = async (): Promise<string> => {
    this.#asked++
    this.#running++
    const token = this.mint()
    const error = ERRORS[this.#answer]
    try {
      if (error) throw error
      if (this.#answer === 'late') await new Promise<void>(resolve => this.#clock.setTimeout(resolve, 20_000))
      if (this.#answer === 'hangs') await new Promise<never>(() => {})
      return this.#answer === 'blank' ? ' ' : token
    } finally {
      this.#running--
    }
  }

  /** The source, as the host passes it to the library. */
  input(): AuthenticationInput | undefined {
    const give = this.#give
    const { origin, world } = this.#emulator
    if (this.#source === 'an anonymous token') return undefined
    if (this.#source === 'a token') return { type: 'pre-auth', accessToken: this.mint() }
    if (this.#source === 'a provider') return { getToken: give }
    if (this.#source === 'client credentials') {
      const tokenUrl = `${origin}/oauth/${world.tenants[0]?.id}/token`
      return { type: 'client-credentials', config: { tokenUrl, clientId: 'demo-service', clientSecret: 'demo-secret' } }
    }
    if (this.#source === 'refreshTokenFn')
      return { type: 'pre-auth', accessToken: this.mint(), refreshTokenFn: give, expiryBufferMs: RENEWAL_BUFFER_MS }
    if (this.#source === 'a strategy') {
      const refresh = async () => {
        const known = [this.#held, this.#users]
        const token = await give()
        const isWanted = token.trim() && known[0] === this.#held && known[1] === this.#users
        return isWanted ? (this.#held = token) : token
      }
      return {
        initialize() {},
        authenticate() {},
        getToken: () => {
          const held = this.#held
          const isValid = held && expiryOf(held) > this.#clock.now() && subjectOf(held) === this.#user
          return isValid ? held : refresh()
        },
        refresh,
        updateToken: token => void (this.#held = token),
      }
    }
    const session = async () => ({
      accessToken: await give(),
      idToken: fakeToken({ iss: 'https://login.test', sub: this.#user }),
    })
    this.identity.renewed = session
    // A user is not asked for a renewal, and closes the window of a provider that does not answer.
    this.identity.signIn = async () => {
      if (this.#answer === 'late') throw new AuthError('The window was closed.', 'popup_closed')
      const signedIn = await session()
      this.#asked--
      return signedIn
    }
    return this.identity.login(LOGIN)
  }
}
