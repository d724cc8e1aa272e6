import type { Conversation } from '../conversation/conversation.ts'
import type { JournalState, Span, Tone } from '../journal/journal.ts'
import { useStore } from '../store.ts'
import { duration } from '../ui/time.ts'
import { useNow } from '../ui/use-now.ts'

/** Length of the visible time, in milliseconds. */
const WINDOW_MS = 45_000
const REFRESH_MS = 125
const GRID_MS = 5000

/** A bar or a mark on a lane. */
interface Mark {
  readonly key: string | number
  readonly label: string
  readonly tone: Tone
  readonly from: number
  readonly to: number | undefined
  /** Marks without a text are thin. */
  readonly isThin: boolean
  readonly kind?: string
}

const LANES: readonly (readonly [string, (state: JournalState) => readonly Mark[]])[] = [
  ['Agent', ({ phases }) => phases.map(bar)],
  ['Connection', ({ connections }) => connections.map(bar)],
  ['REST', ({ requests }) => requests.map(requestMark)],
  ['Frames', ({ frames }) => frames.flatMap(frameMark)],
  ['Faults', ({ faults }) => faults.map(bar)],
]

/** States, calls, frames and faults over the same time. */
export function Timeline({ conversation: { journal } }: { conversation: Conversation }) {
  const state = useStore(journal.store, value => value)
  const now = useNow(REFRESH_MS)
  // It begins full, and moves only when the time is over.
  const start = Math.max(state.startedAt, now - WINDOW_MS)
  const at = (time: number) => `${((time - start) / WINDOW_MS) * 100}%`
  const ticks = Array.from({ length: Math.ceil(WINDOW_MS / GRID_MS) + 1 }, (_, index) => {
    return state.startedAt + (Math.ceil((start - state.startedAt) / GRID_MS) + index) * GRID_MS
  }).filter(tick => tick <= start + WINDOW_MS)
  return (
    <figure class="timeline" aria-label="Timeline of states">
      {LANES.map(([name, marksOf]) => (
        <div class="lane" key={name}>
          <div class="lane-name">{name}</div>
          <div class="lane-track">
            {ticks.map(tick => (
              <i key={tick} class="grid-line" style={{ left: at(tick) }} />
            ))}
            {marksOf(state)
              .filter(({ to }) => (to ?? now) >= start)
              .map(mark => (
                <MarkView key={mark.key} mark={mark} start={start} now={Math.max(now, mark.from)} />
              ))}
          </div>
        </div>
      ))}
      <div class="lane lane-times">
        <div class="lane-name" />
        <div class="lane-track">
          {ticks.map(tick => (
            <span key={tick} style={{ left: at(tick) }}>
              {(tick - state.startedAt) / 1000} s
            </span>
          ))}
        </div>
      </div>
    </figure>
  )
}

function MarkView({ mark, start, now }: { mark: Mark; start: number; now: number }) {
  const { label, tone, from, to, isThin, kind } = mark
  const begin = Math.max(from, start)
  const left = ((begin - start) / WINDOW_MS) * 100
  const width = (((to ?? now) - begin) / WINDOW_MS) * 100
  const length = to === from ? '' : ` · ${duration((to ?? now) - from)}`
  return (
    <div
      class={isThin ? 'mark mark-thin' : 'mark'}
      data-tone={tone}
      data-kind={kind}
      data-open={to === undefined}
      style={{ left: `${left}%`, width: `${width}%` }}
      title={label + length}
    >
      {!isThin && <span>{label}</span>}
    </div>
  )
}

function bar({ id, label, tone, from, to }: Span): Mark {
  return { key: id, label, tone, from, to, isThin: false }
}

function requestMark({ id, method, path, from, to, status }: JournalState['requests'][number]): Mark {
  const tone = status === undefined ? 'busy' : status >= 200 && status < 400 ? 'good' : 'bad'
  return { key: id, label: `${method} ${path} ${status || ''}`, tone, from, to, isThin: true }
}

function frameMark({ id, at, direction, title, summary, tone }: JournalState['frames'][number]): Mark[] {
  if (direction === 'socket') return []
  const label = `${direction === 'in' ? 'received' : 'sent'}: ${title} ${summary}`
  return [{ key: id, label, tone, from: at, to: at, isThin: true, kind: direction }]
}
