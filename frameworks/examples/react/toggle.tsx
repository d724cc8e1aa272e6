import type { AiAgent } from '@aiagent/client'
import { useState } from 'react'
import { Chat } from './chat.tsx'

// #region toggle
/** The agent is created outside, once for the page. Closing leaves the chat, and opening continues the conversation. */
export function ChatButton({ agent }: { agent: AiAgent }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <button type="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        Chat
      </button>
      {isOpen && <Chat agent={agent} />}
    </>
  )
}
// #endregion
