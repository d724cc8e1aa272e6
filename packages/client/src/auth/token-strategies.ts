export { ClientCredentialsAuthStrategy } from './client-credentials-strategy.ts'
export { PreAuthStrategy } from './pre-auth-strategy.ts'
