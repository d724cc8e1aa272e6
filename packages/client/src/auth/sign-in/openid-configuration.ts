import { isJsonObject } from '@aiagent/protocol'
import { AuthError } from '../../errors.ts'
import type { Environment } from '../../platform/environment.ts'
import { type FetchedText, fetchText } from '../../platform/fetch-text.ts'
import type { PKCEAuthConfig } from '../auth-strategy.ts'
import { isWebAddress } from './logout-plan.ts'

/** What a provider tells of itself, as far as it is used. */
export interface OpenIdConfiguration {
  readonly authorization_endpoint?: string
  readonly token_endpoint?: string
  readonly end_session_endpoint?: string
  readonly issuer?: string
  readonly jwks_uri?: string
}

const WELL_KNOWN = '/.well-known/openid-configuration'

/**
 * The provider's configuration from where it may stand: under the authority's second version, as the deployments' own
 * providers have it, else under the authority itself, as most others do.
 *
 * @throws {AuthError} `metadata_failed`
 */
export async function fetchOpenIdConfiguration(
  environment: Pick<Environment, 'fetch' | 'clock'>,
  authority: string,
): Promise<OpenIdConfiguration> {
  let answer: FetchedText | undefined
  for (const base of authority.endsWith('/v2.0') ? [authority] : [`${authority}/v2.0`, authority]) {
    answer = await fetchText(environment, base + WELL_KNOWN, { method: 'GET' }).catch(() => undefined)
    const configuration = answer?.ok ? parseOpenIdConfiguration(answer.text) : undefined
    if (configuration) return configuration
  }
  throw new AuthError("The identity provider's OpenID configuration cannot be had.", 'metadata_failed', {
    status: answer?.status,
  })
}

/** The configuration in a text; nothing where there is none. Values that are no web addresses count as absent. */
export function parseOpenIdConfiguration(text: string): OpenIdConfiguration | undefined {
  try {
    const value: unknown = JSON.parse(text)
    if (!isJsonObject(value)) return undefined
    return Object.fromEntries(
      Object.entries(value).filter(([name, each]) => {
        return typeof each === 'string' && (!name.endsWith('_endpoint') || isWebAddress(each))
      }),
    )
  } catch {
    return undefined
  }
}

/**
 * The authority of a login, without a slash at its end.
 *
 * @throws {AuthError} `invalid_input` when the config names none
 */
export function authorityOf({ authorizationUrl, knownAuthorities }: PKCEAuthConfig): string {
  const [host] = knownAuthorities ?? []
  const authority = authorizationUrl ?? (host && (host.includes('://') ? host : `https://${host}`))
  if (authority && isWebAddress(authority)) return authority.replace(/\/+$/, '')
  throw new AuthError('auth.config.authorizationUrl is no address of an identity provider.', 'invalid_input')
}
