// What runs in each tab of the campaign.
import { AiAgent, type AiAgentConfig } from '@aiagent/client'

/** The agent of a tab, as the campaign drives it. */
export interface TabHost {
  start(config: AiAgentConfig): Promise<void>
  /** Sends texts without waiting in between. */
  send(texts: readonly string[]): void
  isConnected(): boolean
  /** Contents of the user's messages in the transcript. */
  sent(): string[]
}

declare global {
  var tab: TabHost
}

let agent: AiAgent | undefined

globalThis.tab = {
  async start(config) {
    agent = new AiAgent(config)
    await agent.initialize()
  },
  send(texts) {
    for (const text of texts) void agent?.send(text)
  },
  isConnected: () => agent?.isConnected() ?? false,
  sent: () =>
    agent?.getTranscript().flatMap(({ direction, message }) => (direction === 'sent' ? [message.content ?? ''] : [])) ??
    [],
}
