import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Emulator } from '../../emulator.ts'
import { readLoginPath } from '../../oauth/login-addresses.ts'
import type { IdentityProvider } from './provider.ts'

/** Stands before the logins of an emulator and makes each when its first request comes. */
export class IdentityProviderRouter {
  readonly #emulator: Emulator
  readonly #providers = new Map<string, Promise<IdentityProvider>>()

  constructor(emulator: Emulator) {
    this.#emulator = emulator
  }

  /** Answers a request to one of the logins. Returns false, and leaves it alone, when it is for somebody else. */
  handle(request: IncomingMessage, response: ServerResponse): boolean {
    const path = (request.url ?? '/').split('?', 1)[0] ?? '/'
    for (const tenant of this.#emulator.world.tenants) {
      const login = readLoginPath(tenant, path)
      if (!login) continue
      const { userType, below } = login
      this.#provider(tenant, userType)
        .then(provider => provider.handle(request, response, below))
        .catch((error: unknown) => fail(response, error))
      return true
    }
    return false
  }

  #provider(tenant: Emulator['world']['tenant'], userType: 'agent' | 'customer'): Promise<IdentityProvider> {
    const key = `${tenant.id} ${userType}`
    const made = this.#providers.get(key) ?? this.#make(tenant, userType)
    this.#providers.set(key, made)
    return made
  }

  async #make(tenant: Emulator['world']['tenant'], userType: 'agent' | 'customer'): Promise<IdentityProvider> {
    const { origin, world, settings } = this.#emulator
    const { createIdentityProvider } = await import('./provider.ts')
    const nextSerial = () => this.#emulator.nextTokenSerial()
    const provider = await createIdentityProvider({ origin, tenant, userType, world, settings, nextSerial })
    this.#emulator.addTokenVerifier(provider.verify)
    return provider
  }
}

function fail(response: ServerResponse, error: unknown): void {
  if (response.headersSent) return void response.destroy()
  const message = error instanceof Error ? error.message : String(error)
  response.writeHead(500, { 'Content-Type': 'application/json' })
  response.end(JSON.stringify({ code: '500-001', message }))
}
