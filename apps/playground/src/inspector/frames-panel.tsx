import { useState } from 'preact/hooks'
import type { Conversation } from '../conversation/conversation.ts'
import type { FrameEntry } from '../journal/journal.ts'
import { useStore } from '../store.ts'
import { Empty } from '../ui/empty.tsx'
import { clockTime } from '../ui/time.ts'
import { useTail } from '../ui/use-tail.ts'

const SIGNS: Readonly<Record<FrameEntry['direction'], string>> = { in: '↓', out: '↑', socket: '•' }
const NAMES: Readonly<Record<FrameEntry['direction'], string>> = { in: 'received', out: 'sent', socket: 'connection' }

/** The frames of the chat in both directions, without their secrets. */
export function FramesPanel({ conversation: { journal } }: { conversation: Conversation }) {
  const frames = useStore(journal.store, state => state.frames)
  const [openId, setOpenId] = useState<number>()
  const tail = useTail<HTMLOListElement>(frames.length)
  if (frames.length === 0) return <Empty text="No frame yet." />
  return (
    <ol class="rows" {...tail}>
      {frames.map(({ id, at, direction, title, summary, json, tone }) => (
        <li key={id} class="row frame" data-tone={tone} data-direction={direction}>
          <time>{clockTime(at)}</time>
          <span class="direction" role="img" aria-label={NAMES[direction]}>
            {SIGNS[direction]}
          </span>
          {json === '' ? (
            <code class="name">{title}</code>
          ) : (
            <button
              type="button"
              class="name disclose"
              aria-expanded={openId === id}
              onClick={() => setOpenId(openId === id ? undefined : id)}
            >
              {title}
            </button>
          )}
          <span class="text">{summary}</span>
          {openId === id && <pre class="json">{json}</pre>}
        </li>
      ))}
    </ol>
  )
}
