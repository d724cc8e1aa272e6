/*
 * The code that signs users in: loaded on demand by the core entry, and imported here by hosts that serve the callback page,
 * supply an identity client, build one upon the default, or run the login of a deployment outside a page.
 */
export type { PKCEAuthConfig } from './auth/auth-strategy.ts'
export { resolveScopes, type ScopeFacts } from './auth/scopes.ts'
export { CALLBACK_PAGE, CALLBACK_SCRIPT } from './auth/sign-in/callback-page.ts'
export { CodeLogin, type CodeLoginOptions, type CodeLoginRequest } from './auth/sign-in/code-login.ts'
export {
  type DeploymentLogin,
  type DeploymentLoginFacts,
  deploymentLogin,
  deploymentLoginPath,
} from './auth/sign-in/deployment-login.ts'
export type {
  IdentityClient,
  IdentityClientFactory,
  IdentityClientSettings,
  IdentitySession,
  LoginRequest,
  LogoutPlan,
} from './auth/sign-in/identity-client.ts'
export { createOidcIdentityClient } from './auth/sign-in/oidc-identity-client.ts'
export { PKCEAuthStrategy, type PKCEAuthStrategyOptions } from './auth/sign-in/pkce-strategy.ts'
export type { IssuedTokens } from './auth/sign-in/signed-in-user.ts'
