import { restBase } from '@aiagent/protocol'
import { AuthError } from '../../errors.ts'
import { feature } from '../../platform/feature.ts'
import type { PKCEAuthServiceConfig } from '../auth-input.ts'
import type { AuthStrategyInitializeOptions, InteractiveLogin, LogoutOptions } from '../auth-strategy.ts'
import type { IdentitySession } from './identity-client.ts'
import type { PKCEAuthStrategy, PKCEAuthStrategyOptions } from './pkce-strategy.ts'
import { takeStoredUser } from './stored-login.ts'

/** Start of the keys under which a deployment's metadata for logins are stored. */
const METADATA_PREFIX = 'aiagent_auth_metadata:'

/*
 * The part of a login in the core bundle. The code that signs users in is a separate chunk, which an agent without a
 * login never loads.
 */

/**
 * Loads the code of a login, so that a click on "Sign in" can open its window at once. Useful when a page shows such a
 * button; otherwise it is loaded with the first login.
 */
export async function preloadPkce(): Promise<void> {
  await Promise.all([loadStrategy(), import('./oidc-identity-client.ts')])
}

/** A login whose code is loaded by `initialize()`. From then on each call reaches it without a delay. */
export class LazyPkceStrategy implements InteractiveLogin {
  readonly #input: PKCEAuthServiceConfig
  readonly #options: PKCEAuthStrategyOptions
  #strategy: PKCEAuthStrategy | undefined
  #onSignedOut: (() => void) | undefined
  #apiBase: string | undefined

  constructor(input: PKCEAuthServiceConfig, options: PKCEAuthStrategyOptions) {
    this.#input = input
    this.#options = { ...options, identityClient: input.identityClient }
  }

  get hasSession(): boolean {
    return this.#strategy?.hasSession ?? false
  }

  get identity(): string | undefined {
    return this.#strategy?.identity
  }

  get expiresAt(): number | undefined {
    return this.#strategy?.expiresAt
  }

  setSignedOutCallback(callback: () => void): void {
    this.#onSignedOut = callback
  }

  async initialize(options: AuthStrategyInitializeOptions): Promise<void> {
    this.#apiBase = restBase(options.deploymentInfo.apiDomain)
    const strategy = await this.#load()
    await strategy.initialize(options)
  }

  authenticate(): Promise<void> {
    return this.#loaded().authenticate()
  }

  getToken(mayAsk?: () => boolean): Promise<string> {
    return this.#loaded().getToken(mayAsk)
  }

  refresh(): Promise<string> {
    return this.#loaded().refresh()
  }

  /** @param taken the stored user, when it was removed already */
  async logout(options?: LogoutOptions, taken?: IdentitySession): Promise<void> {
    this.#removeMetadata()
    if (this.#strategy) return this.#strategy.logout(options)
    const { config, identityClient } = this.#input
    // Before the code of the login is loaded, or if it cannot be loaded, the stored user must still be removed.
    const stored = identityClient ? undefined : (taken ?? takeStoredUser(config, this.#options.environment ?? {}))
    if (!stored && !identityClient) return
    await (await this.#load()).logout(options, stored)
  }

  async forget(): Promise<void> {
    this.#removeMetadata()
    await this.#strategy?.forget()
  }

  cancelLogin(): boolean {
    return this.#strategy?.cancelLogin() === true
  }

  cleanup(): void {
    this.#strategy?.cleanup()
  }

  getDomain(): string | undefined {
    return this.#strategy?.getDomain()
  }

  /** Removes the metadata that the deployment's login was built from. */
  #removeMetadata(): void {
    const { sessionStorage } = this.#options.environment ?? {}
    for (let i = (sessionStorage?.length ?? 0) - 1; i >= 0; i--) {
      const key = sessionStorage?.key(i)
      if (key?.startsWith(METADATA_PREFIX) && key.includes(`:${this.#apiBase}:`)) sessionStorage?.removeItem(key)
    }
  }

  async #load(): Promise<PKCEAuthStrategy> {
    const { PKCEAuthStrategy } = await loadStrategy()
    if (!this.#strategy) {
      this.#strategy = new PKCEAuthStrategy(this.#input.config, this.#options)
      this.#strategy.setSignedOutCallback(() => this.#onSignedOut?.())
    }
    return this.#strategy
  }

  #loaded(): PKCEAuthStrategy {
    if (this.#strategy) return this.#strategy
    throw new AuthError('The login is not initialized. Call initialize() first.', 'token_missing')
  }
}

function loadStrategy() {
  return feature('login', () => import('./pkce-strategy.ts'))
}
