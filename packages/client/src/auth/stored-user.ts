import type { AgentScope } from '../scope.ts'
import { ANONYMOUS } from '../storage/keyed-store.ts'
import { subjectFingerprint } from '../util/subject-fingerprint.ts'
import type { AuthenticationService } from './authentication-service.ts'

/**
 * The user of the session and of the queue that are stored: a fingerprint, or {@link ANONYMOUS}. Undefined without a token.
 *
 * @param token of another user than the present one
 */
export function storedUser(
  { config }: Pick<AgentScope<never>, 'config'>,
  authentication: AuthenticationService,
  token = authentication.getCachedToken(),
): string | undefined {
  if (token === null) return undefined
  // Tabs of an anonymous strategy share nothing with a user whose token the host supplied.
  const isUser = !authentication.isAnonymousStrategy() || (config.tabs && authentication.hasUser)
  return (isUser ? subjectFingerprint(token) : undefined) ?? ANONYMOUS
}
