import type { Conversation } from '../conversation/conversation.ts'
import type { RequestEntry } from '../journal/journal.ts'
import { useStore } from '../store.ts'
import { Empty } from '../ui/empty.tsx'
import { clockTime, duration } from '../ui/time.ts'
import { useNow } from '../ui/use-now.ts'
import { useTail } from '../ui/use-tail.ts'

/** A pause after which a new group of calls begins, in milliseconds. */
const GAP_MS = 2000

/** The REST calls as a waterfall: each group of calls on one time axis. */
export function RequestsPanel({ conversation: { journal } }: { conversation: Conversation }) {
  const requests = useStore(journal.store, state => state.requests)
  const now = useNow(250)
  const tail = useTail<HTMLDivElement>(requests.length)
  if (requests.length === 0) return <Empty text="No REST call yet." />
  return (
    <div class="rows" {...tail}>
      {groupsOf(requests).map(group => {
        const start = group[0]?.from ?? 0
        const end = Math.max(...group.map(({ to }) => to ?? now), start + 1)
        return (
          <section key={start} class="waterfall">
            <h3>
              {clockTime(start)} · {group.length} {group.length === 1 ? 'call' : 'calls'} in {duration(end - start)}
            </h3>
            <ol>
              {group.map(request => (
                <Call key={request.id} request={request} start={start} end={end} now={now} />
              ))}
            </ol>
          </section>
        )
      })}
    </div>
  )
}

function Call({ request, start, end, now }: { request: RequestEntry; start: number; end: number; now: number }) {
  const { method, path, from, to, status } = request
  const tone = status === undefined ? 'busy' : status >= 200 && status < 400 ? 'good' : 'bad'
  const length = end - start
  const left = `${((from - start) / length) * 100}%`
  const width = `${(((to ?? now) - from) / length) * 100}%`
  return (
    <li class="call" data-tone={tone}>
      <code class="method">{method}</code>
      <code class="path" title={path}>
        {path}
      </code>
      <span class="code">{status === undefined ? '…' : status === 0 ? 'failed' : status}</span>
      <span class="bar">
        <i style={{ left, width }} />
      </span>
      <span class="length">{duration((to ?? now) - from)}</span>
    </li>
  )
}

function groupsOf(requests: readonly RequestEntry[]): RequestEntry[][] {
  const groups: RequestEntry[][] = []
  let end = Number.NEGATIVE_INFINITY
  for (const request of requests) {
    if (request.from - end > GAP_MS) groups.push([])
    groups.at(-1)?.push(request)
    end = Math.max(end, request.to ?? request.from)
  }
  return groups
}
