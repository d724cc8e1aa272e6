import { ANONYMOUS_CLIENT, type TokenResponse } from '@aiagent/protocol'
import type { EmulatorSettings } from '../settings.ts'
import type { World } from '../world/world.ts'
import { ANONYMOUS_SUBJECT, type TokenKeys } from './keys.ts'

type OAuthErrorCode = 'invalid_request' | 'invalid_client' | 'invalid_grant' | 'unsupported_grant_type'

/** A rejected token request, in the terms of OAuth 2. */
export class OAuthError extends Error {
  override readonly name = 'OAuthError'
  readonly status: 400 | 401
  readonly error: OAuthErrorCode

  constructor(status: OAuthError['status'], error: OAuthErrorCode, description: string) {
    super(description)
    this.status = status
    this.error = error
  }
}

export interface TokenForm {
  grantType: string | null
  clientId: string | null
  clientSecret: string | null
  scopes: string[]
}

export interface TokenParts {
  world: World
  keys: TokenKeys
  settings: EmulatorSettings
}

/**
 * Parses a token request. Credentials may be in the form or in a Basic header.
 *
 * @throws {OAuthError} when the body is not form-encoded, or the grant is not `client_credentials`
 */
export function readTokenForm(body: string, contentType: string | undefined, authorization?: string): TokenForm {
  if (!/^application\/x-www-form-urlencoded\b/i.test(contentType ?? ''))
    throw new OAuthError(400, 'invalid_request', 'The body must be form-encoded.')
  const form = new URLSearchParams(body)
  const basic = readBasic(authorization)
  const grantType = form.get('grant_type')
  if (grantType === null) throw new OAuthError(400, 'invalid_request', 'The grant_type is missing.')
  if (grantType !== 'client_credentials')
    throw new OAuthError(400, 'unsupported_grant_type', `The grant "${grantType}" is not offered here.`)
  return {
    grantType,
    clientId: form.get('client_id') ?? basic?.id ?? null,
    clientSecret: form.get('client_secret') ?? basic?.secret ?? null,
    scopes: (form.get('scope') ?? '').split(/\s+/).filter(Boolean),
  }
}

/** An anonymous token, for the placeholder credentials. Every scope is granted, known or not. */
export function grantAnonymous(parts: TokenParts, tenantId: string, form: TokenForm): TokenResponse {
  requireTenant(parts.world, tenantId)
  if (form.clientId !== ANONYMOUS_CLIENT.id || form.clientSecret !== ANONYMOUS_CLIENT.secret)
    throw new OAuthError(401, 'invalid_client', 'This endpoint takes the placeholder credentials only.')
  return grant(parts, tenantId, form.scopes, ANONYMOUS_SUBJECT)
}

/** A token for a known client. Without a scope in the request, it gets the client's own scopes. */
export function grantToClient(parts: TokenParts, tenantId: string, form: TokenForm): TokenResponse {
  requireTenant(parts.world, tenantId)
  const client = form.clientId === null ? undefined : parts.world.clients.get(form.clientId)
  if (!client || client.secret !== form.clientSecret)
    throw new OAuthError(401, 'invalid_client', 'The client is not known, or its secret is wrong.')
  return grant(parts, tenantId, form.scopes.length > 0 ? form.scopes : client.scopes, client.id)
}

function grant(
  { keys, settings }: TokenParts,
  tenantId: string,
  scopes: readonly string[],
  subject: string,
): TokenResponse {
  const lifeSeconds = settings.tokenLifeSeconds
  return {
    access_token: keys.issue({ lifeSeconds, scopes, subject, tenantId }),
    token_type: 'Bearer',
    expires_in: lifeSeconds,
    scope: scopes.join(' '),
  }
}

function requireTenant(world: World, tenantId: string): void {
  if (!world.tenants.some(tenant => tenant.id === tenantId))
    throw new OAuthError(400, 'invalid_request', `There is no tenant "${tenantId}" here.`)
}

function readBasic(authorization = ''): { id: string; secret: string } | undefined {
  const match = /^Basic +(\S+)$/i.exec(authorization)
  if (!match?.[1]) return undefined
  try {
    const [id = '', secret = ''] = atob(match[1]).split(':', 2).map(decodeURIComponent)
    return { id, secret }
  } catch {
    throw new OAuthError(401, 'invalid_client', 'The Basic header cannot be read.')
  }
}
