import { isUsableSessionId } from '@aiagent/protocol'
import { SDKError } from './errors.ts'

/**
 * Converts a session id to a trimmed string.
 *
 * @throws {SDKError} code SESSION_ID_INVALID unless it is a safe integer or a string that is neither blank nor a placeholder
 */
export function requireSessionId(value: unknown, where: string): string {
  if (!isUsableSessionId(value)) {
    const problem =
      typeof value === 'number'
        ? 'a number that is not a safe integer. Pass it as text, or omit'
        : 'blank, or a placeholder such as "undefined". Omit'
    const message = `${where} is not a usable session id: ${problem} it to create a new session.`
    throw new SDKError(message, 'SESSION_ID_INVALID')
  }
  return String(value).trim()
}
