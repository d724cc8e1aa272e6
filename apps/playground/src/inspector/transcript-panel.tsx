import type { Conversation } from '../conversation/conversation.ts'
import { redactText } from '../journal/redact.ts'
import { useStore } from '../store.ts'
import { Empty } from '../ui/empty.tsx'
import { clockTime } from '../ui/time.ts'
import { useTail } from '../ui/use-tail.ts'

/** The transcript, as `agent.getTranscript()` returns it. */
export function TranscriptPanel({ conversation: { agent, journal } }: { conversation: Conversation }) {
  // The transcript changes with an event.
  useStore(journal.store, state => state.events)
  const entries = agent.getTranscript()
  const tail = useTail<HTMLOListElement>(entries.length)
  if (entries.length === 0) return <Empty text="The transcript is empty." />
  return (
    <ol class="rows" {...tail}>
      {entries.map(({ id, direction, message, timestamp, recovered }) => (
        <li key={id} class="row" data-direction={direction === 'sent' ? 'out' : 'in'}>
          <time>{clockTime(timestamp)}</time>
          <code class="name">{message.role}</code>
          <span class="text">{redactText(message.content ?? '')}</span>
          {recovered && <span class="tag">recovered</span>}
        </li>
      ))}
    </ol>
  )
}
