import { base64url } from 'jose'
import type { Clock } from '../clock.ts'
import type { EmulatorSettings } from '../settings.ts'
import type { TenantSeed, UserSeed } from '../world/seed.ts'
import type { World } from '../world/world.ts'
import type { TokenKeys } from './keys.ts'
import { LOGIN_ENDPOINTS, loginIssuerPath, loginPath, readLoginPath } from './login-addresses.ts'
import { OAuthError } from './token.ts'

/*
 * An OpenID provider for an emulator without a port, in a page. Its configuration and its tokens come from the emulator's
 * `fetch`; a window cannot be answered by `fetch`, so the page that users sign in on is a file of the host:
 *
 *   client ── popup ──► loginPage?login=acme/staff-sign-in&client_id=… ── answerLogin() ──► callback page ──► client
 *
 * That window has no access to the emulator. The code therefore carries the login itself, bound to the challenge.
 */

export interface PageLoginParts {
  world: World
  clock: Clock
  settings: EmulatorSettings
  keys: TokenKeys
  origin: string
  /** Address of the login page, which the host app serves. */
  loginPage: string
}

/** What a code carries. */
interface Grant {
  subject: string
  clientId: string
  redirectUri: string
  challenge: string
  scopes: string[]
  nonce?: string
}

/** Query parameter of the login page that names the login. */
const LOGIN_PARAMETER = 'login'
const DAY_SECONDS = 24 * 60 * 60

/** The OpenID provider of an emulator in a page. */
export class PageLogin {
  readonly #parts: PageLoginParts
  readonly #usedCodes = new Set<string>()
  /** By refresh token; each is used once. */
  readonly #grants = new Map<string, Grant>()
  #signing: Promise<CryptoKeyPair> | undefined

  constructor(parts: PageLoginParts) {
    this.#parts = parts
  }

  /** Answers a request to one of the logins; undefined for any other request. */
  async answer(request: Request, body: string): Promise<Response | undefined> {
    const { pathname } = new URL(request.url)
    for (const tenant of this.#parts.world.tenants) {
      const login = readLoginPath(tenant, pathname)
      if (!login) continue
      const { userType, below } = login
      if (below === LOGIN_ENDPOINTS.openIdConfiguration) return Response.json(this.#configuration(tenant, userType))
      if (below === LOGIN_ENDPOINTS.token) return this.#token(tenant, userType, new URLSearchParams(body))
      return Response.json({ error: 'not_found' }, { status: 404 })
    }
    return undefined
  }

  #configuration(tenant: TenantSeed, userType: UserSeed['userType']): Record<string, unknown> {
    const { loginPage, origin, settings } = this.#parts
    const page = new URL(loginPage)
    page.searchParams.set(LOGIN_PARAMETER, loginPath(tenant, userType))
    const authority = origin + loginPath(tenant, userType)
    return {
      issuer: origin + loginIssuerPath(tenant, userType),
      authorization_endpoint: page.href,
      token_endpoint: authority + LOGIN_ENDPOINTS.token,
      ...(settings.endSessionEndpoint && { end_session_endpoint: page.href }),
    }
  }

  async #token(tenant: TenantSeed, userType: UserSeed['userType'], form: URLSearchParams): Promise<Response> {
    try {
      return Response.json(await this.#issue(tenant, userType, await this.#redeem(form)), {
        headers: { 'Cache-Control': 'no-store' },
      })
    } catch (error) {
      if (!(error instanceof OAuthError)) throw error
      return Response.json({ error: error.error, error_description: error.message }, { status: error.status })
    }
  }

  /** @throws {OAuthError} invalid_grant */
  async #redeem(form: URLSearchParams): Promise<Grant> {
    if (form.get('grant_type') === 'refresh_token') {
      const token = form.get('refresh_token') ?? ''
      const grant = this.#grants.get(token)
      this.#grants.delete(token)
      const isRenewable = this.#parts.settings.silentRenewal === 'works'
      if (!grant || !isRenewable) throw invalidGrant('The refresh token is unknown, or was used already.')
      return grant
    }
    const code = form.get('code') ?? ''
    const grant = readCode(code)
    if (!grant || this.#usedCodes.has(code)) throw invalidGrant('The code is unknown, or was used already.')
    this.#usedCodes.add(code)
    const challenge = base64url.encode(await digest(form.get('code_verifier') ?? ''))
    if (challenge !== grant.challenge) throw invalidGrant('The code_verifier does not match the code_challenge.')
    if (form.get('client_id') !== grant.clientId || form.get('redirect_uri') !== grant.redirectUri)
      throw invalidGrant('The code was issued to another client.')
    return grant
  }

  async #issue(tenant: TenantSeed, userType: UserSeed['userType'], grant: Grant): Promise<Record<string, unknown>> {
    const { clock, keys, origin, settings, world } = this.#parts
    const user = world.users.get(grant.subject)
    if (!user || user.userType !== userType || world.tenantIdOf(user.id) !== tenant.id)
      throw invalidGrant(`There is no user "${grant.subject}" here.`)
    const lifeSeconds = settings.tokenLifeSeconds
    const now = Math.floor(clock.now() / 1000)
    const idToken = await this.#sign({
      iss: origin + loginIssuerPath(tenant, userType),
      sub: user.id,
      aud: grant.clientId,
      iat: now,
      exp: now + 3600,
      name: user.name,
      preferred_username: user.email ?? user.id,
      ...(grant.nonce !== undefined && { nonce: grant.nonce }),
    })
    const refreshToken = keys.issue({ lifeSeconds: DAY_SECONDS, scopes: [], subject: user.id, tenantId: tenant.id })
    this.#grants.set(refreshToken, grant)
    return {
      access_token: keys.issue({ lifeSeconds, scopes: grant.scopes, subject: user.id, tenantId: tenant.id }),
      token_type: 'Bearer',
      expires_in: lifeSeconds,
      scope: grant.scopes.join(' '),
      refresh_token: refreshToken,
      id_token: idToken,
    }
  }

  async #sign(claims: Record<string, unknown>): Promise<string> {
    this.#signing ??= crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, false, ['sign', 'verify'])
    const { privateKey } = await this.#signing
    const text = [{ alg: 'ES256', typ: 'JWT' }, claims].map(part => base64url.encode(JSON.stringify(part))).join('.')
    const algorithm = { name: 'ECDSA', hash: 'SHA-256' }
    const signature = await crypto.subtle.sign(algorithm, privateKey, new TextEncoder().encode(text))
    return `${text}.${base64url.encode(new Uint8Array(signature))}`
  }
}

