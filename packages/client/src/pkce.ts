/**
 * The code that signs users in: loaded on demand by the core entry, and imported here by hosts that serve the callback page,
 * construct a login themselves, or run the login of a deployment outside a page.
 *
 * @module
 */
export type { PKCEAuthConfig } from './auth/auth-strategy.ts'
export { CALLBACK_PAGE, CALLBACK_SCRIPT } from './auth/login/callback-page.ts'
export { CodeLogin, type CodeLoginOptions, type CodeLoginRequest } from './auth/login/code-login.ts'
export {
  type DeploymentLogin,
  type DeploymentLoginFacts,
  deploymentLogin,
  deploymentLoginPath,
} from './auth/login/deployment-login.ts'
export type { LoginOptions } from './auth/login/login.ts'
export type { LoginPage, LoginWindow } from './auth/login/login-page.ts'
export { PKCEAuthStrategy, type PKCEAuthStrategyOptions } from './auth/login/pkce-strategy.ts'
export type { IssuedTokens } from './auth/login/signed-in-user.ts'
export { resolveScopes, type ScopeFacts } from './auth/scopes.ts'
