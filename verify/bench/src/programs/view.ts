// What one inbound message costs a conversation view of 2,000 messages: the event, the new snapshot, and the notification,
// by the time of the processor.
import { type AgentEvents, type AiAgent, EventEmitter, Message, type TranscriptEntry } from '@aiagent/client'
import { finish, parameters } from '@aiagent/test-support/program'
import { createConversationView } from '@aiagent/view'

export interface ViewParameters {
  rounds: number
}

export interface ViewResult {
  messages: number
  /** Microseconds for each inbound message, one number for each round. */
  times: number[]
}

const MESSAGES = 2_000
/** Inbound messages of a round. The list grows by them, and the next round begins with a new view. */
const TURNS = 100

const { rounds } = await parameters<ViewParameters>()
const times: number[] = []
for (let round = -3; round < rounds; round++) {
  const { agent, receive } = agentWith(MESSAGES)
  let notifications = 0
  const view = createConversationView(agent, { platform: { isVisible: () => false } })
  view.subscribe(() => notifications++)
  const start = process.cpuUsage()
  for (let turn = 0; turn < TURNS; turn++) {
    receive(entry(MESSAGES + turn))
    view.getSnapshot()
  }
  await Promise.resolve()
  const { user, system } = process.cpuUsage(start)
  const time = (user + system) / TURNS
  const after = view.getSnapshot().messages
  if (after.length !== MESSAGES + TURNS || notifications !== 1) throw new Error('The view has missed messages.')
  if (round >= 0) times.push(time)
  await view.destroy()
}
await finish({ messages: MESSAGES, times } satisfies ViewResult)

function entry(number: number): TranscriptEntry {
  const isSent = number % 2 === 0
  const content = `Message ${number} of a conversation, as long as such a message usually is.`
  const message = isSent
    ? new Message('customer', 'human', content, { messageId: `c-${number}` })
    : new Message('agent', 'customer support agent', content, { messageId: `m-${number}`, messageData: {} })
  return {
    id: `e-${number}`,
    message,
    direction: isSent ? 'sent' : 'received',
    timestamp: number,
    sessionId: 's',
    agentId: 'help',
  }
}

/** The members of an agent that a view uses, without a service behind them. */
function agentWith(count: number) {
  const entries = Array.from({ length: count }, (_, number) => entry(number))
  const events = new EventEmitter<AgentEvents>(error => {
    throw error
  })
  const agent = {
    subscribe: events.subscribe.bind(events),
    getTranscript: () => entries,
    getTranscriptSize: () => entries.length,
    getIsInitialized: () => true,
    getSessionData: async () => undefined,
    status: { phase: { at: 'ready' }, connection: 'CONNECTED', working: false, retryAt: undefined },
    isConnected: () => true,
    explain: async () => [],
    maskContent: (text: string) => text,
    previewMasking: (content: string) => ({ content, isBlocked: false }),
    delivery: () => undefined,
    logger: console,
  }
  const receive = (added: TranscriptEntry) => {
    entries.push(added)
    events.emit('transcriptUpdate', { type: 'transcriptUpdate', timestamp: 0, payload: { ...added, entry: added } })
  }
  return { agent: agent as unknown as AiAgent, receive }
}
