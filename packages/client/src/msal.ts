/** Logins through `@azure/msal-browser`, which the host brings itself. */
export { type MsalApplication, msalIdentityClient } from './auth/pkce/msal-identity-client.ts'
