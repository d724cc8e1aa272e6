import { AiAgent, type Explanation } from '@aiagent/client'
import { createRecorder, type TraceRecorder } from '@aiagent/client/recorder'
import type { AiAgentChatElement } from '@aiagent/elements'
import { emulatorDesk } from '@aiagent/emulator/desk'
import { createJournal, type Journal } from '../journal/journal.ts'
import { observeAgent } from '../journal/observe-agent.ts'
import { observeNetwork } from '../journal/observe-network.ts'
import type { Scenario } from '../scenarios/scenarios.ts'
import type { Service } from '../service/service.ts'
import { createStore, type Store } from '../store.ts'

/** What the agent says about itself, read again after each event. */
export interface AgentFacts {
  readonly explanation: Explanation | undefined
  readonly queueSize: number
  readonly sessionId: string | undefined
  /** Whether a chat with a colleague is open. */
  readonly isAtDesk: boolean
}

/** An agent with everything that observes it. */
export interface Conversation {
  readonly scenario: Scenario
  readonly service: Service
  readonly agent: AiAgent
  readonly recorder: TraceRecorder
  readonly journal: Journal
  readonly facts: Store<AgentFacts>
  /** Opens a chat with a colleague; undefined at a deployment. */
  readonly escalate: AiAgentChatElement['escalate']
  /** Ends the agent, and everything that observes it. */
  end(): Promise<void>
}

/** Time between two readings of the agent's explanation, in milliseconds: it counts down to the next attempt. */
const READ_EVERY_MS = 500

/** Creates the agent of a scenario. It starts with the chat element. */
export function createConversation(scenario: Scenario, service: Service): Conversation {
  const journal = createJournal()
  const login = scenario.login && service.login(scenario.login)
  const recorder = createRecorder({ content: true })
  const agent = new AiAgent(
    {
      id: scenario.agentId,
      endpoint: service.endpoint,
      enableLogging: false,
      resume: true,
      // Shorter than the default, so that a half-open connection is found while somebody watches.
      doubtAfterMs: 8000,
      maxReconnectDelay: 8000,
      recorder,
      ...(login && { auth: login }),
      ...scenario.config,
      cache: { keyPrefix: `playground-${scenario.id}` },
    },
    observeNetwork(service.environment, journal),
  )
  const facts = createStore<AgentFacts>({ explanation: undefined, queueSize: 0, sessionId: undefined, isAtDesk: false })
  const openDesk = service.controls && emulatorDesk({ url: service.endpoint, fetch: service.environment.fetch })
  const escalate: AiAgentChatElement['escalate'] =
    openDesk &&
    ((escalation, options) => {
      const desk = openDesk(escalation, options)
      facts.patch({ isAtDesk: desk !== undefined })
      options.signal.addEventListener('abort', () => facts.patch({ isAtDesk: false }))
      return desk
    })
  let isReading = false
  const read = async () => {
    if (isReading) return
    isReading = true
    const explanation = await agent.explain().catch(() => undefined)
    isReading = false
    const queueSize = agent.getQueueSize()
    const before = facts.get()
    if (before.explanation?.text === explanation?.text && before.queueSize === queueSize) return
    facts.patch({ explanation, queueSize })
  }
  const timer = setInterval(() => void read(), READ_EVERY_MS)
  observeAgent(agent, journal, event => {
    if (event.sessionId !== undefined && event.sessionId !== facts.get().sessionId)
      facts.patch({ sessionId: event.sessionId })
    void read()
  })
  void read()
  return {
    scenario,
    service,
    agent,
    recorder,
    journal,
    facts,
    escalate,
    end: async () => {
      clearInterval(timer)
      await agent.destroy()
    },
  }
}
