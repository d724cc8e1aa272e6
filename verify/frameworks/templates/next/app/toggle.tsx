'use client'

import type { AiAgent } from '@aiagent/client'
import { useState } from 'react'
import { Chat } from './chat'

// #region toggle
/** The agent is created outside, once for the page. Closing leaves the chat, and opening continues the conversation. */
export function ChatButton({ agent }: { agent: AiAgent }) {
  const [isOpen, setOpen] = useState(true)
  return (
    <>
      <button type="button" className="toggle" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        Chat
      </button>
      {isOpen && <Chat agent={agent} />}
    </>
  )
}
// #endregion
