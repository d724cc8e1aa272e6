import type { AgentEvent, AgentEventType, AiAgent, ConnectionState } from '@aiagent/client'
import type { Journal, Tone } from './journal.ts'
import { redactData, redactText } from './redact.ts'

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

/** Every event that is shown. `message` is not: the frames show the same. */
const SHOWN: readonly AgentEventType[] = [
  'phaseChanged',
  'initialized',
  'portalsAvailable',
  'agentsAvailable',
  'profilesAvailable',
  'stateChanged',
  'connected',
  'closed',
  'error',
  'errorMessage',
  'agentMessage',
  'escalation',
  'workingChanged',
  'contextValidation',
  'chatHistory',
  'tokenExpiring',
  'userChanged',
  'rateLimited',
  'maskingPatternsRefused',
  'maskingUnavailable',
  'queueFlushed',
  'deliveryUpdate',
  'transcriptUpdate',
  'messagesRecovered',
  'transcriptRestored',
  'transcriptTrimmed',
  'transcriptCleared',
  'conversationRead',
]

/** Notes the states, events and deliveries of an agent, and calls back after each event. */
export function observeAgent(agent: AiAgent, journal: Journal, onEvent: (event: AgentEvent) => void): void {
  journal.enter('phases', agent.status.phase.at, PHASE_TONES[agent.status.phase.at])
  journal.enter('connections', agent.getState(), STATE_TONES[agent.getState()])
  agent.on('phaseChanged', () => {
    const { at } = agent.status.phase
    journal.enter('phases', at, PHASE_TONES[at])
  })
  agent.on('stateChanged', ({ payload }) => journal.enter('connections', payload.state, STATE_TONES[payload.state]))
  agent.on('transcriptUpdate', ({ payload }) => noteDelivery(agent, journal, payload.entry.message.messageId))
  agent.on('deliveryUpdate', ({ payload }) => noteDelivery(agent, journal, payload.id))
  for (const type of SHOWN)
    agent.on(type, (event: AgentEvent) => {
      const tone = EVENT_TONES[type] ?? 'idle'
      journal.addEvent({ type, tone, summary: summaryOf(event) })
      onEvent(event)
    })
}

function noteDelivery(agent: AiAgent, journal: Journal, id: string | undefined): void {
  const delivery = id === undefined ? undefined : agent.delivery(id)
  if (delivery) journal.addDelivery(delivery.id, delivery.message.content ?? '', delivery.state, delivery.reason)
}

/** What an event says, in one line. */
function summaryOf({ type, payload }: AgentEvent): string {
  switch (type) {
    case 'phaseChanged':
      return payload.at
    case 'stateChanged':
      return `${payload.previousState} → ${payload.state}`
    case 'initialized':
      return [payload.agent?.name, payload.portal?.name, payload.profile?.name].filter(Boolean).join(' · ')
    case 'portalsAvailable':
      return payload.portals.map(({ name }) => name).join(', ')
    case 'agentsAvailable':
      return payload.agents.map(({ name }) => name).join(', ')
    case 'profilesAvailable':
      return payload.profiles.map(({ name }) => name).join(', ')
    case 'closed':
      return `${payload.code} · ${payload.cause}${payload.willReconnect ? ' · a reconnect follows' : ''}`
    case 'error':
      return redactText(payload.error.message)
    case 'errorMessage':
      return redactText(payload.error.message)
    case 'agentMessage':
      return redactText(payload.message.content ?? '')
    case 'deliveryUpdate':
      return `${payload.previousState} → ${payload.state}${payload.reason === undefined ? '' : ` (${payload.reason})`}`
    case 'transcriptUpdate':
      return `${payload.entry.direction}: ${redactText(payload.entry.message.content ?? payload.entry.message.role)}`
    case 'messagesRecovered':
      return `${payload.messages.length} from ${payload.source}`
    case 'transcriptRestored':
      return `${payload.entries.length} entries`
    case 'chatHistory':
      return ''
    default: {
      const text = JSON.stringify(redactData(payload))
      return text === '{}' ? '' : text.slice(0, 200)
    }
  }
}
