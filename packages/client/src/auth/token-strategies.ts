import type { Logger } from '../logger.ts'
import { describeUnknownNames } from '../util/unknown-names.ts'
import type {
  ClientCredentialsAuthConfig,
  ClientCredentialsAuthServiceConfig,
  PreAuthServiceConfig,
} from './auth-strategy.ts'

export { ClientCredentialsAuthStrategy } from './client-credentials-strategy.ts'
export { PreAuthStrategy } from './pre-auth-strategy.ts'

/** Every field of an `auth` with a token. */
const PRE_AUTH = {
  type: true,
  accessToken: true,
  refreshTokenFn: true,
  expiryBufferMs: true,
} satisfies Record<keyof PreAuthServiceConfig, true>

/** Every field of the config of client credentials. */
const CREDENTIALS = {
  tokenUrl: true,
  clientId: true,
  clientSecret: true,
  scopes: true,
  allowInBrowser: true,
} satisfies Record<keyof ClientCredentialsAuthConfig, true>

/** Warns about fields of `auth` that are not known. */
export function warnAboutFields(
  auth: PreAuthServiceConfig | ClientCredentialsAuthServiceConfig,
  logger: Logger | undefined,
): void {
  const warnings =
    auth.type === 'pre-auth'
      ? describeUnknownNames('auth.', auth, PRE_AUTH)
      : describeUnknownNames('auth.config.', auth.config, CREDENTIALS)
  for (const warning of warnings) logger?.warn(warning)
}
