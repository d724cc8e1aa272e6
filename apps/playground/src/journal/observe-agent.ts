import type {
  AgentEvent,
  AgentEventPayloadMap,
  AgentEventType,
  AgentMessage,
  AiAgent,
  ConnectionState,
  Message,
} from '@aiagent/client'
import { duration } from '../ui/time.ts'
import type { Journal, Tone } from './journal.ts'
import { redactText } from './redact.ts'

const PHASE_TONES: Readonly<Record<AiAgent['status']['phase']['at'], Tone>> = {
  idle: 'idle',
  preparing: 'busy',
  choosing: 'warn',
  ready: 'good',
  leaving: 'warn',
  destroyed: 'bad',
}

const STATE_TONES: Readonly<Record<ConnectionState, Tone>> = {
  IDLE: 'idle',
  CONNECTING: 'busy',
  CONNECTED: 'good',
  RECONNECTING: 'warn',
  CLOSED: 'bad',
}

const EVENT_TONES: Partial<Readonly<Record<AgentEventType, Tone>>> = {
  initialized: 'good',
  connected: 'good',
  closed: 'warn',
  error: 'bad',
  errorMessage: 'bad',
  escalation: 'warn',
  tokenExpiring: 'warn',
  userChanged: 'warn',
  rateLimited: 'warn',
  maskingUnavailable: 'bad',
  messagesRecovered: 'good',
  queueFlushed: 'good',
  transcriptRestored: 'good',
}

const textOf = ({ content, role }: Pick<AgentMessage | Message, 'content' | 'role'>) => redactText(content || role)
const namesOf = (items: readonly { readonly name?: string | null | undefined }[]) =>
  items.map(({ name }) => name).join(', ')

/** Every event that is shown, and what it says in one line; empty where its name says all. `message` is not shown: the frames show the same. */
const SUMMARIES = {
  phaseChanged: ({ at }) => at,
  initialized: ({ agent, portal, profile }) => [agent?.name, portal?.name, profile?.name].filter(Boolean).join(' · '),
  portalsAvailable: ({ portals }) => namesOf(portals),
  agentsAvailable: ({ agents }) => namesOf(agents),
  profilesAvailable: ({ profiles }) => namesOf(profiles),
  stateChanged: ({ previousState, state }) => `${previousState} → ${state}`,
  connected: () => '',
  closed: ({ code, cause, willReconnect }) => `${code} · ${cause}${willReconnect ? ' · a reconnect follows' : ''}`,
  error: ({ error }) => redactText(error.message),
  errorMessage: ({ error }) => redactText(error.message),
  agentMessage: ({ message }) => textOf(message),
  escalation: ({ escalationType, message }) => `${escalationType} · ${textOf(message)}`,
  workingChanged: ({ isWorking }) => (isWorking ? 'works on an answer' : 'has stopped working'),
  contextValidation: ({ issues }) => issues.map(({ name, reason }) => `${name}: ${reason}`).join(', '),
  chatHistory: () => '',
  tokenExpiring: ({ reason }) => (reason === 'expiring' ? 'expires soon' : 'the service asks for a new one'),
  userChanged: () => '',
  rateLimited: limit =>
    limit.source === 'rest' ? `${limit.operation} · again in ${duration(limit.retryInMs)}` : textOf(limit.message),
  maskingPatternsRefused: ({ patterns }) => namesOf(patterns),
  maskingUnavailable: ({ reason }) => reason,
  queueFlushed: ({ count }) => `sent: ${count}`,
  deliveryUpdate: ({ previousState, state, reason }) => `${previousState} → ${state}${reason ? ` (${reason})` : ''}`,
  transcriptUpdate: ({ entry }) => `${entry.direction}: ${textOf(entry.message)}`,
  messagesRecovered: ({ messages, source }) => `${messages.length} from ${source}`,
  transcriptRestored: ({ entries }) => `entries: ${entries.length}`,
  transcriptTrimmed: ({ removed }) => `removed: ${removed}`,
  transcriptCleared: () => '',
  conversationRead: ({ messageId }) => `up to ${messageId}`,
} satisfies { [Type in AgentEventType]?: (payload: AgentEventPayloadMap[Type]) => string }

/** Notes the states, events and deliveries of an agent, and calls back after each event. */
export function observeAgent(
  agent: AiAgent,
  journal: Pick<Journal, 'enter' | 'addEvent' | 'addDelivery'>,
  onEvent: (event: AgentEvent) => void,
): void {
  journal.enter('phases', agent.status.phase.at, PHASE_TONES[agent.status.phase.at])
  journal.enter('connections', agent.getState(), STATE_TONES[agent.getState()])
  agent.on('phaseChanged', () => {
    const { at } = agent.status.phase
    journal.enter('phases', at, PHASE_TONES[at])
  })
  agent.on('stateChanged', ({ payload }) => journal.enter('connections', payload.state, STATE_TONES[payload.state]))
  agent.on('transcriptUpdate', ({ payload }) => noteDelivery(agent, journal, payload.entry.message.messageId))
  agent.on('deliveryUpdate', ({ payload }) => noteDelivery(agent, journal, payload.id))
  for (const type of Object.keys(SUMMARIES) as (keyof typeof SUMMARIES)[]) {
    // The compiler does not see that the payload is the one of the same name.
    const summaryOf = SUMMARIES[type] as (payload: AgentEvent['payload']) => string
    agent.on(type, (event: AgentEvent) => {
      const tone = EVENT_TONES[type as AgentEventType] ?? 'idle'
      journal.addEvent({ type, tone, summary: summaryOf(event.payload) })
      onEvent(event)
    })
  }
}

function noteDelivery(agent: AiAgent, journal: Pick<Journal, 'addDelivery'>, id: string | undefined): void {
  const delivery = id === undefined ? undefined : agent.delivery(id)
  if (delivery) journal.addDelivery(delivery.id, delivery.message.content ?? '', delivery.state, delivery.reason)
}
