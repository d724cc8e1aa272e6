import { AiAgent } from '@aiagent/client'
import { AiAgentProvider, useConnection } from '@aiagent/react'
import { useAiAgentChat } from '@aiagent/react/ai-sdk'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { ChatKit } from './kit.tsx'

const agent = new AiAgent({ id: 'help', endpoint: import.meta.env.VITE_ENDPOINT, resume: true })

/** What the form of the AI SDK has no place for comes from `view` and `snapshot`: here the connection, and ratings. */
function Chat() {
  const chat = useAiAgentChat()
  const { state, isOffline } = useConnection()
  const answer = chat.snapshot.messages.findLast(({ canRate }) => canRate)
  return (
    <>
      {(state !== 'connected' || isOffline) && (
        <p role="status">{isOffline ? 'You are offline.' : `Chat is ${state} …`}</p>
      )}
      <ChatKit {...chat} />
      {answer && (
        <button
          type="button"
          className="rating"
          aria-pressed={answer.rating === 'up'}
          onClick={() => chat.view.rate(answer.id, 'up').catch(() => {})}
        >
          The last answer was helpful
        </button>
      )}
    </>
  )
}

createRoot(document.getElementById('root') as HTMLElement).render(
  <StrictMode>
    <AiAgentProvider agent={agent}>
      <Chat />
    </AiAgentProvider>
  </StrictMode>,
)
