import type { Trace, TraceEntry } from '@aiagent/client/recorder'

/** What must hold in every recording. */
export type Invariant = 'reordered' | 'duplicated' | 'lost' | 'unanswered promise' | 'state machine'

/** Something that must not happen, and happened. */
export interface Violation {
  /** The violated rule. */
  readonly invariant: Invariant
  /** One sentence, naming the message or the call. */
  readonly detail: string
  /** Milliseconds since the start of the recording. */
  readonly t: number
}

type EntryOf<Kind extends TraceEntry['kind']> = Extract<TraceEntry, { kind: Kind }>
type EventEntry = EntryOf<'event'>

/** A call that is pending this long at the end of a recording counts as unanswered, in milliseconds. */
const PATIENCE_MS = 60_000

/** The states that may follow each state of a connection. */
const NEXT_STATES: Readonly<Record<string, readonly string[]>> = {
  IDLE: ['CONNECTING', 'RECONNECTING', 'CLOSED'],
  CONNECTING: ['CONNECTED', 'RECONNECTING', 'CLOSED'],
  CONNECTED: ['RECONNECTING', 'CONNECTING', 'CLOSED'],
  RECONNECTING: ['CONNECTING', 'CONNECTED', 'CLOSED'],
  CLOSED: ['CONNECTING', 'IDLE'],
}

/** What a recording violates, in order of time. */
export function findViolations(trace: Trace): Violation[] {
  // A recording without its beginning does not show what was accepted or opened before.
  const found = trace.dropped > 0 ? [] : [...checkStates(trace), ...checkOutbound(trace), ...checkInbound(trace)]
  return [...found, ...checkCalls(trace)].sort((a, b) => a.t - b.t)
}

function checkCalls({ endedAt, entries }: Trace): Violation[] {
  const settled = new Set(of(entries, 'settled').map(({ call }) => call))
  const calls = of(entries, 'call')
  const destroyed = calls.find(({ name, call }) => name === 'destroy' && settled.has(call))
  return calls
    .filter(({ call, t }) => !settled.has(call) && (destroyed !== undefined || endedAt - t > PATIENCE_MS))
    .map(({ name, t }) => ({ invariant: 'unanswered promise', detail: `${name}() did not settle.`, t }))
}

function checkStates({ entries }: Trace): Violation[] {
  const violations: Violation[] = []
  const open = new Set<number>()
  let current = 'IDLE'
  for (const entry of entries) {
    if (entry.kind === 'open') open.add(entry.socket)
    if (entry.kind === 'closed') open.delete(entry.socket)
    if (entry.kind !== 'event' || entry.type !== 'stateChanged') continue
    const previous = text(entry, 'previousState')
    const state = text(entry, 'state')
    const fail = (detail: string) => violations.push({ invariant: 'state machine', detail, t: entry.t })
    if (previous !== current) fail(`The state was ${current}, and an event says that it was ${previous}.`)
    if (!NEXT_STATES[previous]?.includes(state)) fail(`The state went from ${previous} to ${state}.`)
    if (state === 'CONNECTED' && open.size === 0) fail('The state is CONNECTED without an open socket.')
    current = state
  }
  return violations
}

interface Written {
  readonly t: number
  readonly content: string
  readonly socket: number
}

