import type { Conversation } from '../conversation/conversation.ts'
import { useStore } from '../store.ts'
import { Empty } from '../ui/empty.tsx'
import { clockTime } from '../ui/time.ts'
import { useTail } from '../ui/use-tail.ts'

/** Every event of the agent, in order. */
export function EventsPanel({ conversation: { journal } }: { conversation: Conversation }) {
  const events = useStore(journal.store, state => state.events)
  const tail = useTail<HTMLOListElement>(events.length)
  if (events.length === 0) return <Empty text="No event yet." />
  return (
    <ol class="rows" {...tail}>
      {events.map(({ id, at, type, summary, tone }) => (
        <li key={id} class="row" data-tone={tone}>
          <time>{clockTime(at)}</time>
          <code class="name">{type}</code>
          <span class="text">{summary}</span>
        </li>
      ))}
    </ol>
  )
}
