import type { TokenKeys, VerifiedToken } from '../oauth/keys.ts'
import type { EmulatorSettings } from '../settings.ts'
import type { World } from '../world/world.ts'
import { RestError } from './error.ts'

/** The observed header form of a call's token. Unless the service is strict, it accepts both. */
export type TokenForm = 'bearer' | 'bare'

/** Checks the token of a call. */
export class Authorization {
  readonly #keys: TokenKeys
  readonly #settings: EmulatorSettings
  readonly #world: World

  constructor(keys: TokenKeys, settings: EmulatorSettings, world: World) {
    this.#keys = keys
    this.#settings = settings
    this.#world = world
  }

  /**
   * The token of a call.
   *
   * @throws {RestError} 401 when it is missing, invalid or expired; 403 when it lacks the scope and the service checks
   *   scopes
   */
  require(header: string | undefined, scope: string, form: TokenForm = 'bearer'): VerifiedToken {
    const text = readToken(header, form, this.#settings.strictAuthHeader)
    const token = this.#keys.verify(text)
    if (!token) throw new RestError(401, '002', 'The token was not issued by this service.')
    if (this.#keys.secondsLeft(token) <= 0) throw new RestError(401, '013', 'The token has expired.')
    if (this.#settings.checkScopes && !this.#holds(token, scope))
      throw new RestError(403, '001', `The token lacks the scope ${scope}.`)
    return token
  }

  #holds({ scopes, tenantId }: VerifiedToken, scope: string): boolean {
    const prefix = this.#world.tenants.find(({ id }) => id === tenantId)?.permissionPrefix
    return scopes.includes(scope) || scopes.includes(prefix + scope)
  }
}

function readToken(header: string | undefined, form: TokenForm, strict: boolean): string {
  const match = /^(Bearer +)?(\S+)$/i.exec(header?.trim() ?? '')
  if (!match?.[2]) throw new RestError(401, '001', 'The call needs a token in its Authorization header.')
  const given: TokenForm = match[1] ? 'bearer' : 'bare'
  if (strict && given !== form)
    throw new RestError(
      401,
      '003',
      form === 'bearer' ? 'The token must follow "Bearer".' : 'The token must stand alone.',
    )
  return match[2]
}
