import type { Awaitable } from '../storage/cache-adapter.ts'
import type { AuthProvider, AuthStrategy, AuthStrategyInitializeOptions, LogoutOptions } from './auth-strategy.ts'
import { OwnStrategy, type StrategyOwner } from './own-strategy.ts'

/** A strategy or a provider of the host, of which only some members exist. */
export class HostStrategy extends OwnStrategy {
  readonly authenticationType = 'pre-auth'
  readonly #provider: AuthProvider
  /** Undefined for a provider, whose other members mean something else. */
  readonly #strategy: AuthStrategy | undefined

  constructor(given: AuthStrategy | AuthProvider) {
    super()
    this.#provider = given
    this.#strategy = isStrategy(given) ? given : undefined
  }

  override get acceptsTokens(): boolean {
    return this.#strategy?.updateToken !== undefined
  }

  override attach({ onExpiring }: StrategyOwner): void {
    this.#strategy?.setTokenExpiringCallback?.(onExpiring)
  }

  override initialize(options: AuthStrategyInitializeOptions): Awaitable<void> {
    this.given = options
    return this.#strategy?.initialize(options)
  }

  override async authenticate(): Promise<void> {
    if (this.#strategy) return this.#strategy.authenticate()
    // The service then asks for the token, within the time limit of a call of the host.
    await this.given?.postAuthentication?.({ accessToken: '' })
  }

  // Without an argument: it may mean something to the host's function.
  getToken(): Awaitable<string | null> {
    return this.#provider.getToken()
  }

  refresh(): Awaitable<string | null> {
    return this.#strategy?.refresh ? this.#strategy.refresh() : this.getToken()
  }

  override updateScopes(scopes: readonly string[]): Awaitable<void> {
    return this.#strategy?.updateScopes?.(scopes)
  }

  override updateToken(token: string): Awaitable<void> {
    return this.#strategy?.updateToken?.(token)
  }

  // The other tab has called the host's `logout()`.
  override forget(): void {}

  override logout(options?: LogoutOptions): Awaitable<void> {
    return this.#strategy?.logout?.(options)
  }

  override cleanup(): Awaitable<void> {
    return this.#strategy?.cleanup?.()
  }

  override getDomain(): string | undefined {
    return this.#strategy?.getDomain?.()
  }
}

/** Whether the host supplied a whole strategy, not only a source of tokens. */
export function isStrategy(input: object): input is AuthStrategy {
  return ['initialize', 'authenticate', 'getToken'].every(name => hasMethod(input, name))
}

/** Whether an object has a function of this name. */
export function hasMethod<Name extends string>(input: object, name: Name): input is Record<Name, () => unknown> {
  return name in input && typeof (input as Record<string, unknown>)[name] === 'function'
}
