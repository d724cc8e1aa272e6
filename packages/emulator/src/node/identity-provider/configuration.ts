import { SCOPE } from '@aiagent/protocol'
import type { ClientMetadata, Configuration, JWK, KoaContextWithOIDC, Provider } from 'oidc-provider'
import { LOGIN_ENDPOINTS, loginPath } from '../../oauth/login-addresses.ts'
import type { EmulatorSettings } from '../../settings.ts'
import type { TenantSeed, UserSeed } from '../../world/seed.ts'
import type { World } from '../../world/world.ts'
import type { LoginState } from './login-state.ts'
import { errorPage, logoutPage, signedOutPage } from './pages.ts'
import { IdentityProviderStore } from './store.ts'

export interface LoginParts {
  origin: string
  tenant: TenantSeed
  userType: UserSeed['userType']
  world: World
  settings: EmulatorSettings
  /** Keys and records of this login. */
  state: LoginState
  /** The next serial number of issued tokens. */
  nextSerial(): number
}

/** What the provider's library needs before there is a provider. */
export interface ProviderTools {
  Provider: typeof Provider
  interactionPolicy: typeof import('oidc-provider').interactionPolicy
  errors: typeof import('oidc-provider').errors
}

export const SIGNING_ALGORITHM = 'ES256'

const DAY_SECONDS = 24 * 60 * 60

/** Settings of the provider of one login: no consent, signed access tokens for the API, rotating refresh tokens. */
export function configureProvider(parts: LoginParts, tools: ProviderTools, signingKey: JWK): Configuration {
  const { origin, state, tenant, userType, world, settings } = parts
  const url = new URL(origin)
  const authority = origin + loginPath(tenant, userType)
  const resource = `urn:tenant:${tenant.id}`
  const scopes = new Set(knownScopes(tenant))
  const store = new IdentityProviderStore(state, id =>
    isClient(world, tenant, id) ? describeClient(id, origin) : undefined,
  )
  // Cookies ignore ports: the cookies of several emulators, and of each login, have different names.
  const cookie = (name: string) => `${name}_${url.port || url.protocol.slice(0, -1)}_${tenant.identifier}_${userType}`
  // A page of another site may show the login in a frame, which needs a cookie that http does not allow.
  const cookieOptions =
    url.protocol === 'https:'
      ? ({ httpOnly: true, sameSite: 'none', secure: true, signed: true } as const)
      : ({ httpOnly: true, sameSite: 'lax', signed: true } as const)

  return {
    adapter: model => store.adapter(model),
    jwks: { keys: [signingKey] },
    cookies: {
      keys: [state.cookieKey],
      names: { session: cookie('session'), interaction: cookie('interaction'), resume: cookie('resume') },
      long: cookieOptions,
      short: cookieOptions,
    },
    routes: {
      authorization: LOGIN_ENDPOINTS.authorization,
      token: LOGIN_ENDPOINTS.token,
      end_session: LOGIN_ENDPOINTS.endSession,
      userinfo: LOGIN_ENDPOINTS.userInfo,
      jwks: LOGIN_ENDPOINTS.keys,
    },
    clientDefaults: { id_token_signed_response_alg: SIGNING_ALGORITHM },
    clientBasedCORS: () => true,
    extraParams: ['domain_hint', 'localLogin'],
    scopes: ['openid', 'offline_access'],
    claims: { openid: ['sub'], profile: ['name', 'preferred_username'], email: ['email'] },
    // The profile is in the id token too, so that a client needs no further call to show the user's name.
    conformIdTokenClaims: false,
    findAccount: (_ctx, id) => {
      const user = loginUsers(parts).find(one => one.id === id)
      if (!user) return undefined
      const { name, email } = user
      return {
        accountId: id,
        claims: () => ({ sub: id, name, preferred_username: email ?? id, ...(email !== undefined && { email }) }),
      }
    },
    features: {
      devInteractions: { enabled: false },
      rpInitiatedLogout: {
        enabled: true,
        logoutSource: (ctx, form) => {
          ctx.body = logoutPage(form)
        },
        postLogoutSuccessSource: ctx => {
          ctx.body = signedOutPage()
        },
      },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => resource,
        useGrantedResource: () => true,
        getResourceServerInfo: ctx => {
          // Nothing is rejected here; only the requested resource is stored.
          for (const scope of requestedScopes(ctx)) if (!OPENID_SCOPES.has(scope)) scopes.add(scope)
          return {
            audience: world.tenant.id,
            scope: [...scopes].join(' '),
            accessTokenFormat: 'jwt',
            jwt: { sign: { alg: SIGNING_ALGORITHM } },
          }
        },
      },
    },
    extraTokenClaims: () => ({
      serial: parts.nextSerial(),
      ...(settings.logoutClaim && { logout: authority + LOGIN_ENDPOINTS.signOut }),
    }),
    interactions: {
      url: (_ctx, { uid }) => `${loginPath(tenant, userType)}/interaction/${uid}`,
      policy: interactions(tools, settings),
    },
    loadExistingGrant: async ctx => {
      const { session, client, account } = ctx.oidc
      if (!session || !client || !account) return undefined
      const { Grant } = ctx.oidc.provider
      const id = session.grantIdFor(client.clientId)
      const known = id === undefined ? undefined : await Grant.find(id)
      const grant =
        known?.accountId === account.accountId
          ? known
          : new Grant({ clientId: client.clientId, accountId: account.accountId })
      grant.addOIDCScope([...ctx.oidc.requestParamOIDCScopes].join(' '))
      for (const [name, server] of Object.entries(ctx.oidc.resourceServers ?? {}))
        grant.addResourceScope(
          name,
          requestedScopes(ctx)
            .filter(scope => server.scopes.has(scope))
            .join(' '),
        )
      await grant.save()
      return grant
    },
    issueRefreshToken: () => true,
    rotateRefreshToken: () => {
      // Called before a refresh token is used: the only place to reject it.
      if (settings.silentRenewal === 'interaction-required')
        throw new tools.errors.CustomOIDCProviderError('interaction_required', 'The person has to take part.')
      if (settings.silentRenewal !== 'works') throw new tools.errors.InvalidGrant('refresh token is not good any more')
      return true
    },
    ttl: {
      AccessToken: () => Math.max(1, Math.floor(settings.tokenLifeSeconds)),
      Grant: 14 * DAY_SECONDS,
      Session: 14 * DAY_SECONDS,
      RefreshToken: DAY_SECONDS,
      Interaction: 60 * 60,
      IdToken: 60 * 60,
      AuthorizationCode: 60,
    },
    renderError: (ctx, { error, error_description }) => {
      ctx.type = 'html'
      ctx.body = errorPage('This did not work', [error, error_description].filter(Boolean).join(': '))
    },
  }
}

