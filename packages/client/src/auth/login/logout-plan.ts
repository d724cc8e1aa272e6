import { isWebAddress } from '../../util/address.ts'
import { readClaims } from '../access-token.ts'
import type { AuthScheme, PKCEAuthConfig } from '../auth-strategy.ts'

/** The decisions for a logout, made before any side effect. */
export interface LogoutPlan {
  /** The scheme of the login. */
  readonly scheme: AuthScheme
  /** Client id of the login. */
  readonly clientId: string
  /** The active account's id token. */
  readonly idTokenHint: string | undefined
  /** Where the provider redirects the user to. */
  readonly postLogoutRedirectUri: string
  /** Return address in the application; with scheme `redirect` only. */
  readonly state: string | undefined
  /** Logout address from the access token's claim. */
  readonly logoutClaim: string | undefined
  /** The usual end-session endpoint, if no source names one. */
  readonly constructedEndpoint: string
}

/**
 * How to sign out. A popup sends no state and returns with `?logout=true`. A redirect sends the address to return to as its
 * state.
 *
 * @param returnTo where the application continues after a redirect
 * @param session the active account, if it is known
 */
export function planLogout(
  { authScheme: scheme = 'redirect', clientId, redirectUri }: PKCEAuthConfig,
  authority: string,
  returnTo: string,
  session: { readonly accessToken: string; readonly idToken?: string | undefined } | null | undefined,
): LogoutPlan {
  const popup = scheme === 'popup'
  const logoutClaim = session ? readClaims(session.accessToken).logout : undefined
  return {
    scheme,
    clientId,
    idTokenHint: session?.idToken,
    postLogoutRedirectUri: popup ? withParameter(redirectUri, 'logout=true') : redirectUri,
    state: popup ? undefined : withoutHash(returnTo),
    // The claim is external input: only an http(s) address is used.
    logoutClaim: logoutClaim !== undefined && isWebAddress(logoutClaim) ? logoutClaim : undefined,
    constructedEndpoint: constructedEndpoint(authority),
  }
}

/** The usual address of the end-session endpoint. */
export function constructedEndpoint(authority: string): string {
  return `${authority.replace(/\/+$/, '')}/oauth2/v2.0/logout`
}

/** The usual issuer of a provider, which names its authority by two segments. */
export function constructedIssuer(authority: string): string {
  const { origin, pathname } = new URL(authority)
  return `${origin}/tfp${pathname.replace(/\/+$/, '')}/v2.0/`
}

/** The address of an end-session endpoint with its parameters. */
export function endSessionRequest(endpoint: string, plan: LogoutPlan): string {
  const address = new URL(endpoint)
  const parameters = {
    id_token_hint: plan.idTokenHint,
    // Without a hint, the client id tells the provider whose return address it is.
    client_id: plan.idTokenHint ? undefined : plan.clientId,
    post_logout_redirect_uri: plan.postLogoutRedirectUri,
    state: plan.state,
  }
  for (const [name, value] of Object.entries(parameters)) if (value) address.searchParams.set(name, value)
  return address.href
}

/**
 * Where to go if the provider names no endpoint, or the identity library fails: the access token's claim, which the
 * provider wrote; otherwise the configured endpoint; otherwise the constructed one.
 */
export function fallbackAddress(plan: LogoutPlan, named?: string): string {
  return plan.logoutClaim ?? endSessionRequest(named ?? plan.constructedEndpoint, plan)
}

export function withoutHash(address: string): string {
  return address.split('#', 1)[0] ?? address
}

function withParameter(address: string, parameter: string): string {
  const base = withoutHash(address)
  return base + (base.includes('?') ? '&' : '?') + parameter
}
