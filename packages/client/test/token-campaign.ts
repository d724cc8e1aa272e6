import { createEmulator, type Emulator } from '@aiagent/emulator'
import { ManualClock, turnEventLoop } from '@aiagent/test-support'
import type { AuthStrategyInitializeOptions } from '../src/auth/auth-strategy.ts'
import { AuthenticationService } from '../src/auth/authentication-service.ts'
import { AuthError } from '../src/errors.ts'
import { MemoryCacheAdapter } from '../src/storage/memory-cache-adapter.ts'
import { pageWithWindow } from './fake-login-page.ts'
import { FakeStorage } from './fake-service.ts'
import {
  type Answer,
  claimsOf,
  expiryOf,
  LOGIN,
  RENEWAL_BUFFER_MS,
  type Source,
  serialOf,
  subjectOf,
  TokenHost,
} from './token-host.ts'

export type TokenAct =
  | { readonly do: 'ask' | 'ask twice' | 'refresh' | 'update' | 'update to another user' | 'another user at the host' }
  | {
      readonly do:
        | 'sign out'
        | 'sign out elsewhere'
        | 'clean up'
        | 'return'
        | 'initialize'
        | 'suspend'
        | 'watch'
        | 'overtake'
        | 'overtake by a sign-out'
    }
  /** An anonymous strategy becomes a login, whose window the browser blocks. */
  | { readonly do: 'switch' }
  | { readonly do: 'answer'; readonly how: Answer }
  | { readonly do: 'live'; readonly seconds: number }
  | { readonly do: 'wait'; readonly ms: number }
  /** A token comes to its end, while nothing else happens. */
  | { readonly do: 'expire'; readonly how: Answer; readonly isWatched: boolean }

const LIFE_SECONDS = 3_600