/** A request to sign in, or to sign out, as the login page receives it in its address. */
export interface PageLoginRequest {
  /** `sign-out` where there is nobody to choose. */
  readonly kind: 'sign-in' | 'sign-out'
  /** Kind of users of this login. */
  readonly userType: UserSeed['userType']
  /** Tenant of the login. */
  readonly tenantId: string
  /** Page of the application that waits for the answer; undefined after a sign-out that returns nowhere. */
  readonly returnTo: string | undefined
  /** Whether the page is in a hidden frame, in which users cannot choose. */
  readonly isSilent: boolean
}

/**
 * Reads the address of the login page: who may sign in, and where to.
 *
 * @param tenants the tenants of the emulator's world
 * @returns undefined for an address without a valid request, or one that returns to another origin
 */
export function readPageLogin(address: string, tenants: readonly TenantSeed[]): PageLoginRequest | undefined {
  const { origin, searchParams } = new URL(address)
  const path = searchParams.get(LOGIN_PARAMETER)
  const challenge = searchParams.get('code_challenge')
  const returnTo = searchParams.get(challenge === null ? 'post_logout_redirect_uri' : 'redirect_uri') ?? undefined
  if (returnTo !== undefined && !(URL.canParse(returnTo) && new URL(returnTo).origin === origin)) return undefined
  if (challenge !== null && returnTo === undefined) return undefined
  for (const tenant of tenants)
    for (const userType of ['agent', 'customer'] as const)
      if (path === loginPath(tenant, userType))
        return {
          kind: challenge === null ? 'sign-out' : 'sign-in',
          userType,
          tenantId: tenant.id,
          returnTo,
          isSilent: searchParams.get('prompt') === 'none',
        }
  return undefined
}

/**
 * Where the login page goes after the user has chosen: the callback page of the application, with a code or an error.
 *
 * @param address of the login page
 * @param subject id of the user; undefined when the user cancels
 */
export function answerPageLogin(address: string, subject: string | undefined): string {
  const { searchParams } = new URL(address)
  const state = searchParams.get('state')
  const target = new URL(searchParams.get('redirect_uri') ?? '')
  if (subject === undefined) {
    const isSilent = searchParams.get('prompt') === 'none'
    target.searchParams.set('error', isSilent ? 'login_required' : 'access_denied')
  } else {
    const nonce = searchParams.get('nonce')
    const grant: Grant = {
      subject,
      clientId: searchParams.get('client_id') ?? '',
      redirectUri: target.href,
      challenge: searchParams.get('code_challenge') ?? '',
      scopes: (searchParams.get('scope') ?? '').split(' ').filter(Boolean),
      ...(nonce !== null && { nonce }),
    }
    const salt = crypto.randomUUID()
    target.searchParams.set('code', base64url.encode(JSON.stringify({ ...grant, salt })))
  }
  if (state !== null) target.searchParams.set('state', state)
  return target.href
}

function readCode(code: string): Grant | undefined {
  try {
    const grant = JSON.parse(new TextDecoder().decode(base64url.decode(code))) as Partial<Grant>
    const { subject, clientId, redirectUri, challenge, scopes } = grant
    if (!subject || !clientId || !redirectUri || !challenge || !Array.isArray(scopes)) return undefined
    return grant as Grant
  } catch {
    return undefined
  }
}

async function digest(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)))
}

function invalidGrant(description: string): OAuthError {
  return new OAuthError(400, 'invalid_grant', description)
}
