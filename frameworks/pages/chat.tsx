import type { AiAgent } from '@aiagent/client'
import { AiAgentProvider, useConnection, useConversation, useConversationView } from '@aiagent/react'

/** A small chat: messages with sources, options and ratings, the state of the connection, and an input. */
export function Chat({ agent }: { agent: AiAgent }) {
  return (
    <AiAgentProvider agent={agent}>
      <Line />
      <Messages />
      <Input />
    </AiAgentProvider>
  )
}

function Line() {
  const { state, isOffline } = useConnection()
  if (state === 'connected' && !isOffline) return null
  return <p role="status">{isOffline ? 'You are offline.' : `Connection: ${state}`}</p>
}

function Messages() {
  const { choose, rate } = useConversationView()
  const messages = useConversation(snapshot => snapshot.messages)
  const isWorking = useConversation(snapshot => snapshot.isWorking)
  return (
    <ol>
      {messages.map(({ id, author, content, options, canChoose, chosenOption, canRate, rating, delivery }) => (
        <li key={id} className={author} data-delivery={delivery}>
          {content}
          {options.map(option => (
            <button
              key={option}
              type="button"
              disabled={!canChoose}
              aria-pressed={option === chosenOption}
              onClick={() => choose(id, option)}
            >
              {option}
            </button>
          ))}
          {canRate && (
            <button type="button" aria-pressed={rating === 'up'} onClick={() => rate(id, 'up')}>
              Helpful
            </button>
          )}
        </li>
      ))}
      {isWorking && <li className="working">…</li>}
    </ol>
  )
}

function Input() {
  const { send, setDraft } = useConversationView()
  const draft = useConversation(snapshot => snapshot.draft)
  return (
    <form
      onSubmit={event => {
        event.preventDefault()
        void send()
      }}
    >
      <input aria-label="Message" value={draft} onChange={event => setDraft(event.target.value)} />
      <button type="submit">Send</button>
    </form>
  )
}
