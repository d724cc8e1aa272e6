/*
 * Exports whose code an agent loads after its construction. In a separate file: a bundler that assigns whole files to
 * chunks would otherwise load them with the index.
 */
export { AnonymousAuthStrategy } from './auth/anonymous-strategy.ts'
export { AuthenticationService } from './auth/authentication-service.ts'
export { ClientCredentialsAuthStrategy } from './auth/client-credentials-strategy.ts'
export { PreAuthStrategy } from './auth/pre-auth-strategy.ts'
export { preloadPkce } from './auth/sign-in/pkce-login.ts'
export { Transcript } from './conversation/transcript.ts'
export { MessageQueue } from './outbox/message-queue.ts'
