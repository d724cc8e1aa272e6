import { AiAgent } from '@aiagent/client'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { Chat } from './chat.tsx'

const agent = new AiAgent({ id: 'help', endpoint: import.meta.env.VITE_ENDPOINT, resume: true })

createRoot(document.getElementById('root') as HTMLElement).render(
  <StrictMode>
    <Chat agent={agent} />
  </StrictMode>,
)
