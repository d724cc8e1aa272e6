import { AiAgent, type AiAgentConfig } from '@aiagent/client'
import { type ConversationView, createConversationView } from '@aiagent/client/view'

declare global {
  /** The view of a test's page. */
  var view: ConversationView
  var startView: typeof import('./view-host.ts').startView
}

/** Creates an agent and its view, and connects. */
export async function startView(config: AiAgentConfig): Promise<void> {
  globalThis.view = createConversationView(new AiAgent(config))
  await view.start()
}
