import { AiAgent } from '@aiagent/client'
import { AiAgentProvider } from '@aiagent/react'
import { StrictMode } from 'react'
import { createRoot, hydrateRoot } from 'react-dom/client'
import { Chat } from '../templates/next/app/chat'

declare global {
  /** Shows the chat with a new agent; the agent before is replaced. */
  var showAgent: () => void
  var unmount: () => void
  /** Names of the signals. */
  var signals: string[]
}

globalThis.signals = []
const newAgent = () => new AiAgent({ id: 'help', endpoint: ENDPOINT, baseReconnectDelay: 200 })
const element = (agent: AiAgent) => (
  <StrictMode>
    <AiAgentProvider agent={agent} onSignal={({ name }) => signals.push(name)}>
      <Chat agent={agent} />
    </AiAgentProvider>
  </StrictMode>
)

const container = document.getElementById('root') as HTMLElement
const first = newAgent()
const root = container.childElementCount > 0 ? hydrateRoot(container, element(first)) : createRoot(container)
if (container.childElementCount === 0) root.render(element(first))
globalThis.showAgent = () => root.render(element(newAgent()))
globalThis.unmount = () => root.unmount()
