import { AuthError, type AuthenticationInput, AuthenticationService, type PKCEAuthConfig } from '@aiagent/client'
import { type DeploymentInfo, paths } from '@aiagent/protocol'

/** What a page needs to know to let somebody sign in. Stands in its address, so that it survives every way to leave it. */
export interface LoginSetup {
  endpoint: string
  config: PKCEAuthConfig
  /** What to do as soon as the page is there, without a click. */
  atOnce?: LoginCall
}

export type LoginCall = 'login' | 'token' | 'refresh' | 'logout'

/** How a call ended, in what can be copied out of the page. */
export interface Outcome {
  call: LoginCall | 'start'
  /** What tells tokens apart, and not the token: it has no place in a report. */
  token?: TokenFacts
  reason?: string
  message?: string
}

export interface TokenFacts {
  sub: string
  jti: string
  scope: string
}

/** A page with a button for each call. */
export class LoginHost {
  readonly outcomes: Outcome[] = []
  readonly #setup: LoginSetup
  readonly #service: AuthenticationService
  #token = ''

  constructor(setup: LoginSetup, auth: AuthenticationInput = { type: 'pkce', config: setup.config }) {
    this.#setup = setup
    this.#service = new AuthenticationService(auth)
  }

  start = (): Promise<void> =>
    this.#record('start', async () => {
      const response = await fetch(`${this.#setup.endpoint}/system/deploymentInfo`)
      await this.#service.initialize({ deploymentInfo: (await response.json()) as DeploymentInfo })
    })

  run = (call: LoginCall): Promise<void> => this.#record(call, () => this.#calls[call]())

  /** Opens a session with the last token and gives the status. */
  async openSession(): Promise<number> {
    const headers = { authorization: `Bearer ${this.#token}`, 'content-type': 'application/json' }
    return (await fetch(this.#setup.endpoint + paths.session('account'), { method: 'POST', headers, body: '{}' }))
      .status
  }

  /** Whether a store of the page holds the last token, or what it is renewed with. */
  storesSecrets(): boolean {
    const stored = JSON.stringify([{ ...sessionStorage }, { ...localStorage }])
    return stored.includes(this.#token) || /refresh_token|id_token/.test(stored)
  }

  readonly #calls: Record<LoginCall, () => Promise<unknown>> = {
    login: async () => {
      await this.#service.authenticate()
      return this.#service.getToken()
    },
    token: () => this.#service.getToken(),
    refresh: () => this.#service.refresh(),
    logout: () => this.#service.logout(),
  }

  async #record(call: Outcome['call'], work: () => Promise<unknown>): Promise<void> {
    try {
      const text = await work()
      this.outcomes.push({ call, ...(typeof text === 'string' && { token: this.#factsOf(text) }) })
    } catch (error) {
      const { message } = error as Error
      this.outcomes.push({ call, message, reason: error instanceof AuthError ? error.reason : 'unexpected' })
    }
    console.info(`ended: ${call}`)
  }

  #factsOf(token: string): TokenFacts {
    this.#token = token
    const payload = (token.split('.')[1] ?? '').replaceAll('-', '+').replaceAll('_', '/')
    const { sub, jti, scope } = JSON.parse(atob(payload)) as TokenFacts
    return { sub, jti, scope }
  }
}

/** What the page's script does: one host, made of what the page's address says, with the library's own login. */
export function startLoginPage(authOf?: (setup: LoginSetup) => AuthenticationInput): void {
  // A login may return to the page's bare address.
  const given = new URL(location.href).searchParams.get('setup')
  if (given !== null) localStorage.setItem('setup', given)
  const text = given ?? localStorage.getItem('setup') ?? ''
  const setup = JSON.parse(text) as LoginSetup
  const host = new LoginHost(setup, authOf?.(setup))
  globalThis.loginHost = host
  for (const call of ['login', 'token', 'refresh', 'logout'] as const)
    document.getElementById(call)?.addEventListener('click', () => void host.run(call))
  void host.start().then(() => setup.atOnce && host.run(setup.atOnce))
}

declare global {
  var loginHost: LoginHost
}
