import type { Conversation } from '../conversation/conversation.ts'
import type { JournalState, Span, Tone } from '../journal/journal.ts'
import { useStore } from '../store.ts'
import { duration } from '../ui/time.ts'
import { useNow } from '../ui/use-now.ts'

/** Lengths of the visible time and of its grid, in milliseconds: the first seconds are shown in detail. */
const WINDOWS = [
  [6_000, 1_000],
  [18_000, 2_000],
  [45_000, 5_000],
] as const
const LONGEST = WINDOWS[2]
const REFRESH_MS = 125

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
  // The time moves only when the longest window is full.
  const [length, grid] = WINDOWS.find(([each]) => now - state.startedAt < each) ?? LONGEST
  const start = Math.max(state.startedAt, now - length)
  const at = (time: number) => `${((time - start) / length) * 100}%`
  const ticks = Array.from({ length: Math.ceil(length / grid) + 1 }, (_, index) => {
    return state.startedAt + (Math.ceil((start - state.startedAt) / grid) + index) * grid
  }).filter(tick => tick <= start + length)
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
                <MarkView key={mark.key} mark={mark} start={start} length={length} now={Math.max(now, mark.from)} />
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

interface MarkViewProps {
  mark: Mark
  start: number
  /** Length of the visible time, in milliseconds. */
  length: number
  now: number
}

function MarkView({ mark, start, length, now }: MarkViewProps) {
  const { label, tone, from, to, isThin, kind } = mark
  const begin = Math.max(from, start)
  const left = ((begin - start) / length) * 100
  const width = (((to ?? now) - begin) / length) * 100
  const lasted = to === from ? '' : ` · ${duration((to ?? now) - from)}`
  return (
    <div
      class={isThin ? 'mark mark-thin' : 'mark'}
      data-tone={tone}
      data-kind={kind}
      data-open={to === undefined}
      style={{ left: `${left}%`, width: `${width}%` }}
      title={label + lasted}
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
  const label = `${direction === 'in' ? 'received' : 'sent'}: ${title} ${summary}`.trimEnd()
  return [{ key: id, label, tone, from: at, to: at, isThin: true, kind: direction }]
}
