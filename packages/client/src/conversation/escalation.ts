import { type EscalationData, restBase } from '@aiagent/protocol'
import type { AgentMessage, AgentMessageResult, EscalationOption } from './message-handler.ts'

/** A live chat takes over; {@link handOverAddress} says where. */
export interface LiveEscalation {
  escalationType: 'live'
  /** What the service said of it. */
  escalationData: EscalationData
  /** Id of the message that hands over, where the service gave it one. */
  messageId: string | undefined
  /** The message that hands over. */
  message: AgentMessage
}

/** A human can be reached by other ways: phone, SMS, email, as `escalationData.options` lists them. */
export interface AlternateEscalation {
  escalationType: 'alternate'
  /** What the service said of it, with the ways as a list. */
  escalationData: EscalationData & { options: EscalationOption[] }
  /** Id of the message that hands over, where the service gave it one. */
  messageId: string | undefined
  /** The message that hands over. */
  message: AgentMessage
}

/** How the agent hands the conversation over to a human. */
export type Escalation = LiveEscalation | AlternateEscalation

/** The hand-over that a message of the agent announces; undefined for an ordinary one. */
export function escalationOf({ messageId, message }: AgentMessageResult): Escalation | undefined {
  // A custom handler may return another type than declared.
  if (!message?.escalationType || !message.escalationData) return undefined
  const { escalationType, escalationData } = message
  if (escalationType === 'live') return { escalationType, escalationData, messageId, message }
  const { options = [] } = escalationData
  return { escalationType, escalationData: { ...escalationData, options }, messageId, message }
}

/**
 * Where the person enters the live chat: `entrypointUrl`, which may be a path on the live domain, else the front page of
 * `liveDomain`.
 *
 * The address comes with an answer, so it is looked at before anybody opens it: only `http:` and `https:` count, and no
 * address that carries a user name or password. The library never opens it by itself.
 *
 * @returns undefined where there is no address that can be used
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
