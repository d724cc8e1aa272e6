'use client'

import { AiAgent } from '@aiagent/client'
import { useState } from 'react'
import { Chat } from '../react/chat.tsx'

/** The whole page, for server and browser. The server creates an agent too, which starts nothing. */
export function App({ endpoint }: { endpoint: string }) {
  const [agent] = useState(() => new AiAgent({ id: 'help', endpoint, resume: true }))
  return (
    <html lang="en">
      <head>
        <meta charSet="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>Help</title>
        <link rel="stylesheet" href="/chat.css" />
      </head>
      <body>
        <main className="chat">
          <Chat agent={agent} />
        </main>
      </body>
    </html>
  )
}
