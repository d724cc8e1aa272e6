import '@aiagent/elements'
import type { AiAgentChatElement } from '@aiagent/elements'
import { useLayoutEffect, useRef } from 'preact/hooks'
import type { Conversation } from './conversation.ts'

/** The chat element with the agent of the conversation, and what to try. */
export function ChatPane({ conversation }: { conversation: Conversation }) {
  const { agent, escalate, scenario } = conversation
  const stage = useRef<HTMLDivElement>(null)
  const chat = useRef<AiAgentChatElement>(null)
  useLayoutEffect(() => {
    const element = document.createElement('ai-agent-chat')
    element.agent = agent
    element.escalate = escalate
    const { theme } = document.documentElement.dataset
    if (theme === 'light' || theme === 'dark') element.setAttribute('theme', theme)
    chat.current = element
    stage.current?.append(element)
    return () => element.remove()
  }, [agent])
  const send = (text: string) => {
    // A failure is shown by the element.
    chat.current?.view?.send(text).catch(() => {})
  }
  return (
    <section class="chat" aria-label="Chat">
      <div class="scenario">
        <p>{scenario.description}</p>
        {scenario.tryThis.length > 0 && (
          <p class="try-this">
            {scenario.tryThis.map(text => (
              <button key={text} type="button" onClick={() => send(text)}>
                {text}
              </button>
            ))}
          </p>
        )}
      </div>
      <div class="stage" ref={stage} />
    </section>
  )
}
