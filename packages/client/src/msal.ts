/**
 * Logins through `@azure/msal-browser`, which the host brings itself.
 *
 * @module
 */
export { type MsalApplication, MsalAuthStrategy } from './auth/login/msal-strategy.ts'
