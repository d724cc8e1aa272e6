import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Emulator } from '../../emulator.ts'
import { readLoginPath } from '../../oauth/login-addresses.ts'
import type { StateStore } from '../../state/state-store.ts'
import type { TenantSeed, UserSeed } from '../../world/seed.ts'
import { LOGINS, MissingPackageError, requireInstalled } from '../optional-package.ts'
import type { LoginParts } from './configuration.ts'
import { LoginState } from './login-state.ts'
import type { IdentityProvider } from './provider.ts'
import { createTokenVerifier } from './token-verifier.ts'

interface Login {
  readonly parts: LoginParts
  provider?: Promise<IdentityProvider>
}

const USER_TYPES = ['agent', 'customer'] as const

/** Leads requests to the logins of an emulator, each of which is created when its first request arrives. */
export class IdentityProviderRouter {
  readonly #emulator: Emulator
  readonly #store: StateStore | undefined
  readonly #logins = new Map<string, Login>()

  /** @param store keeps the keys and records of the logins, if there is one */
  constructor(emulator: Emulator, store?: StateStore) {
    this.#emulator = emulator
    this.#store = store
    if (!store) return
    // Tokens of an earlier process count before the first request to their login.
    for (const tenant of emulator.world.tenants)
      for (const userType of USER_TYPES) {
        const state = new LoginState(store, tenant, userType)
        if (state.isKept) this.#addLogin(tenant, userType, state)
      }
  }

  /** Answers a request to one of the logins. Returns false for any other request. */
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

  #provider(tenant: TenantSeed, userType: UserType): Promise<IdentityProvider> {
    const login = this.#logins.get(keyOf(tenant, userType)) ?? this.#addLogin(tenant, userType)
    return (login.provider ??= createProvider(login.parts))
  }

  #addLogin(tenant: TenantSeed, userType: UserType, state = new LoginState(this.#store, tenant, userType)): Login {
    const { origin, world, settings } = this.#emulator
    const nextSerial = () => this.#emulator.nextTokenSerial()
    const login: Login = { parts: { origin, tenant, userType, world, settings, state, nextSerial } }
    this.#logins.set(keyOf(tenant, userType), login)
    this.#emulator.addTokenVerifier(createTokenVerifier(login.parts))
    return login
  }
}

type UserType = UserSeed['userType']

const keyOf = (tenant: TenantSeed, userType: UserType) => `${tenant.id} ${userType}`

async function createProvider(parts: LoginParts): Promise<IdentityProvider> {
  requireInstalled(LOGINS)
  const { createIdentityProvider } = await import('./provider.ts')
  return createIdentityProvider(parts)
}

function fail(response: ServerResponse, error: unknown): void {
  if (response.headersSent) return void response.destroy()
  const message = error instanceof Error ? error.message : String(error)
  const status = error instanceof MissingPackageError ? 501 : 500
  // The request may come from a popup that nobody reads.
  if (status === 501) process.emitWarning(message, { code: 'AIAGENT_EMULATOR_NO_LOGIN' })
  response.writeHead(status, { 'Content-Type': 'application/json' })
  response.end(JSON.stringify({ code: `${status}-001`, message }))
}
