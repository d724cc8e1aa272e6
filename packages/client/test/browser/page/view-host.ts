import { AiAgent, type AiAgentConfig } from '@aiagent/client'
import { type ConversationView, createConversationView } from '@aiagent/client/view'

declare global {
  /** The view of a test's page. */
  var view: ConversationView
}

/** Creates an agent and its view, and connects. */
export async function openView(config: AiAgentConfig): Promise<void> {
  globalThis.view = createConversationView(new AiAgent(config))
  await globalThis.view.start()
}