/** An authentication service over one source, and what must be true of its tokens. */
export class TokenCampaign {
  readonly clock = new ManualClock()
  readonly emulator: Emulator = createEmulator({ clock: this.clock })
  readonly problems: string[] = []
  readonly #source: Source
  readonly #auth: AuthenticationService
  readonly #host: TokenHost
  readonly #page = pageWithWindow({
    location: { href: 'https://app.test/', origin: 'https://app.test' },
    open: () => null,
  })
  readonly #sessionStorage = new FakeStorage()
  /** Tokens up to this number belong to a user who has left, or were replaced. */
  #floor = 0
  /** The user of the last token in use, and whether the handler of user changes has finished since. */
  #seen: string | undefined
  #isChanged = false
  #changes = 0
  #isSwitched = false
  #hasLeft = false
  /** The acts between two waits are of one turn. */
  #turn = 0
  /** The turn of the last `logout()` or `cleanup()`. */
  #endedAt = -1
  /** Reports of an expiry since the last `cleanup()`. */
  #reports: { readonly token: string | null; readonly expiresAt: number }[] = []
  readonly #calls: { readonly name: string; isSettled: boolean }[] = []

  constructor(source: Source) {
    this.#source = source
    const { clock, emulator } = this
    this.#host = new TokenHost(source, clock, emulator)
    const environment = {
      fetch: emulator.fetch,
      clock,
      memory: new MemoryCacheAdapter(),
      sessionStorage: this.#sessionStorage,
      page: source === 'client credentials' ? undefined : this.#page,
    }
    const onUserChange = async () => {
      this.#changes++
      if (this.#auth.getCachedToken() !== null) this.problems.push('there is a token while the user changes')
      await new Promise<void>(resolve => clock.setTimeout(resolve, 100))
      this.#isChanged = true
    }
    this.#auth = new AuthenticationService(this.#host.input(), { environment, onUserChange })
    this.#auth.setTokenExpiringCallback(({ expiresAt }) => {
      const token = this.#auth.getCachedToken()
      if (this.#reports.some(each => each.token === token))
        this.problems.push('the expiry of a token is reported twice')
      this.#reports.push({ token, expiresAt })
    })
  }

  async play(acts: readonly TokenAct[]): Promise<void> {
    this.#start()
    await turnEventLoop()
    for (const act of acts) {
      // What takes no time leaves no room for anything else.
      const passing = this.#act(act)
      if (passing) {
        await passing
        this.#turn++
      }
      this.#look()
    }
    await this.#finish()
  }

  #act(act: TokenAct): Promise<void> | undefined {
    const auth = this.#auth
    if (act.do === 'ask') this.#call('getToken()', auth.getToken(), true)
    else if (act.do === 'ask twice') {
      const asked = this.#host.asked
      for (const each of [auth.getToken(), auth.getToken()]) this.#call('getToken()', each, true)
      return turnEventLoop(1).then(() => {
        if (this.#host.asked > asked + 1) this.problems.push('two callers ask the host twice')
      })
    } else if (act.do === 'refresh') this.#call('refresh()', auth.refresh(), true)
    else if (act.do === 'update') this.#update()
    else if (act.do === 'update to another user') {
      // Later, the tokens of the login would be those of the previous user again.
      if (this.#source !== 'a login') this.#host.changeUser()
      this.#update()
    } else if (act.do === 'another user at the host') {
      if (this.#host.isRunning || this.#source === 'a login') return undefined
      this.#host.changeUser()
    } else if (act.do === 'sign out') {
      this.#call('logout()', auth.logout())
      this.#leave()
    } else if (act.do === 'sign out elsewhere') {
      const { listeners } = this.#host.identity
      if (listeners.size > 0 && this.#host.answer === 'well') for (const listener of listeners) listener()
      else this.#call('forgetUser()', auth.forgetUser())
      this.#leave()
    } else if (act.do === 'clean up') {
      this.#call('cleanup()', auth.cleanup())
      if (auth.getCachedToken() !== null) this.problems.push('there is a token after cleanup()')
      this.#seen = undefined
      this.#reports = []
      this.#endedAt = this.#turn
    } else if (act.do === 'initialize') {
      if (!auth.getIsInitialized()) this.#start()
    } else if (act.do === 'return') this.#page.comeBack()
    else if (act.do === 'suspend' || act.do === 'watch') auth.watchExpiry(act.do === 'watch')
    else if (act.do === 'overtake') return this.#overtake(() => this.#update())
    else if (act.do === 'overtake by a sign-out')
      return this.#overtake(() => {
        this.#call('logout()', auth.logout())
        this.#leave()
        this.#start()
      })
    else if (act.do === 'switch') return this.#switch()
    else if (act.do === 'answer') this.#host.setAnswer(act.how)
    else if (act.do === 'live') this.emulator.settings.tokenLifeSeconds = act.seconds
    else if (act.do === 'wait') return this.clock.advance(act.ms)
    else if (act.do === 'expire') return this.#expire(act.how, act.isWatched)
    return undefined
  }

  /** What must be true at any time. */
  #look(): void {
    const token = this.#auth.getCachedToken()
    if (token !== null) this.#observe(token, 'the token in use')
    if (!this.#hasLeft || this.#calls.some(({ name, isSettled }) => /logout|forget/.test(name) && !isSettled)) return
    if (JSON.stringify([...this.#sessionStorage.items]).includes('eyJ'))
      this.problems.push('a token is stored after the sign-out')
  }

  #observe(token: string, where: string): void {
    if (serialOf(token) <= this.#floor) this.problems.push(`${where} was replaced, or is one of a user who has left`)
    const user = subjectOf(token)
    if (this.#seen !== undefined && this.#seen !== user && this.#seen !== 'anonymous') {
      if (!this.#isChanged) this.problems.push(`${where} is one of another user, whom the handler does not know`)
      this.#replaceUpTo(serialOf(token) - 1)
    }
    if (this.#seen !== user) this.#isChanged = false
    this.#seen = user
  }

  /** A caller has received a token. */
  #check(token: string): void {
    this.#observe(token, 'a token that a caller receives')
    const { iat, exp } = claimsOf(token)
    const leftMs = exp * 1_000 - this.clock.now()
    if (leftMs <= 0) this.problems.push('a token that a caller receives has expired')
    const isRenewed = this.#isOfService || this.#source === 'refreshTokenFn'
    if (isRenewed && leftMs <= this.#bufferMs && (exp - iat) * 1_000 > this.#bufferMs)
      this.problems.push('a token that a caller receives is about to expire')
  }

  get #bufferMs(): number {
    return this.#source === 'refreshTokenFn' ? RENEWAL_BUFFER_MS : 300_000
  }

  #call(name: string, promise: Promise<unknown>, isForToken = false): void {
    const call = { name, isSettled: false }
    const turn = this.#turn
    this.#calls.push(call)
    promise.then(
      token => {
        call.isSettled = true
        // The call may have had its answer before an end in the same turn.
        if (isForToken && turn !== this.#endedAt) this.#check(token as string)
      },
      error => {
        call.isSettled = true
        if (!(error instanceof AuthError)) this.problems.push(`${name} rejects with ${error}`)
      },
    )
  }

  #start(): void {
    const auth = this.#auth
    const { origin, world } = this.emulator
    const given = {
      deploymentInfo: { apiDomain: origin, tenantId: world.tenants[0]?.id },
      endpoint: origin,
    } as AuthStrategyInitializeOptions
    // The host knows that the user of the token has left.
    if (this.#floor > 0 && /a token|refreshTokenFn/.test(this.#source)) this.#update()
    this.#hasLeft = false
    const starting = auth.initialize(given).then(async () => {
      if (this.#isSwitched) await auth.useAnonymousToken(given)
      else if (this.#source === 'a login') await auth.authenticate()
    })
    this.#call('initialize()', starting)
  }

  /** The user signs out, here or elsewhere. The next one may sign in. */
  #leave(): void {
    if (this.#auth.getCachedToken() !== null) this.problems.push('there is a token after the sign-out')
    this.#floor = serialOf(this.#host.mint())
    this.#host.changeUser()
    this.#seen = undefined
    this.#isChanged = false
    this.#hasLeft = true
    this.#endedAt = this.#turn
  }

  #update(): void {
    const token = this.#host.mint()
    const inUse = this.#auth.getCachedToken()
    const [changes, users] = [this.#changes, this.#host.users]
    const updating = this.#auth.updateToken(token).then(() => {
      const isFirst = inUse !== null && subjectOf(inUse) === 'anonymous'
      if (isFirst && users === this.#host.users && changes !== this.#changes)
        this.problems.push('the first user counts as a change of the user')
      this.#replaceUpTo(serialOf(token) - 1)
    })
    this.#call('updateToken()', updating)
  }

  #replaceUpTo(serial: number): void {
    // After a token of the host, such a strategy uses its own one again, which may be older.
    if (!this.#isOfService) this.#floor = Math.max(this.#floor, serial)
  }

  /** Whether the strategy obtains tokens itself, of no user or of one who signs in. */
  get #isOfService(): boolean {
    return /anonymous|credentials|login/.test(this.#source)
  }

  /** Something happens while a renewal is under way, whose answer comes too late. */
  async #overtake(happen: () => void): Promise<void> {
    this.#host.setAnswer('late')
    this.#call('refresh()', this.#auth.refresh(), true)
    await turnEventLoop(1)
    this.#turn++
    happen()
    await this.clock.advance(21_000)
    this.#call('getToken()', this.#auth.getToken(), true)
  }

  async #switch(): Promise<void> {
    if (this.#source !== 'an anonymous token' || this.#isSwitched) return
    this.#isSwitched = true
    const auth = this.#auth
    const isIdle = this.#calls.every(({ isSettled }) => isSettled)
    const before = auth.getCachedToken()
    await auth.switchStrategyTo(LOGIN)
    if (auth.getCachedToken() !== null || auth.getIsInitialized()) this.problems.push('the switch leaves the old token')
    this.#seen = undefined
    this.#start()
    await turnEventLoop()
    if (!isIdle || !before || subjectOf(before) !== 'anonymous') return
    if (expiryOf(before) - this.clock.now() <= this.#bufferMs) return
    const token = await auth.getToken()
    if (token !== before) this.problems.push('the anonymous token does not survive the switch')
  }

  /** A fresh token comes close to its expiry and passes it without being requested. */
  async #expire(how: Answer, isWatched: boolean): Promise<void> {
    const { clock } = this
    const auth = this.#auth
    this.#host.setAnswer('well')
    this.emulator.settings.tokenLifeSeconds = LIFE_SECONDS
    if (!auth.getIsInitialized()) this.#start()
    await clock.advance(35_000)
    // After a sign-out elsewhere, only getToken() lets the next user sign in.
    if (this.#source === 'a login') await auth.getToken()
    if (this.#source === 'a token') this.#update()
    else this.#call('refresh()', auth.refresh(), true)
    await clock.advance(20_000)
    const token = auth.getCachedToken()
    if (!token) return void this.problems.push('there is no token after a renewal')
    const expect = (what: string, asked: number, isTold: boolean) => {
      const reports = this.#reports.filter(each => each.token === token)
      if (asked !== this.#host.asked)
        this.problems.push(`${what}: ${this.#host.asked} calls of the host, not ${asked} (${how})`)
      if (reports.length > 0 !== isTold) this.problems.push(`${what}: ${isTold ? 'not reported' : 'reported'} (${how})`)
      if (isTold && reports[0]?.expiresAt !== expiryOf(token)) this.problems.push(`${what}: another expiry is reported`)
    }
    auth.watchExpiry(isWatched)
    this.#host.setAnswer(how)
    const asked = this.#host.asked
    await clock.advance(expiryOf(token) - this.#bufferMs - clock.now() - 1_000)
    expect('before it is due', asked, false)
    await clock.advance(2_000)
    if (!isWatched) {
      expect('a disconnected agent', asked, false)
      auth.watchExpiry(true)
      await clock.advance(0)
    }
    if (this.#source !== 'refreshTokenFn') {
      expect('when it is due', asked, true)
      if (how === 'well') this.#call('getToken()', auth.getToken(), true)
    } else if (this.#host.answer === 'well' || this.#host.answer === 'late') {
      await clock.advance(20_000)
      expect('a renewal', asked + 1, false)
      if (auth.getCachedToken() === token) this.problems.push('a renewed token is not used')
      return
    } else if (/refusal|revoked|hangs/.test(this.#host.answer)) {
      await clock.advance(30_000)
      this.#page.comeBack()
      await clock.advance(65_000)
      expect('a refusal is final', asked + 1, true)
    } else {
      expect('a renewal that failed', asked + 1, true)
      await clock.advance(60_000)
      expect('the next look', asked + 2, true)
      await clock.advance(1_000)
      for (let count = 0; count < 2; count++) this.#page.comeBack()
      await clock.advance(1_000)
      expect('a return', asked + 3, true)
    }
    // The look that was arranged before is the last one.
    await clock.advance(expiryOf(token) - clock.now() + 61_000)
    const before = this.#host.asked
    this.#page.comeBack()
    await clock.advance(125_000)
    expect('after the end', before, true)
  }

  async #finish(): Promise<void> {
    const { clock } = this
    const auth = this.#auth
    // Thirty seconds each for the strategy and for the requests before it.
    await clock.advance(95_000)
    this.#expectSettled()
    this.#look()
    this.#host.setAnswer('well')
    // A call of the host that hangs has thirty seconds.
    await clock.advance(31_000)
    this.emulator.settings.tokenLifeSeconds = LIFE_SECONDS
    if (!auth.getIsInitialized()) this.#start()
    await clock.advance(1_000)
    if (this.#source === 'a token') this.#update()
    await clock.advance(1_000)
    let outcome: unknown = 'pending'
    Promise.all([auth.getToken(), auth.getToken()]).then(
      ([first, second]) => {
        outcome = first === second
        this.#check(first)
      },
      error => {
        outcome = error
      },
    )
    await clock.advance(35_000)
    if (outcome !== true) this.problems.push(`at the end, the outcome of getToken() is ${outcome}`)
    this.#look()
    if (this.#host.users === 0 && !this.#isOfService && this.#changes > 0)
      this.problems.push('a user who is still the same counts as another one')
    this.#call('cleanup()', auth.cleanup())
    await clock.advance(1_000)
    this.#expectSettled()
    if (clock.pendingTimers > 0 || this.#page.listeners > 0) this.problems.push('a timer or a listener is left')
  }

  #expectSettled(): void {
    for (const { name, isSettled } of this.#calls) if (!isSettled) this.problems.push(`${name} has not settled`)
  }
}