/** Messages of the user: what was accepted, in order, against what was written. Questions of `ask()` take turns. */
function checkOutbound({ entries }: Trace): Violation[] {
  const violations: Violation[] = []
  const questions = new Set(of(entries, 'call').flatMap(({ name, text: asked }) => (name === 'ask' ? [asked] : [])))
  const accepted = updates(entries, 'sent').filter(
    ({ details = {} }) => details['persona'] === 'customer' && !questions.has(String(details['content'])),
  )
  const gaveUp = new Set(
    of(entries, 'event').flatMap(entry =>
      entry.type === 'deliveryUpdate' && ['failed', 'cancelled'].includes(text(entry, 'state'))
        ? [text(entry, 'id')]
        : [],
    ),
  )
  const written: Written[] = []
  const ids = new Set<string>()
  for (const { frame, socket, t } of of(entries, 'sent')) {
    if (frame.persona !== 'customer' || frame.content === undefined || questions.has(frame.content)) continue
    const key = `${socket} ${frame.messageId}`
    if (frame.messageId !== undefined && ids.has(key))
      violations.push({ invariant: 'duplicated', detail: `The message ${frame.content} was written twice.`, t })
    ids.add(key)
    written.push({ t, content: frame.content, socket })
  }
  const places = placesOf(accepted.map(({ details }) => String(details?.['content'])))
  const taken = new Set<number>()
  let last = -1
  const counts = new Map<string, number>()
  for (const { content, socket, t } of written) {
    const key = `${socket} ${content}`
    counts.set(key, (counts.get(key) ?? 0) + 1)
    const all = places.get(content) ?? []
    if (all.length > 0 && (counts.get(key) ?? 0) > all.length)
      violations.push({
        invariant: 'duplicated',
        detail: `The message ${content} was written more often than it was sent.`,
        t,
      })
    const place = all.find(each => !taken.has(each))
    if (place === undefined) continue
    taken.add(place)
    if (place < last)
      violations.push({ invariant: 'reordered', detail: `The message ${content} was written behind a later one.`, t })
    last = Math.max(last, place)
  }
  accepted.forEach((entry, place) => {
    if (place > last || taken.has(place) || gaveUp.has(text(entry, 'messageId'))) return
    const detail = `The message ${text(entry, 'content')} was accepted and never written, and a later one was.`
    violations.push({ invariant: 'lost', detail, t: entry.t })
  })
  return violations
}

/** Messages of the agent: what arrived against what the host was told. */
function checkInbound({ entries }: Trace): Violation[] {
  const told = updates(entries, 'received').filter(({ details = {} }) => details['persona'] === 'agent')
  // A transcript that is switched off, or filtered, tells nothing.
  if (told.length === 0) return []
  const violations: Violation[] = []
  const arrived: { id: string; t: number }[] = []
  const numbers = new Set<number>()
  const inHistory = new Set<string>()
  for (const { frame, t } of of(entries, 'received')) {
    for (const element of frame.history ?? []) if (element.messageId !== undefined) inHistory.add(element.messageId)
    if (frame.persona !== 'agent' || frame.messageId === undefined) continue
    if (frame.seq !== undefined && numbers.has(frame.seq)) continue
    if (frame.seq !== undefined) numbers.add(frame.seq)
    arrived.push({ id: frame.messageId, t })
  }
  const counts = new Map<string, number>()
  const live = told.filter(({ details }) => details?.['recovered'] !== true)
  for (const entry of told) {
    const id = text(entry, 'messageId')
    const count = (counts.get(id) ?? 0) + 1
    counts.set(id, count)
    const arrivals = arrived.filter(each => each.id === id).length
    if (count > Math.max(arrivals, inHistory.has(id) ? 1 : 0) && arrivals + (inHistory.has(id) ? 1 : 0) > 0)
      violations.push({ invariant: 'duplicated', detail: `The message ${id} was told ${count} times.`, t: entry.t })
  }
  const leaving = of(entries, 'call').find(({ name }) => name === 'logout' || name === 'destroy')?.t ?? Infinity
  for (const { id, t } of arrived)
    if (!counts.has(id) && t < leaving)
      violations.push({ invariant: 'lost', detail: `The message ${id} arrived, and the host was not told.`, t })
  const places = placesOf(arrived.map(({ id }) => id))
  let last = -1
  for (const entry of live) {
    const place = places.get(text(entry, 'messageId'))?.shift()
    if (place === undefined) continue
    if (place < last)
      violations.push({
        invariant: 'reordered',
        detail: `The message ${text(entry, 'messageId')} was told behind a later one.`,
        t: entry.t,
      })
    last = Math.max(last, place)
  }
  return violations
}

function of<Kind extends TraceEntry['kind']>(
  entries: readonly TraceEntry[],
  kind: Kind,
): (EntryOf<Kind> & TraceEntry)[] {
  return entries.filter((entry): entry is EntryOf<Kind> & TraceEntry => entry.kind === kind)
}

const updates = (entries: readonly TraceEntry[], direction: 'sent' | 'received') =>
  of(entries, 'event').filter(entry => entry.type === 'transcriptUpdate' && text(entry, 'direction') === direction)

const text = ({ details }: EventEntry, name: string): string => String(details?.[name] ?? '')

/** The places of each value in a list. */
function placesOf(values: readonly string[]): Map<string, number[]> {
  const places = new Map<string, number[]>()
  values.forEach((value, place) => places.set(value, [...(places.get(value) ?? []), place]))
  return places
}
