import type { EmulatorOptions } from '@aiagent/emulator'
import { CHAT_QUERY } from '@aiagent/protocol'
import { eventually } from '@aiagent/test-support'
import type { AiAgent } from '../src/ai-agent.ts'
import type { AiAgentConfig } from '../src/config.ts'
import type { Environment } from '../src/platform/environment.ts'
import { MemoryCacheAdapter } from '../src/storage/memory-cache-adapter.ts'
import { payloadsOf, setUp, type ToldEvent } from './agent-harness.ts'
import { FakeStorage } from './fake-service.ts'

/** An agent with its recorded events. */
export interface Made {
  readonly agent: AiAgent
  readonly told: ToldEvent[]
}

/** Creates a tab with resumable conversations, and the steps of its tests. */
export function setUpTab(config: Partial<AiAgentConfig> = {}, options: EmulatorOptions = {}) {
  const parts = setUp({ settings: { heartbeatBeforeReply: false }, ...options })
  const sessionStorage = new FakeStorage()
  /** Creates an agent in a new page of the tab, as after a reload. */
  const load = (more: Partial<AiAgentConfig> = {}, environment: Partial<Environment> = {}): Made =>
    parts.make(
      { resume: true, ...config, ...more },
      { sessionStorage, memory: new MemoryCacheAdapter(), ...environment },
    )
  const open = async (...given: Parameters<typeof load>): Promise<Made> => {
    const made = load(...given)
    await made.agent.initialize()
    await made.agent.connect()
    return made
  }
  /** Sends a message and waits for its answer. */
  const talk = async ({ agent, told }: Made, text: string): Promise<void> => {
    const answers = () => payloadsOf(told, 'agentMessage').length
    const before = answers()
    await agent.send(text)
    await eventually(() => answers() > before, 'an answer')
  }
  /** Runs a conversation in a page that ends; returns the session id. */
  const talkAndLeave = async (...texts: string[]): Promise<string> => {
    const made = await open()
    for (const text of texts) await talk(made, text)
    await made.agent.destroy()
    return session()
  }
  /** Session id of the last chat connection. */
  const session = (): string =>
    parts.emulator.control.requests().findLast(({ status }) => status === 101)?.query[CHAT_QUERY.SESSION_ID] ?? ''
  /** Session ids in the tab's storage. */
  const kept = (): unknown[] =>
    [...sessionStorage.items]
      .filter(([key]) => key.startsWith('aiagent_session_'))
      .map(([, text]) => JSON.parse(text).value.left.sessionId)
  return { ...parts, sessionStorage, load, open, talk, talkAndLeave, session, kept }
}

/** Directions and contents of the transcript, without system messages. */
export const linesOf = (agent: AiAgent): string[] =>
  agent
    .getTranscript()
    .filter(({ message }) => message.persona !== 'system')
    .map(({ direction, message }) => `${direction}: ${message.content}`)
