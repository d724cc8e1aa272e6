import { PERSONA, ROLE } from '@aiagent/protocol'
import type { Message } from '../../log/message.ts'
import {
  type AgentMessage,
  type AgentMessageResult,
  BaseMessageHandler,
  dataOf,
  type EscalationOption,
  resultOf,
} from '../message-handler.ts'

/** Answers and questions of the agent, whatever their role. */
export class AgentMessageHandler extends BaseMessageHandler {
  override readonly resultType = 'agent_message'

  canHandle(message: Message): boolean {
    return message.persona === PERSONA.AGENT
  }

  handle(message: Message): AgentMessageResult {
    return resultOf(this.resultType, message, agentMessage(message))
  }
}

function agentMessage(message: Message): AgentMessage {
  const { persona, role, content } = message
  const raw = dataOf(message)
  const { options, sources, reasoning, escalation, escalationData } = raw
  const answer: AgentMessage = {
    persona,
    role,
    content,
    raw,
    showReasoning: Boolean(reasoning?.trim()),
    showFeedback: role === ROLE.CUSTOMER_SUPPORT,
    showOptions: role === ROLE.FOLLOW_UP_QUESTION && Boolean(options?.length),
  }
  if (sources) answer.sources = sources
  if (reasoning) answer.reasoning = reasoning
  if (options) answer.options = options
  if (escalation && escalationData) {
    if (escalationData.live) {
      answer.escalationType = 'live'
      answer.escalationData = escalationData
    } else if (escalationData.phone || escalationData.sms || escalationData.email) {
      answer.escalationType = 'alternate'
      answer.escalationData = { ...escalationData, options: waysOut(escalationData) }
    }
  }
  return answer
}

function waysOut(data: NonNullable<AgentMessage['escalationData']>): EscalationOption[] {
  const ways: EscalationOption[] = []
  if (data.phone) ways.push({ label: 'CALL', type: 'phone', ...numbered(data.phoneNumber) })
  if (data.sms) ways.push({ label: 'SMS', type: 'sms', ...numbered(data.smsNumber) })
  if (data.email) ways.push({ label: 'EMAIL', type: 'email' })
  return ways
}

function numbered(value: string | null | undefined): { value?: string } {
  return value ? { value } : {}
}
