import type { AiAgent } from '../src/ai-agent.ts'
import type { AiAgentConfig } from '../src/config.ts'
import { setUp } from './agent-harness.ts'

// Loaded before, since the manual clock does not wait for a file.

/** Time after which every reconnect and every request of the tests has ended, in milliseconds. */
export const SETTLED_MS = 10_000

type Parts = ReturnType<typeof setUp>
type Settings = NonNullable<NonNullable<Parameters<typeof setUp>[0]>['settings']>

/** A connected agent of a slow service, and the steps of an outage. */
export async function setUpOutage(settings: Settings, configOf: (parts: Parts) => Partial<AiAgentConfig> = () => ({})) {
  const parts = setUp({ settings: { replyDelayMs: 500, heartbeatBeforeReply: false, ...settings } })
  const { clock, emulator } = parts
  const { agent, told } = parts.make(configOf(parts))
  await agent.initialize()
  await agent.connect()
  /** Sends a message and cuts the connection before its answer comes. */
  const sendAndCut = async (text: string) => {
    await agent.send(text)
    await clock.advance(100)
    emulator.control.dropSockets()
    await clock.advance(0)
  }
  return { ...parts, agent, told, sendAndCut }
}

/** The transcript without the messages about the conversation itself. */
export const linesOf = (agent: AiAgent): string[] =>
  agent
    .getTranscript()
    .filter(({ message }) => message.persona !== 'system')
    .map(({ direction, message }) => `${direction}: ${message.content}`)

/** The lines of texts that the user sent, each with its answer. */
export const exchange = (...texts: string[]): string[] =>
  texts.flatMap(text => [`sent: ${text}`, `received: You said: ${text}`])
