import { createChatTransport } from '@aiagent/adapters/ai-sdk'
import { toExternalStore } from '@aiagent/adapters/assistant-ui'
import { createDirectLine } from '@aiagent/adapters/direct-line'
import { AiAgent } from '@aiagent/client'
import { AiAgentProvider, useConversation } from '@aiagent/react'
import { useAiAgentChat } from '@aiagent/react/ai-sdk'
import { createConversationView } from '@aiagent/view'
import { createElement } from 'react'
import { renderToString } from 'react-dom/server'

const agent = new AiAgent({ id: 'help', endpoint: process.argv[2] ?? '', enableLogging: false })

const Chat = () => `${useConversation().connection.state} ${useAiAgentChat().status}`
const html = renderToString(createElement(AiAgentProvider, { agent }, createElement(Chat)))
if (html !== 'idle ready') throw new Error(`The server rendered something else: ${html}`)

const view = createConversationView(agent)
await view.start()
const transport = createChatTransport(agent, { quietMs: 50 })
const message = { parts: [{ type: 'text', text: 'How do I reset my router?' }] }
const stream = await transport.sendMessages({ trigger: 'submit-message', messages: [message], abortSignal: undefined })
const chunks = []
for await (const chunk of stream) chunks.push(chunk)
if (!/reset/i.test(chunks.map(({ delta }) => delta ?? '').join(' ')))
  throw new Error('The transport brought no answer.')
const { messages, suggestions } = toExternalStore(view)
if (messages.length < 2 || !Array.isArray(suggestions)) throw new Error('The store has no answer.')
if (typeof createDirectLine(view).postActivity !== 'function') throw new Error('There is no DirectLine.')
transport.close()
await view.destroy()
await agent.destroy()
