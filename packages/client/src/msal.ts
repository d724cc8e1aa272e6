/** Logins through `@azure/msal-browser`, which the host brings itself. */
export { type MsalApplication, msalIdentityClient } from './auth/sign-in/msal-identity-client.ts'
