/** What a person does in their browser to sign in, without one: follows the login, keeps cookies, presses a button. */
export class LoginVisitor {
  readonly #cookies = new Map<string, string>()

  /** Opens the address of a login, and chooses a person on its page. Resolves with the page that stands there in the end. */
  async signIn(address: string, person: string): Promise<Page> {
    return this.#press(await this.open(address), { user: person })
  }

  async cancel(address: string): Promise<Page> {
    return this.#press(await this.open(address), { cancel: 'yes' })
  }

  /** Follows redirects to the page that is shown. */
  async open(address: string, init: RequestInit = {}): Promise<Page> {
    let at = address
    let response = await this.#call(at, init)
    for (let location = response.headers.get('location'); location; location = response.headers.get('location')) {
      at = new URL(location, at).href
      response = await this.#call(at)
    }
    return { address: at, status: response.status, text: await response.text() }
  }

  #press({ address, text }: Page, choice: Record<string, string>): Promise<Page> {
    const [name = '', value = ''] = Object.entries(choice)[0] ?? []
    if (!text.includes(`name="${name}" value="${value}"`)) throw new Error(`The login page has no such button: ${text}`)
    return this.open(address, { method: 'POST', body: new URLSearchParams(choice) })
  }

  async #call(address: string, init: RequestInit = {}): Promise<Response> {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(address, { ...init, redirect: 'manual', headers: { cookie } })
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      this.#cookies.set(name, value)
    }
    return response
  }
}

export interface Page {
  address: string
  status: number
  text: string
}

/** The address of the login page in what the command printed. */
export function loginAddressIn(text: string): string {
  const found = /^ *(https?:\/\/\S+code_challenge\S+)$/m.exec(text)
  if (!found?.[1]) throw new Error(`There is no login address in: ${text}`)
  return found[1]
}
