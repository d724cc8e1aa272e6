import type { Conversation } from '../conversation/conversation.ts'
import type { DeliveryEntry, Tone } from '../journal/journal.ts'
import { useStore } from '../store.ts'
import { Empty } from '../ui/empty.tsx'
import { clockTime } from '../ui/time.ts'
import { useTail } from '../ui/use-tail.ts'

const TONES: Readonly<Record<string, Tone>> = {
  queued: 'warn',
  sending: 'busy',
  sent: 'busy',
  acknowledged: 'good',
  unknown: 'warn',
  failed: 'bad',
  cancelled: 'idle',
}

/** What became of each message of the user. */
export function DeliveryPanel({ conversation: { agent, journal } }: { conversation: Conversation }) {
  const deliveries = useStore(journal.store, state => state.deliveries)
  const tail = useTail<HTMLDivElement>(deliveries.length)
  if (deliveries.length === 0) return <Empty text="Nothing has been sent yet." />
  return (
    <div class="rows" {...tail}>
      {deliveries.map(entry => (
        <Delivery
          key={entry.id}
          entry={entry}
          onRetry={() => agent.delivery(entry.id)?.retry()}
          onCancel={() => agent.delivery(entry.id)?.cancel()}
        />
      ))}
      <p class="actions">
        <button type="button" onClick={() => agent.clearQueue()} disabled={agent.getQueueSize() === 0}>
          Clear the queue
        </button>
      </p>
    </div>
  )
}

interface DeliveryProps {
  entry: DeliveryEntry
  onRetry(): void
  onCancel(): void
}

function Delivery({ entry: { text, states }, onRetry, onCancel }: DeliveryProps) {
  const last = states.at(-1)?.state
  return (
    <article class="delivery">
      <p class="delivery-text">{text || '(no text)'}</p>
      <ol class="states">
        {states.map(({ state, at, reason }) => (
          <li key={at + state} data-tone={TONES[state] ?? 'idle'} title={clockTime(at)}>
            {state}
            {reason !== undefined && <small> {reason}</small>}
          </li>
        ))}
      </ol>
      {(last === 'unknown' || last === 'failed') && (
        <button type="button" onClick={onRetry}>
          Send again
        </button>
      )}
      {last === 'queued' && (
        <button type="button" onClick={onCancel}>
          Cancel
        </button>
      )}
    </article>
  )
}
