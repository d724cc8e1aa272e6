import { PERSONA, ROLE } from '@aiagent/protocol'
import { MessageError } from '../errors.ts'
import type { AgentScope } from '../scope.ts'
import { isUserMessage, Message, type MessageObject, type MessageOrigin } from './message.ts'
import type { Transcript } from './transcript.ts'

/*
 * Converts the argument of `send()` to a message that can be written: normalise and validate. Pure functions.
 */

/** Options of `send()`. */
export interface SendOptions {
  /** Id of the message. @default its `messageId`, else a new UUID */
  id?: string
  /** Sender, for the transcript. @default 'customer' */
  from?: string
  /** Recipient, for the transcript. @default the agent's name */
  to?: string
}

/**
 * The message for an argument of `send()`.
 *
 * @param origin agent and session of the message; undefined while they are not known
 * @throws {MessageError} reason `invalid`
 */
export function composeMessage(
  data: string | MessageObject | Message,
  options: SendOptions,
  scope: Pick<AgentScope<never>, 'environment' | 'newId'>,
  origin: MessageOrigin | undefined,
): Message {
  const given: Partial<Message> = typeof data === 'string' ? { content: data } : (data as Partial<Message>)
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new MessageError('send() takes text, a Message, or an object with persona, role and content.', 'invalid')
  const message = new Message(given.persona ?? PERSONA.CUSTOMER, given.role ?? ROLE.HUMAN, given.content, {
    // An empty id counts as none.
    messageId: options.id || given.messageId || scope.newId(),
    messageData: given.messageData,
    timestamp: given.timestamp ?? scope.environment.clock.now(),
    from: options.from ?? given.from ?? PERSONA.CUSTOMER,
    to: options.to ?? given.to ?? origin?.agentName,
    agentId: origin?.agentId,
    sessionId: origin?.sessionId,
  })
  message.validate()
  requireSubstance(message)
  return message
}

/** @throws {MessageError} reason `invalid` for a user message or feedback without content */
function requireSubstance(message: Message): void {
  const { role, content, messageData, messageId } = message
  const problem =
    isUserMessage(message) && content === undefined && messageData === undefined
      ? 'it has neither content nor messageData'
      : role === ROLE.FEEDBACK && !(messageData?.feedback as { answerMessageId?: unknown } | undefined)?.answerMessageId
        ? 'the feedback has no answerMessageId'
        : undefined
  if (problem) throw new MessageError(`The message cannot be sent: ${problem}.`, 'invalid', { messageId })
}

/** A held message with the agent and the session that are known now. */
export function addressMessage(message: Message, { agentName, agentId, sessionId }: MessageOrigin): Message {
  return message.clone({ to: message.to ?? agentName, agentId, sessionId })
}

/** The message with the data of its frame, so that a later change of the caller's object has no effect. It is frozen. */
export function detachMessage(message: Message, frame: string): Message {
  if (!message.messageData) return message
  const { messageData } = JSON.parse(frame) as MessageObject
  // Not recursive: the data may be nested more deeply than the stack allows.
  const values: unknown[] = [messageData]
  for (const value of values)
    if (typeof value === 'object' && value !== null)
      for (const inner of Object.values(Object.freeze(value))) values.push(inner)
  return message.clone({ messageData })
}

/** Records a message of the chat itself that was written: the stored context, or the disconnect frame. */
export function recordOwnFrame(scope: AgentScope<never>, transcript: Transcript, written: MessageObject): void {
  const { status, config, environment, facts } = scope
  // The transcript is that of the next user already; and of a tab that leaves, the service receives nothing.
  if (status.isLeaving || config.tabs) return
  transcript.record(composeMessage(written, {}, scope, facts), 'sent', environment.clock.now())
}
