/** Logins through `@azure/msal-browser`, which the host brings itself. */
export { type MsalApplication, MsalAuthStrategy } from './auth/login/msal-strategy.ts'
