import { AuthError } from '../errors.ts'
import type { AuthProvider, AuthStrategy, AuthStrategyInitializeOptions } from './auth-strategy.ts'

/** Calls the host's provider whenever a token is needed. */
export class ProviderStrategy implements AuthStrategy {
  readonly #provider: AuthProvider
  #postAuthentication: AuthStrategyInitializeOptions['postAuthentication']

  constructor(provider: AuthProvider) {
    this.#provider = provider
  }

  initialize({ postAuthentication }: AuthStrategyInitializeOptions): void {
    this.#postAuthentication = postAuthentication
  }

  async authenticate(): Promise<void> {
    const accessToken = await this.getToken()
    if (!accessToken) throw new AuthError('The AuthProvider returned no token.', 'token_missing')
    await this.#postAuthentication?.({ accessToken })
  }

  async getToken(): Promise<string | null> {
    return this.#provider.getToken()
  }
}
