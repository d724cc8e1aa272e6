import { createChatTransport } from '@aiagent/adapters/ai-sdk'
import { type AssistantUiStore, toExternalStore } from '@aiagent/adapters/assistant-ui'
import { createDirectLine } from '@aiagent/adapters/direct-line'
import type { AiAgent } from '@aiagent/client'
import { AiAgentProvider, useConversation, useConversationView } from '@aiagent/react'
import { useAiAgentChat } from '@aiagent/react/ai-sdk'

function Messages() {
  const texts: string[] = useConversation(({ messages }) => messages.map(({ content }) => content))
  const { status } = useAiAgentChat()
  const store: AssistantUiStore = toExternalStore(useConversationView())
  return (
    <p data-running={store.isRunning}>
      {status}: {texts.join(' ')}
    </p>
  )
}

/** What a host's TypeScript sees of the packed bindings, in a component. */
export const Chat = ({ agent }: { agent: AiAgent }) => (
  <AiAgentProvider agent={agent} onLogin={() => undefined}>
    <Messages />
  </AiAgentProvider>
)

// @ts-expect-error a provider needs an agent
export const Empty = () => <AiAgentProvider />

export const adapters = [createChatTransport, createDirectLine]
