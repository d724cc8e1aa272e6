import { createStore, type Store } from '../store.ts'

/** How something is coloured. */
export type Tone = 'idle' | 'busy' | 'good' | 'warn' | 'bad'

/** A state that lasted, on one of the lanes of the timeline. */
export interface Span {
  readonly id: number
  readonly label: string
  readonly tone: Tone
  /** Milliseconds since the epoch. */
  readonly from: number
  /** Undefined while it lasts. */
  readonly to: number | undefined
}

/** One REST call. */
export interface RequestEntry {
  readonly id: number
  readonly method: string
  /** Path without ids of sessions, and without the values of its query. */
  readonly path: string
  readonly from: number
  readonly to: number | undefined
  /** 0 when no answer arrived; undefined while it is in flight. */
  readonly status: number | undefined
}

/** One frame, or an opening or closing of a connection. */
export interface FrameEntry {
  readonly id: number
  readonly at: number
  /** `socket` for an opening or closing. */
  readonly direction: 'in' | 'out' | 'socket'
  /** Persona and role, or what happened to the connection. */
  readonly title: string
  readonly summary: string
  /** The frame without its secrets; empty for a connection. */
  readonly json: string
  readonly tone: Tone
}

/** One event of the agent. */
export interface EventEntry {
  readonly id: number
  readonly at: number
  readonly type: string
  readonly summary: string
  readonly tone: Tone
}

/** The delivery of one message of the user. */
export interface DeliveryEntry {
  /** The message's id. */
  readonly id: string
  readonly text: string
  /** Its states with their times, oldest first. */
  readonly states: readonly { readonly state: string; readonly at: number; readonly reason?: string }[]
}

/** Everything that was observed of one conversation. */
export interface JournalState {
  readonly startedAt: number
  readonly phases: readonly Span[]
  readonly connections: readonly Span[]
  readonly faults: readonly Span[]
  readonly requests: readonly RequestEntry[]
  readonly frames: readonly FrameEntry[]
  readonly events: readonly EventEntry[]
  readonly deliveries: readonly DeliveryEntry[]
}

/** What was observed of one conversation, bounded: the oldest entries are dropped. */
export interface Journal {
  readonly store: Store<JournalState>
  /** Ends the present span of a lane and begins another one. */
  enter(lane: 'phases' | 'connections', label: string, tone: Tone): void
  /** Begins a fault on its lane. Returns what ends it. */
  beginFault(label: string): () => void
  /** Adds a fault that takes no time. */
  addFault(label: string): void
  beginRequest(method: string, path: string): (status: number) => void
  addFrame(frame: Omit<FrameEntry, 'id' | 'at'>): void
  addEvent(event: Omit<EventEntry, 'id' | 'at'>): void
  /** Adds a state of a delivery, unless it is its present state already. */
  addDelivery(id: string, text: string, state: string, reason?: string): void
  /** Removes everything but the present states and the active faults. */
  clear(): void
}

const LIMIT = 500

/** Creates an empty journal. */
export function createJournal(now: () => number = Date.now): Journal {
  let lastId = 0
  const store = createStore<JournalState>({
    startedAt: now(),
    phases: [],
    connections: [],
    faults: [],
    requests: [],
    frames: [],
    events: [],
    deliveries: [],
  })
  const add = <T>(list: readonly T[], item: T): T[] => [...list.slice(list.length >= LIMIT ? 1 : 0), item]
  const replace = <T extends { id: number }>(list: readonly T[], id: number, change: Partial<T>): T[] =>
    list.map(item => (item.id === id ? { ...item, ...change } : item))
  const span = (label: string, tone: Tone): Span => ({ id: ++lastId, label, tone, from: now(), to: undefined })

  return {
    store,
    enter: (lane, label, tone) => {
      const list = store.get()[lane]
      const last = list.at(-1)
      if (last?.label === label) return
      const ended = last ? replace(list, last.id, { to: now() }) : list
      store.patch({ [lane]: add(ended, span(label, tone)) })
    },
    beginFault: label => {
      const fault = span(label, 'bad')
      store.patch({ faults: add(store.get().faults, fault) })
      return () => store.patch({ faults: replace(store.get().faults, fault.id, { to: now() }) })
    },
    addFault: label => store.patch({ faults: add(store.get().faults, { ...span(label, 'bad'), to: now() }) }),
    beginRequest: (method, path) => {
      const request = { id: ++lastId, method, path, from: now(), to: undefined, status: undefined }
      store.patch({ requests: add<RequestEntry>(store.get().requests, request) })
      return status => store.patch({ requests: replace(store.get().requests, request.id, { to: now(), status }) })
    },
    addFrame: frame => store.patch({ frames: add(store.get().frames, { ...frame, id: ++lastId, at: now() }) }),
    addEvent: event => store.patch({ events: add(store.get().events, { ...event, id: ++lastId, at: now() }) }),
    addDelivery: (id, text, state, reason) => {
      const { deliveries } = store.get()
      const known = deliveries.find(entry => entry.id === id)
      if (known?.states.at(-1)?.state === state) return
      const step = { state, at: now(), ...(reason !== undefined && { reason }) }
      if (!known) return store.patch({ deliveries: add(deliveries, { id, text, states: [step] }) })
      const changed = { ...known, text, states: [...known.states, step] }
      store.patch({ deliveries: deliveries.map(entry => (entry === known ? changed : entry)) })
    },
    clear: () => {
      const { phases, connections, faults } = store.get()
      const present = (spans: readonly Span[]) => spans.filter(({ to }) => to === undefined)
      store.set({
        startedAt: now(),
        phases: present(phases),
        connections: present(connections),
        faults: present(faults),
        requests: [],
        frames: [],
        events: [],
        deliveries: [],
      })
    },
  }
}
