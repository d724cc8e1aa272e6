import { useChat } from '@ai-sdk/react'
import { createChatTransport } from '@aiagent/adapters/ai-sdk'
import { AiAgent } from '@aiagent/client'
import { useState } from 'react'
import { createRoot } from 'react-dom/client'
import { ChatKit, type KitMessage } from '../examples/ai-sdk/kit.tsx'

const agent = new AiAgent({ id: 'help', endpoint: ENDPOINT, baseReconnectDelay: 200, autoConnect: true })
void agent.initialize()

// #region chat
/** Of AI SDK 7: further questions wait. Version 6 does not know the option, and ignores it. */
const QUEUE = { experimental_queue: true }

/** The AI SDK's own hook over the transport. What nobody asked for is added to its messages. */
function Chat() {
  const [transport] = useState(() =>
    createChatTransport(agent, {
      quietMs: 200,
      onUnasked: ({ id, content }) =>
        chat.setMessages(messages => [
          ...messages,
          { id, role: 'assistant', parts: [{ type: 'text', text: content, state: 'done' }] },
        ]),
    }),
  )
  const chat = useChat<KitMessage>({ transport, ...QUEUE })
  return <ChatKit {...chat} />
}
// #endregion

createRoot(document.getElementById('root') as HTMLElement).render(<Chat />)
