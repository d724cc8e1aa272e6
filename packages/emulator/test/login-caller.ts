import { createHash, randomBytes } from 'node:crypto'
import { AUTH_REDIRECT_PATH } from '../src/index.ts'

/** What a person's browser and the application in it do to sign in, without either. */
export class LoginCaller {
  readonly #cookies: Map<string, string>
  readonly authority: string
  readonly clientId: string
  readonly redirectUri: string

  constructor(
    authority: string,
    clientId = 'app-ext',
    cookies = new Map<string, string>(),
    redirectUri = new URL(authority).origin + AUTH_REDIRECT_PATH,
  ) {
    this.#cookies = cookies
    this.authority = authority
    this.clientId = clientId
    this.redirectUri = redirectUri
  }

  /** The same application in the browser of another. */
  inBrowserOf(other: LoginCaller): LoginCaller {
    return new LoginCaller(this.authority, this.clientId, other.#cookies)
  }

  /** Calls with the cookies so far, follows no redirect, and keeps the cookies that come. */
  async call(address: string, init: RequestInit = {}): Promise<Response> {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(address, { ...init, redirect: 'manual', headers: { ...init.headers, cookie } })
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (/expires=Thu, 01 Jan 1970/i.test(line)) this.#cookies.delete(name)
      else this.#cookies.set(name, value)
    }
    return response
  }

  /** Follows redirects until something is shown, or the application is returned to. */
  async open(address: string, init?: RequestInit): Promise<{ address: string; response: Response }> {
    let response = await this.call(address, init)
    for (let hop = 0; hop < 10; hop++) {
      const location = response.headers.get('location')
      if (location === null) break
      address = new URL(location, address).href
      if (address.startsWith(this.redirectUri)) break
      response = await this.call(address)
    }
    return { address, response }
  }

  /** Asks for a login: shows the login page, or comes back right away. */
  async authorize(parameters: Record<string, string> = {}) {
    const verifier = randomBytes(32).toString('base64url')
    const query = new URLSearchParams({
      client_id: this.clientId,
      redirect_uri: this.redirectUri,
      response_type: 'code',
      scope: 'openid profile offline_access api://acme/core.aiservices.read',
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
      state: 'here',
      ...parameters,
    })
    return { verifier, ...(await this.open(`${this.authority}/oauth2/v2.0/authorize?${query}`)) }
  }

  /** Presses a button of the login page. */
  press(page: string, form: Record<string, string>): Promise<{ address: string; response: Response }> {
    return this.open(page, { method: 'POST', body: new URLSearchParams(form) })
  }

  token(form: Record<string, string>): Promise<{ status: number; body: Record<string, string> }> {
    return this.#post(`${this.authority}/oauth2/v2.0/token`, { client_id: this.clientId, ...form })
  }

  exchange(returned: string, verifier: string) {
    const code = new URL(returned).searchParams.get('code') ?? ''
    const form = { grant_type: 'authorization_code', code, redirect_uri: this.redirectUri, code_verifier: verifier }
    return this.token(form)
  }

  refresh(refreshToken: string, more: Record<string, string> = {}) {
    return this.token({ grant_type: 'refresh_token', refresh_token: refreshToken, ...more })
  }

  /** The whole way, for somebody who signs in. */
  async signIn(user: string, parameters?: Record<string, string>) {
    const { address, verifier } = await this.authorize(parameters)
    const returned = await this.press(address, { user })
    return (await this.exchange(returned.address, verifier)).body
  }

  async #post(address: string, form: Record<string, string>) {
    const response = await fetch(address, { method: 'POST', body: new URLSearchParams(form) })
    return { status: response.status, body: (await response.json()) as Record<string, string> }
  }
}
