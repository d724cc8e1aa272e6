'use client'

import type { AiAgent } from '@aiagent/client'
import { AiAgentProvider, useConnection, useConversation, useConversationView } from '@aiagent/react'

/** An action of the view that fails sets `error` of the snapshot. */
const run = (action: () => Promise<unknown>) => void action().catch(() => {})

const button = (label: string, action: () => Promise<unknown>, isPressed?: boolean, isDisabled?: boolean) => (
  <button key={label} type="button" aria-pressed={isPressed} disabled={isDisabled} onClick={() => run(action)}>
    {label}
  </button>
)

export function Chat({ agent }: { agent: AiAgent }) {
  return (
    <AiAgentProvider agent={agent}>
      <Status />
      <Messages />
      <Composer />
    </AiAgentProvider>
  )
}

function Status() {
  const { state, isOffline, remedy } = useConnection()
  const { retry } = useConversationView()
  if (state === 'connected' && !isOffline) return null
  return (
    <p role="status">
      {isOffline ? 'You are offline.' : `Chat is ${state} …`} {remedy === 'retry' && button('Try again', retry)}
    </p>
  )
}

function Messages() {
  const { choose, rate } = useConversationView()
  const { messages, isWorking } = useConversation(({ messages, isWorking }) => ({ messages, isWorking }))
  return (
    <div className="scroll">
      <ol>
        {messages.map(
          ({ id, author, content, sources, options, canChoose, chosenOption, canRate, rating, delivery }) => (
            <li key={id} className={author} data-delivery={delivery}>
              <p>{content}</p>
              {sources.map(({ title, url }) => (
                <a key={title} href={url}>
                  {title}
                </a>
              ))}
              {options.map(option => button(option, () => choose(id, option), option === chosenOption, !canChoose))}
              {canRate && <small>{button('Helpful', () => rate(id, 'up'), rating === 'up')}</small>}
            </li>
          ),
        )}
        {isWorking && <li className="working">The agent is writing …</li>}
      </ol>
    </div>
  )
}

function Composer() {
  const { send, setDraft } = useConversationView()
  const draft = useConversation(snapshot => snapshot.draft)
  const submit = (event: { preventDefault(): void }) => {
    event.preventDefault()
    run(send)
  }
  return (
    <form onSubmit={submit}>
      <input aria-label="Message" required value={draft} onChange={event => setDraft(event.target.value)} />
      <button type="submit">Send</button>
    </form>
  )
}
