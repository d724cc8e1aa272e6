import type { UseChatHelpers } from '@ai-sdk/react'
import type { UIMessage } from 'ai'
import { type FormEvent, useState } from 'react'

/** A message whose options and hand-overs are data parts. */
export type KitMessage = UIMessage<
  unknown,
  {
    options: { options: readonly string[]; canChoose?: boolean }
    escalation: { url: string | undefined }
    desk: { mark: string | undefined; authorName: string | undefined }
  }
>

/** Components as they are written for `useChat()` of the AI SDK: they know nothing of this library. */
export function ChatKit({ messages, status, error, sendMessage }: UseChatHelpers<KitMessage>) {
  const [text, setText] = useState('')
  const send = (message: string) => void sendMessage({ text: message }).catch(() => {})
  const submit = (event: FormEvent) => {
    event.preventDefault()
    send(text)
    setText('')
  }
  return (
    <>
      {error && <p role="alert">{error.message}</p>}
      <div className="scroll">
        <ol>
          {messages.map(({ id, role, parts }, index) => (
            <li key={id} className={role === 'user' ? 'user' : 'agent'}>
              {parts.map((part, at) => {
                const key = `${id}-${at}`
                if (part.type === 'text') return <p key={key}>{part.text}</p>
                if (part.type === 'source-url')
                  return (
                    <a key={key} href={part.url}>
                      {part.title}
                    </a>
                  )
                if (part.type === 'data-escalation')
                  return (
                    <a key={key} href={part.data.url}>
                      Talk to a human
                    </a>
                  )
                if (part.type !== 'data-options') return null
                return part.data.options.map(option => (
                  <button
                    key={option}
                    type="button"
                    disabled={!(part.data.canChoose ?? index === messages.length - 1)}
                    onClick={() => send(option)}
                  >
                    {option}
                  </button>
                ))
              })}
            </li>
          ))}
          {status === 'submitted' && <li className="working">The agent is writing …</li>}
        </ol>
      </div>
      <form onSubmit={submit}>
        <input aria-label="Message" required value={text} onChange={event => setText(event.target.value)} />
        <button type="submit">Send</button>
      </form>
    </>
  )
}
