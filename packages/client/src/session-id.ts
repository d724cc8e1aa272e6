import { isUsableSessionId } from '@aiagent/protocol'
import { SDKError } from './errors.ts'

/**
 * Converts a session id to a trimmed string.
 *
 * @throws {SDKError} code SESSION_ID_INVALID unless it is a finite number or a string that is neither blank nor a placeholder
 */
export function requireSessionId(value: unknown, where: string): string {
  if (!isUsableSessionId(value))
    throw new SDKError(
      `${where} is not a usable session id: blank, or a placeholder such as "undefined". Omit it to create a new session.`,
      'SESSION_ID_INVALID',
    )
  return String(value).trim()
}
