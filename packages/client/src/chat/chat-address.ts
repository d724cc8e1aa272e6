import { type AgentDetails, CHAT_QUERY, type DeploymentInfo, socketBase } from '@aiagent/protocol'
import { ConnectionError } from '../errors.ts'

export interface ChatAddressParts {
  agent: Pick<AgentDetails, 'webSocketDomain'>
  deployment: Pick<DeploymentInfo, 'aiAgentDomain'>
  /** Checked before: see `requireSessionId`. */
  sessionId: string
  /** Set by a platform connector. */
  conversationId?: string | null | undefined
  /** Number of the last frame that was processed, where the service repeats what was missed. */
  lastSeq?: number | undefined
}

/**
 * The address of the chat socket.
 *
 * The host is the agent's `webSocketDomain` if it has one, otherwise `chat.` before the deployment's `aiAgentDomain`.
 * Port and path are kept.
 *
 * @throws {ConnectionError} reason `no_address` when there is neither, or they form no valid address
 * @see PROTOCOL.md, "Address"
 */
export function chatAddress(parts: ChatAddressParts): string {
  const url = hostAddress(parts)
  url.searchParams.set(CHAT_QUERY.SESSION_ID, parts.sessionId)
  if (parts.conversationId) url.searchParams.set(CHAT_QUERY.EXTERNAL_CALL_ID, parts.conversationId)
  if (parts.lastSeq !== undefined) url.searchParams.set(CHAT_QUERY.LAST_SEQ, String(parts.lastSeq))
  return url.href
}

function hostAddress({ agent, deployment }: ChatAddressParts): URL {
  const own = agent.webSocketDomain?.trim()
  const shared = deployment.aiAgentDomain?.trim()
  const base = own ? socketBase(own) : shared && socketBase(shared).replace('://', '://chat.')
  if (!base)
    throw new ConnectionError(
      'The chat has no address: neither the agent’s webSocketDomain nor the deployment’s aiAgentDomain is set.',
      'no_address',
    )
  try {
    return new URL(base)
  } catch (cause) {
    throw new ConnectionError(`The chat's address cannot be read: ${base}`, 'no_address', { cause })
  }
}