/** The users of a login: those of the tenant and of its kind. */
export function loginUsers({ tenant, userType, world }: LoginParts): UserSeed[] {
  return [...world.users.values()].filter(user => user.userType === userType && world.tenantIdOf(user.id) === tenant.id)
}

const OPENID_SCOPES: ReadonlySet<string> = new Set(['openid', 'offline_access', 'profile', 'email'])

function requestedScopes(ctx: KoaContextWithOIDC): string[] {
  const { scope } = ctx.oidc.params ?? {}
  return typeof scope === 'string' ? scope.split(' ').filter(Boolean) : []
}

/** The scopes of the API in both forms of clients: with the permission prefix, and without. */
function knownScopes({ permissionPrefix }: TenantSeed): string[] {
  return Object.values(SCOPE).flatMap(scope => [scope, permissionPrefix + scope])
}

/** The clients of a login: the tenant's own applications, and the `clientAppId` of agents. */
function isClient(world: World, tenant: TenantSeed, id: string): boolean {
  if ([tenant.clientId, tenant.intClientId, tenant.extClientId, ...(tenant.loginClientIds ?? [])].includes(id))
    return true
  return [...world.agents.values()].some(({ details }) => details.clientAppId === id)
}

function describeClient(id: string, origin: string): ClientMetadata {
  return {
    client_id: id,
    token_endpoint_auth_method: 'none',
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    // Checked by a rule instead; the library requires a value.
    redirect_uris: [`${origin}/`],
  }
}

function interactions({ interactionPolicy }: ProviderTools, settings: EmulatorSettings) {
  const { base, Check, Prompt } = interactionPolicy
  const policy = base()
  const refuse = (when: EmulatorSettings['silentRenewal'], error: string) =>
    new Check(`silent_renewal_${error}`, 'The person has to take part.', error, ctx =>
      settings.silentRenewal === when && !ctx.oidc.result?.['login'] ? Check.REQUEST_PROMPT : Check.NO_NEED_TO_PROMPT,
    )
  // Comes first, since the first failing check names the error.
  policy.get('login')?.checks.add(refuse('interaction-required', 'interaction_required'), 0)
  policy.get('login')?.checks.add(refuse('fails', 'login_required'), 0)
  policy.add(new Prompt({ name: 'select_account', requestable: true }), 0)
  return policy
}
