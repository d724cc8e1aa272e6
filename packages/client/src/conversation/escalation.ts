import { type EscalationData, restBase } from '@aiagent/protocol'
import type { AgentMessage, AgentMessageResult, EscalationOption } from './handlers.ts'

/** A live chat takes over; {@link handOverAddress} returns its address. */
export interface LiveEscalation {
  /** Distinguishes the two kinds of escalation. */
  escalationType: 'live'
  /** Data of the service about the escalation. */
  escalationData: EscalationData
  /** Id of the message that hands over, if the service sent one. */
  messageId: string | undefined
  /** The message that hands over. */
  message: AgentMessage
}

/** A human can be contacted in other ways: phone, SMS, email, as listed in `escalationData.options`. */
export interface AlternateEscalation {
  /** Distinguishes the two kinds of escalation. */
  escalationType: 'alternate'
  /** Data of the service about the escalation, with the contact options as a list. */
  escalationData: EscalationData & { options: EscalationOption[] }
  /** Id of the message that hands over, if the service sent one. */
  messageId: string | undefined
  /** The message that hands over. */
  message: AgentMessage
}

/** How the agent hands the conversation over to a human. */
export type Escalation = LiveEscalation | AlternateEscalation

/** The escalation in a message of the agent; undefined for an ordinary one. */
export function escalationOf({ messageId, message }: AgentMessageResult): Escalation | undefined {
  // A custom handler may return another type than declared.
  if (!message?.escalationType || !message.escalationData) return undefined
  const { escalationType, escalationData } = message
  if (escalationType === 'live') return { escalationType, escalationData, messageId, message }
  const { options = [] } = escalationData
  return { escalationType, escalationData: { ...escalationData, options }, messageId, message }
}

/**
 * The address of the live chat: `entrypointUrl`, which may be a path on the live domain, otherwise the front page of
 * `liveDomain`.
 *
 * The address arrives with an answer, so it is validated: only `http:` and `https:` are allowed, and no user name or
 * password. The library never opens it itself.
 *
 * @returns undefined when there is no valid address
 */
export function handOverAddress({
  entrypointUrl,
  liveDomain,
}: Pick<EscalationData, 'entrypointUrl' | 'liveDomain'>): URL | undefined {
  const front = liveDomain?.trim() ? webAddress(restBase(liveDomain)) : undefined
  const entry = entrypointUrl?.trim()
  if (!entry) return front
  return (entry.startsWith('/') ? front && webAddress(entry, front) : webAddress(entry)) ?? front
}

function webAddress(text: string, base?: URL): URL | undefined {
  try {
    const address = new URL(text, base)
    const isWeb = address.protocol === 'https:' || address.protocol === 'http:'
    return isWeb && !address.username && !address.password ? address : undefined
  } catch {
    return undefined
  }
}
