import type { PKCEAuthConfig } from '../src/auth/auth-strategy.ts'
import { Login, type LoginOptions, type LoginRequest, type LoginSession } from '../src/auth/login/login.ts'
import type { LogoutPlan } from '../src/auth/login/logout-plan.ts'

/** A provider with scripted results. Each call is recorded and returns the next result of its list, or the last one. */
export class FakeProvider {
  readonly calls: string[] = []
  readonly logins: LoginRequest[] = []
  readonly plans: LogoutPlan[] = []
  /** The scopes of the last call. */
  scopes: readonly string[] | undefined
  /** Reports a rate limit of the provider. */
  onRateLimited: ((limit: { operation: string; retryInMs: number }) => void) | undefined
  /** Called when the stored user is removed; by default the provider does not know whether there is one. */
  forget: (() => LoginSession | null) | undefined
  /** Listeners for a sign-out in another tab. */
  readonly listeners = new Set<() => void>()
  restored: () => Promise<LoginSession | null> = async () => null
  signIn: () => Promise<LoginSession> = () => Promise.reject(new Error('no session'))
  renewed: (current: LoginSession) => Promise<LoginSession> = () => Promise.reject(new Error('no session'))
  signOut: () => Promise<void> = async () => {}

  /** A login at this provider. */
  login(config: PKCEAuthConfig, options: LoginOptions = {}): Login {
    return new FakeLogin(this, config, options)
  }
}

class FakeLogin extends Login {
  readonly #provider: FakeProvider

  constructor(provider: FakeProvider, config: PKCEAuthConfig, options: LoginOptions) {
    super(config, options)
    this.#provider = provider
  }

  protected restore(): Promise<LoginSession | null> {
    this.#record('restore')
    return this.#provider.restored()
  }

  protected signIn(request: LoginRequest): Promise<LoginSession> {
    this.#record(`login ${request.scheme}`)
    this.#provider.logins.push(request)
    return this.#provider.signIn()
  }

  protected renew(current: LoginSession): Promise<LoginSession> {
    this.#record('renew')
    return this.#provider.renewed(current)
  }

  protected discard(): LoginSession | null | undefined {
    return this.#provider.forget ? this.#provider.forget() : this.given && null
  }

  protected async signOut(plan: LogoutPlan, after: Promise<unknown> | undefined): Promise<void> {
    if (after) await after
    this.#record(`logout ${plan.scheme}`)
    this.#provider.plans.push(plan)
    await this.#provider.signOut()
  }

  protected async discardForgotten(): Promise<void> {
    this.discard()
  }

  protected override listen(onSignedOut: () => void): () => void {
    this.#provider.listeners.add(onSignedOut)
    return () => void this.#provider.listeners.delete(onSignedOut)
  }

  #record(call: string): void {
    this.#provider.calls.push(call)
    this.#provider.scopes = this.scopes
    this.#provider.onRateLimited = this.given?.onRateLimited
  }
}
