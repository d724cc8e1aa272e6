import { AiAgent, type AiAgentConfig } from '@aiagent/client'
import { type ConversationView, createConversationView } from '@aiagent/view'

declare global {
  /** The view of a test's page. */
  var view: ConversationView
}

/** Creates an agent and its view, and connects; where `isLate`, creates the view of an agent that is connected. */
export async function openView(config: AiAgentConfig, isLate = false): Promise<void> {
  const agent = new AiAgent(config)
  if (isLate) {
    await agent.initialize()
    await agent.connect()
  }
  globalThis.view = createConversationView(agent)
  await globalThis.view.start()
}
