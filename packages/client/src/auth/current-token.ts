import type { Logger } from '../logger.ts'
import type { Environment } from '../platform/environment.ts'
import type { Awaitable } from '../storage/cache-adapter.ts'
import { ACCESS_TOKEN_REFRESH_BUFFER_MS, type TokenExpiringCallback } from './auth-strategy.ts'
import { ClockSkew } from './clock-skew.ts'
import { type ExpiryOwner, ExpiryWatch } from './expiry-watch.ts'
import { answerInTime } from './host-call.ts'
import { isOtherUser, mergeUser, NO_TOKEN, type TokenState, type TokenUser, tokenOf, userOf } from './token-state.ts'

/** Called when a token belongs to another user, before the token is used. */
export type UserChangeHandler = () => Awaitable<void>

/** Called when a user replaces an anonymous one, before the token is used. */
export type UserHandler = () => Awaitable<void>

/** What is known about a token when it arrives. */
export interface ArrivedToken {
  readonly token: string
  /** Whether the token is anonymous. */
  readonly isAnonymous: boolean
  /** Issuer and subject of the ID token issued with it. */
  readonly identity?: string | undefined
  /** Expiry by the clock of this device, where it differs from the token's `exp`. */
  readonly expiresAt?: number | undefined
  /** How long before its expiry it counts as about to expire, in milliseconds. */
  readonly bufferMs?: number | undefined
  /** For a host-supplied token: until when it overrides those of the strategy. */
  readonly until?: number | undefined
  /** The host states that it belongs to another user. */
  readonly userChanged?: boolean | undefined
}

/** The token in use: its state, its expiry, and the user behind it. */
export class CurrentToken implements ExpiryOwner {
  readonly #environment: Environment
  readonly #options: { readonly logger?: Logger | undefined }
  readonly #expiry: ExpiryWatch
  /** Created with the first token of the host. */
  #skew: ClockSkew | undefined
  readonly #onExpiring: (expiresAt: number) => void
  #state: TokenState = NO_TOKEN
  #user: TokenUser = {}
  #announce: TokenExpiringCallback | undefined
  #onUserChange: UserChangeHandler | undefined
  #onUser: UserHandler | undefined
  #onToken: ((token: string) => void) | undefined

  /** @param onExpiring called when the token is about to expire; it renews it, or calls {@link announce} */
  constructor(
    environment: Environment,
    options: { readonly logger?: Logger | undefined },
    onExpiring: (expiresAt: number) => void,
  ) {
    this.#environment = environment
    this.#options = options
    this.#onExpiring = onExpiring
    this.#expiry = new ExpiryWatch(environment, this)
  }

  get state(): TokenState {
    return this.#state
  }

  /** The token, whether or not it has expired. */
  get value(): string | null {
    return tokenOf(this.#state)
  }

  /** Whether the token is known to be of a user who signed in. */
  get hasUser(): boolean {
    return this.#user.isAnonymous === false
  }

  get hasExpired(): boolean {
    const { expiresAt } = this.#state.kind === 'none' ? {} : this.#state
    return expiresAt !== undefined && expiresAt <= this.#environment.clock.now()
  }

  /** Whether a host-supplied token currently overrides those of the strategy. */
  get supplied(): string | undefined {
    const state = this.#state
    return state.kind === 'supplied' && this.#environment.clock.now() < state.until ? state.token : undefined
  }

  /** Expiry of a token of the host by the clock of this device, in milliseconds since the epoch. */
  expiryOf(token: string): number | undefined {
    this.#skew ??= new ClockSkew()
    return this.#skew.expiryOf(token, this.#environment.clock.now())
  }

  setExpiringCallback(callback: TokenExpiringCallback): void {
    this.#announce = callback
  }

  setUserChangeHandler(handler: UserChangeHandler): void {
    this.#onUserChange = handler
  }

  setUserHandler(handler: UserHandler): void {
    this.#onUser = handler
  }

  setTokenHandler(handler: (token: string) => void): void {
    this.#onToken = handler
  }

  /**
   * Makes a token the current one. If it belongs to another user, there is no token until the handler has finished.
   *
   * @throws what the handler throws; the signal's reason when it is aborted meanwhile
   */
  async adopt(arrived: ArrivedToken, signal: AbortSignal): Promise<void> {
    const { token, isAnonymous, identity, until, bufferMs, userChanged } = arrived
    const user = userOf(token, isAnonymous, identity)
    if (isOtherUser(this.#user, user) || (userChanged && !this.#user.isAnonymous)) {
      this.drop()
      await this.#changeUser(signal)
      this.#user = {}
    } else if (this.#user.isAnonymous && !isAnonymous) {
      await this.#onUser?.()
      signal.throwIfAborted()
    }
    this.#user = mergeUser(this.#user, user)
    const previous = this.#state
    const isSame = tokenOf(previous) === token
    const expiresAt = arrived.expiresAt ?? this.expiryOf(token)
    const isAnnounced = previous.kind !== 'none' && isSame && previous.isAnnounced
    const current = { token, expiresAt, isAnnounced }
    this.#state = until === undefined ? { kind: 'held', ...current } : { kind: 'supplied', until, ...current }
    if (isSame) return
    if (!isAnonymous) this.#onToken?.(token)
    this.#expiry.stop()
    if (expiresAt === undefined) return
    // Do not call a host function that returns expired tokens in a loop.
    if (expiresAt <= this.#environment.clock.now()) return this.announce(expiresAt)
    this.#expiry.start(expiresAt - (bufferMs ?? ACCESS_TOKEN_REFRESH_BUFFER_MS), expiresAt)
  }

  /** The token is about to expire. */
  handleDue(expiresAt: number): void {
    this.#onExpiring(expiresAt)
  }

  /** Reports the expiry of the token once more at the given time. */
  watch(expiresAt: number): void {
    this.#expiry.start(expiresAt, expiresAt)
  }

  /** Whether the expiry is watched. @default true */
  watchExpiry(isWatched: boolean): void {
    if (isWatched) this.#expiry.resume()
    else this.#expiry.suspend()
  }

  checkExpiry(): void {
    this.#expiry.check()
  }

  /** Notifies the host, once per token, that it is about to expire. */
  announce(expiresAt: number): void {
    if (this.#state.kind === 'none' || this.#state.isAnnounced) return
    this.#state = { ...this.#state, isAnnounced: true }
    this.#announce?.({ expiresAt })
  }

  /** The service rejected the token: a host-supplied one no longer overrides those of the strategy. */
  refuse(): void {
    if (this.#state.kind === 'supplied') this.#state = { ...this.#state, kind: 'held' }
  }

  /** Drops the token; its user is still known. */
  drop(): void {
    this.#state = NO_TOKEN
    this.#expiry.stop()
  }

  /** Drops the token and its user. */
  forget(): void {
    this.drop()
    this.#user = {}
  }

  /** Drops the token of a user who is no longer signed in, and all other data of that user. */
  async signOut(signal: AbortSignal): Promise<void> {
    const isKnown = this.#user.isAnonymous === false
    this.forget()
    if (isKnown) await this.#changeUser(signal)
  }

  async #changeUser(signal: AbortSignal): Promise<void> {
    this.#options.logger?.info('Everything of the previous user is removed.')
    const handler = this.#onUserChange
    if (handler) await answerInTime(this.#environment.clock, 'The handler of the user change', signal, handler)
    signal.throwIfAborted()
  }
}
