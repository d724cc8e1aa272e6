import type { AgentDetails, DeploymentInfo } from '@aiagent/protocol'
import type { AuthenticationService } from '../auth/authentication-service.ts'
import { hostScopes, resolveScopes } from '../auth/scopes.ts'
import type { ContactCenter } from '../contact-center/contact-center.ts'
import { needsPortal } from '../contact-center/portal/portal-flow.ts'
import { AuthError, type AuthErrorReason, InitializationPipelineError } from '../errors.ts'
import type { LoadedAgent } from '../facts.ts'
import { feature } from '../platform/feature.ts'
import type { AgentScope } from '../scope.ts'
import { subjectFingerprint } from '../util/subject-fingerprint.ts'
import { rateLimitReporter } from './agent-loader.ts'
import type { AgentParts } from './parts.ts'

/** The parts that preparing an agent uses. */
type PreparedParts = Pick<AgentParts, 'scope' | 'authentication' | 'loader' | 'context' | 'users'>

/**
 * Loads everything that an agent needs before portals are selected or a session is created: deployment, details, the
 * connector, scopes, a token.
 *
 * @returns what was loaded, and a promise that is fulfilled when the user and the masking rules are known
 */
export async function prepareAgent(
  parts: PreparedParts,
  openContactCenter: () => Promise<ContactCenter>,
  signal: AbortSignal,
): Promise<{ loaded: LoadedAgent; user: Promise<void> }> {
  const { scope, loader, authentication, context, users } = parts
  const { facts, params, config } = scope
  const opening = params.platform === undefined ? undefined : openContactCenter()
  // The connector's address is known already, so its script is loaded in parallel.
  const introduced = opening?.then(contactCenter => contactCenter.load(signal))
  // Only the first failure is reported; mark this promise as handled.
  introduced?.catch(() => {})
  const deployment = await loader.loadDeployment(signal)
  const requireToken = (cause: unknown) => {
    throw toTokenRequired(cause, scope)
  }
  const agent = await loader.loadAgentDetails(signal).catch(requireToken)
  await introduced
  const contactCenter = await opening
  const { auth, initParams } = config
  const ofLogin = auth && 'type' in auth && auth.type === 'pkce' ? auth.config.scopes : undefined
  facts.scopes =
    hostScopes(ofLogin, initParams['scopes']) ??
    resolveScopes({ agent, platformScopes: await contactCenter?.addScopes(agent, signal) })
  const loaded = { ...deployment, agent }
  const token = await authentication.cancellable(signal, () => signIn(loaded, parts, signal)).catch(requireToken)
  // Aborted while the host's function ran: its token is not used.
  signal.throwIfAborted()
  context.belongTo(authentication.isAnonymousStrategy() ? undefined : subjectFingerprint(token))
  const user = users.load(loaded, signal)
  if (contactCenter) {
    await user
    await contactCenter.initPlatform(signal)
  }
  return { loaded, user }
}

/** With portals, an error that no token can be obtained is one of the portal selection, at its start (ERR-02). */
function toTokenRequired(cause: unknown, { facts, params }: AgentScope): unknown {
  const isMissing = cause instanceof AuthError && TOKEN_REASONS.has(cause.reason)
  if (!isMissing || !needsPortal(facts.agent ?? {}, params)) return cause
  const message = `The portals need an access token, and none could be obtained. ${cause.message}`
  return new InitializationPipelineError(message, 'AUTH_TOKEN_REQUIRED', { stage: 'start', cause })
}

/** Reasons that say nothing but that there is no token. Others tell the host what to do, such as allowing a popup. */
const TOKEN_REASONS: ReadonlySet<AuthErrorReason> = new Set([
  'token_missing',
  'token_request_failed',
  'metadata_failed',
])

/**
 * Ensures a usable token. An authenticated agent needs a user's token: from the host's login, otherwise from the
 * deployment's own; skipped when a session was restored.
 *
 * @returns the token of the active strategy
 * @throws {AuthError} reason `interaction_required` when only the anonymous token is available and there is no page for a login,
 *   or the user must not be asked
 */
async function signIn(
  { agent, deployment }: LoadedAgent,
  { authentication, scope }: PreparedParts,
  signal: AbortSignal,
): Promise<string> {
  await authentication.updateScopes(scope.facts.scopes)
  if (agent.isAuthenticated) {
    if (authentication.isAnonymousStrategy()) await useDeploymentLogin(agent, deployment, authentication, scope, signal)
    const isRestored = authentication.isPKCEStrategy() && authentication.hasSession()
    if (!isRestored && authentication.isPKCEStrategy() && scope.status.isInteractive === false)
      throw new AuthError('The user has to sign in. Call initialize() within a click.', 'interaction_required')
    if (!isRestored) await authentication.authenticate()
  }
  return authentication.getToken()
}

/** Replaces the anonymous strategy with a login at the deployment's identity provider. */
async function useDeploymentLogin(
  agent: AgentDetails,
  deployment: DeploymentInfo,
  authentication: AuthenticationService,
  scope: AgentScope,
  signal: AbortSignal,
): Promise<void> {
  const { config, environment, facts } = scope
  const { page } = environment
  if (!page)
    throw new AuthError(
      "This agent needs a signed-in user. Pass `auth: { type: 'pre-auth', accessToken }`, or an object with getToken().",
      'interaction_required',
    )
  const { loadPkceConfig } = await feature('login', () => import('../auth/login/deployment-login.ts'))
  const nextRoute = page.window?.location.href ?? ''
  const { initParams, authScheme } = config
  const known = { deployment, agent, initParams, scopes: facts.scopes, authScheme, nextRoute }
  const onRateLimited = rateLimitReporter(scope)
  const login = await loadPkceConfig(environment, known, signal, onRateLimited)
  await authentication.switchStrategyTo(login)
  await authentication.initialize({ deploymentInfo: deployment, onRateLimited })
}
