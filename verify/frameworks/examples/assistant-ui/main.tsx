import { toExternalStore } from '@aiagent/adapters/assistant-ui'
import { AiAgent } from '@aiagent/client'
import { AiAgentProvider, useConversation, useConversationView } from '@aiagent/react'
import { AssistantRuntimeProvider, useExternalStoreRuntime } from '@assistant-ui/react'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { Thread } from './thread.tsx'

const agent = new AiAgent({ id: 'help', endpoint: import.meta.env.VITE_ENDPOINT, resume: true })

function Chat() {
  const { state, isOffline } = useConversation().connection
  const runtime = useExternalStoreRuntime(toExternalStore(useConversationView()))
  return (
    <AssistantRuntimeProvider runtime={runtime}>
      {(state !== 'connected' || isOffline) && (
        <p role="status">{isOffline ? 'You are offline.' : `Chat is ${state} …`}</p>
      )}
      <Thread />
    </AssistantRuntimeProvider>
  )
}

createRoot(document.getElementById('root') as HTMLElement).render(
  <StrictMode>
    <AiAgentProvider agent={agent}>
      <Chat />
    </AiAgentProvider>
  </StrictMode>,
)
