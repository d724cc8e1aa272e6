import { AuthError } from '../../errors.ts'
import { isLoopbackHost } from '../../util/loopback.ts'
import type { PKCEAuthConfig } from '../auth-strategy.ts'

/** Start of the key for the signed-in user, followed by the provider's authority and the client id. */
const USER_PREFIX = 'aiagent_oidc_user.'

/** Whether a text is an http(s) address. */
export function isWebAddress(address: string): boolean {
  return URL.canParse(address) && /^https?:$/.test(new URL(address).protocol)
}

/**
 * The authority of a login, without a trailing slash.
 *
 * @throws {AuthError} `invalid_input` when the config names none, when it is not in `knownAuthorities`, or when it uses
 *   plain http although it is not on this machine
 */
export function authorityOf(config: PKCEAuthConfig): string {
  const { authorizationUrl, knownAuthorities } = config
  const [host] = knownAuthorities ?? []
  const authority = authorizationUrl ?? (host && (host.includes('://') ? host : `https://${host}`))
  if (!authority || !isWebAddress(authority))
    throw new AuthError('auth.config.authorizationUrl is not the address of an identity provider.', 'invalid_input')
  requireProviderAddress(authority, config, 'auth.config.authorizationUrl', 'invalid_input')
  return authority.replace(/\/+$/, '')
}

/**
 * Rejects an address that a login must not use: one outside the hosts of `knownAuthorities` (if there are any), or one
 * with plain http to another machine.
 *
 * @throws {AuthError} with the given reason
 */
export function requireProviderAddress(
  address: string,
  config: Pick<PKCEAuthConfig, 'knownAuthorities'>,
  what: string,
  reason: 'invalid_input' | 'metadata_failed',
): void {
  const url = new URL(address)
  if (url.protocol !== 'https:' && !isLoopbackHost(url.hostname))
    throw new AuthError(`${what} does not use https: ${url.origin}.`, reason)
  const known = (config.knownAuthorities ?? []).map(each => (isWebAddress(each) ? new URL(each).host : each))
  if (known.length > 0 && !known.includes(url.host) && !known.includes(url.hostname))
    throw new AuthError(`${what} is on ${url.host}, which is not in auth.config.knownAuthorities.`, reason)
}

/** Key of the signed-in user of a login. */
export function userKey(authority: string, clientId: string): string {
  return `${USER_PREFIX}${authority}:${clientId}`
}
