import { AiAgent } from '@aiagent/client'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { ChatButton } from '../../templates/next/app/toggle'

const agent = new AiAgent({ id: 'help', endpoint: import.meta.env.VITE_ENDPOINT, resume: true })

createRoot(document.getElementById('root') as HTMLElement).render(
  <StrictMode>
    <ChatButton agent={agent} />
  </StrictMode>,
)
