import { readClaims } from '../access-token.ts'
import type { AuthScheme } from '../auth-strategy.ts'
import type { IdentitySession } from './identity-client.ts'
import { isWebAddress } from './provider-address.ts'

export interface LogoutFacts {
  /** The scheme of the login. */
  scheme: AuthScheme
  redirectUri: string
  nextRoute?: string | undefined
  /** Address of the present page. */
  currentAddress: string
  /** The active account's id token. */
  idToken?: string | undefined
  /** Its access token's `logout` claim. */
  logoutClaim?: string | undefined
  authority: string
}

/** What a logout does, decided before anything happens. */
export interface LogoutPlan {
  /** The scheme of the login. */
  readonly scheme: AuthScheme
  /** The active account's id token. */
  readonly idTokenHint: string | undefined
  /** Where the provider sends the person back to. */
  readonly postLogoutRedirectUri: string
  /** Where to come back to; with scheme `redirect` only. */
  readonly state: string | undefined
  /** An address for the logout that the access token names. */
  readonly logoutClaim: string | undefined
  /** Where the session would end by convention, if nobody names a place. */
  readonly constructedEndpoint: string
  /** Settles when the chat has been left: the provider is asked no earlier. A window opens at once. */
  readonly after?: Promise<unknown> | undefined
}

/**
 * How to sign out. A popup hands over no state and comes back with `?logout=true`; a redirect carries the next route in
 * its state and comes back to it.
 */
export function planLogout(facts: LogoutFacts): LogoutPlan {
  const { scheme, redirectUri, nextRoute, currentAddress, idToken, logoutClaim, authority } = facts
  const popup = scheme === 'popup'
  return {
    scheme,
    idTokenHint: idToken,
    postLogoutRedirectUri: popup ? withParameter(redirectUri, 'logout=true') : redirectUri,
    state: popup ? undefined : withoutHash(nextRoute || currentAddress),
    // The claim comes from outside: nothing but a web address is ever gone to.
    logoutClaim: logoutClaim !== undefined && isWebAddress(logoutClaim) ? logoutClaim : undefined,
    constructedEndpoint: constructedEndpoint(authority),
  }
}

/** Where a session ends by convention. */
export function constructedEndpoint(authority: string): string {
  return `${authority.replace(/\/+$/, '')}/oauth2/v2.0/logout`
}

/** A plan that was made without a session, completed by the stored one. */
export function logoutPlanFor(plan: LogoutPlan, stored: IdentitySession | undefined): LogoutPlan {
  if (plan.idTokenHint !== undefined || !stored) return plan
  return { ...plan, idTokenHint: stored.idToken, logoutClaim: logoutClaimOf(stored.accessToken) }
}

/** The address for a logout that an access token names. It comes from outside: only a web address counts. */
export function logoutClaimOf(accessToken: string | undefined): string | undefined {
  const { logout } = accessToken === undefined ? {} : readClaims(accessToken)
  return logout !== undefined && isWebAddress(logout) ? logout : undefined
}

/** The address of an end-session endpoint with what it needs to know. */
export function endSessionRequest(endpoint: string, plan: LogoutPlan, clientId: string): string {
  const address = new URL(endpoint)
  const parameters = {
    id_token_hint: plan.idTokenHint,
    // Without a hint the provider has to be told whose return address it is.
    client_id: plan.idTokenHint ? undefined : clientId,
    post_logout_redirect_uri: plan.postLogoutRedirectUri,
    state: plan.state,
  }
  for (const [name, value] of Object.entries(parameters)) if (value) address.searchParams.set(name, value)
  return address.href
}

/**
 * Where to go when the provider names no endpoint, or the identity library fails: the access token's claim, which is the
 * provider's word, else the endpoint that is named, else the constructed one.
 */
export function fallbackAddress(plan: LogoutPlan, named: string | undefined, clientId: string): string {
  return plan.logoutClaim ?? endSessionRequest(named ?? plan.constructedEndpoint, plan, clientId)
}

export function withoutHash(address: string): string {
  return address.split('#', 1)[0] ?? address
}

function withParameter(address: string, parameter: string): string {
  const base = withoutHash(address)
  return base + (base.includes('?') ? '&' : '?') + parameter
}
