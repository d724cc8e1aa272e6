'use client'

import { AiAgent } from '@aiagent/client'
import { useState } from 'react'
import { ChatButton } from './toggle'

// #region help
/** The server renders it too: an agent that is created there starts nothing. */
export function Help({ endpoint }: { endpoint: string }) {
  const [agent] = useState(() => new AiAgent({ id: 'help', endpoint, resume: true }))
  return <ChatButton agent={agent} />
}
// #endregion
