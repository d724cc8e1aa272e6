import { AuthError } from '../../errors.ts'
import type {
  AuthStrategy,
  AuthStrategyInitializeOptions,
  LogoutOptions,
  PKCEAuthServiceConfig,
} from '../auth-strategy.ts'
import type { PKCEAuthStrategy, PKCEAuthStrategyOptions } from './pkce-strategy.ts'

/*
 * The login's place in the core: everything that signs people in is a chunk of its own, which an agent that never needs it
 * never loads.
 */

/**
 * Loads what a login needs, so that a click on "Sign in" can open its window at once. Worth a call when a page shows such
 * a button; otherwise it is loaded with the first login.
 */
export async function preloadPkce(): Promise<void> {
  await Promise.all([loadStrategy(), import('./oidc-identity-client.ts')])
}

/** A login that is loaded when it is initialized. From then on each call reaches it without a delay. */
export class LazyPkceStrategy implements AuthStrategy {
  readonly #input: PKCEAuthServiceConfig
  readonly #options: PKCEAuthStrategyOptions
  #strategy: PKCEAuthStrategy | undefined

  /** @throws {AuthError} `browser_unsupported` outside a browser, unless the host brings an identity client */
  constructor(input: PKCEAuthServiceConfig, options: PKCEAuthStrategyOptions) {
    if (!input.identityClient && !options.environment?.page)
      throw new AuthError(
        'A login needs a browser. Elsewhere pass a token, client credentials, or an identityClient.',
        'browser_unsupported',
      )
    this.#input = input
    this.#options = { ...options, identityClient: input.identityClient }
  }

  get hasSession(): boolean {
    return this.#strategy?.hasSession ?? false
  }

  async initialize(options: AuthStrategyInitializeOptions): Promise<void> {
    const { PKCEAuthStrategy } = await loadStrategy()
    this.#strategy ??= new PKCEAuthStrategy(this.#input.config, this.#options)
    await this.#strategy.initialize(options)
  }

  authenticate(): Promise<void> {
    return this.#loaded().authenticate()
  }

  getToken(): Promise<string> {
    return this.#loaded().getToken()
  }

  refresh(): Promise<string> {
    return this.#loaded().refresh()
  }

  async logout(options?: LogoutOptions): Promise<void> {
    await this.#strategy?.logout(options)
  }

  getDomain(): string | undefined {
    return this.#strategy?.getDomain()
  }

  #loaded(): PKCEAuthStrategy {
    if (this.#strategy) return this.#strategy
    throw new AuthError('The login is not initialized. Call initialize() first.', 'token_missing')
  }
}

function loadStrategy() {
  return import('./pkce-strategy.ts')
}
