import { AiAgent } from '@aiagent/client'
import { AiAgentProvider } from '@aiagent/react'
import { useAiAgentChat } from '@aiagent/react/ai-sdk'
import { AssistantRuntimeProvider } from '@assistant-ui/react'
import { useAISDKRuntime } from '@assistant-ui/react-ai-sdk'
import { createRoot } from 'react-dom/client'
import { Thread } from '../examples/assistant-ui/thread.tsx'

const agent = new AiAgent({ id: 'help', endpoint: ENDPOINT, baseReconnectDelay: 200 })

/** The runtime that assistant-ui has for `useChat()`, over `useAiAgentChat()`. */
function Chat() {
  const chat = useAiAgentChat()
  const options = chat.snapshot.messages.findLast(({ canChoose }) => canChoose)?.options ?? []
  const runtime = useAISDKRuntime(chat, { suggestions: options.map(prompt => ({ prompt })) })
  return (
    <AssistantRuntimeProvider runtime={runtime}>
      <p role="status">{chat.snapshot.connection.state}</p>
      <Thread />
    </AssistantRuntimeProvider>
  )
}

createRoot(document.getElementById('root') as HTMLElement).render(
  <AiAgentProvider agent={agent}>
    <Chat />
  </AiAgentProvider>,
)
