import type { Environment } from '@aiagent/client'
import type { Trace, TraceEntry, TraceFrame } from '@aiagent/client/recorder'
import type { SimulatedClock } from './simulated-clock.ts'

type Handler = ((event: never) => unknown) | null

const CONNECTING = 0
const OPEN = 1
const CLOSED = 3

/**
 * A WebSocket class whose sockets do what those of a recording did: each opens, delivers its frames and closes after the
 * same times. A socket beyond the recorded ones opens and stays silent.
 *
 * Ids that the client makes are other ones in each run, so receipts and histories name the id of the same message, and a
 * receipt waits until that message was sent.
 */
export function scriptSockets(trace: Trace, clock: SimulatedClock): Environment['WebSocket'] {
  const ids = new IdMap(trace)
  let opened = 0
  return class ScriptedSocket {
    readyState = CONNECTING
    readonly bufferedAmount = 0
    onopen: Handler = null
    onmessage: Handler = null
    onclose: Handler = null
    onerror: Handler = null

    constructor() {
      const number = ++opened
      const script = trace.entries.filter(entry => 'socket' in entry && entry.socket === number)
      const start = script.find(({ kind }) => kind === 'connecting')?.t ?? script[0]?.t ?? 0
      if (script.length === 0) clock.setTimeout(() => this.#open(), 0)
      for (const entry of script) clock.setTimeout(() => this.#act(entry), entry.t - start)
    }

    send(data: string): void {
      const { messageId } = JSON.parse(data) as { messageId?: string }
      if (messageId !== undefined) ids.handleSent(messageId)
    }

    close(code = 1005): void {
      clock.setTimeout(() => this.#close({ code, reason: '' }), 0)
    }

    #act(entry: TraceEntry): void {
      if (entry.kind === 'open') this.#open()
      if (entry.kind === 'received') ids.whenKnown(entry.frame, frame => this.#deliver(frame))
      if (entry.kind === 'unreadable' && this.readyState === OPEN) call(this.onmessage, { data: '?' })
      if (entry.kind === 'closed') {
        const { code, httpStatus } = entry
        this.#close({ code, reason: '', ...(httpStatus !== undefined && { httpStatus }) })
      }
    }

    #open(): void {
      if (this.readyState !== CONNECTING) return
      this.readyState = OPEN
      call(this.onopen, {})
    }

    #deliver(frame: object): void {
      if (this.readyState === OPEN) call(this.onmessage, { data: JSON.stringify(frame) })
    }

    #close(event: { code: number; reason: string; httpStatus?: number }): void {
      if (this.readyState === CLOSED) return
      this.readyState = CLOSED
      call(this.onclose, event)
    }
  }
}

/** The ids of the client's messages in the recording, and those of the same messages in the replay. */
class IdMap {
  readonly #places = new Map<string, number>()
  readonly #sent: string[] = []
  #waiting: { place: number; deliver: () => void }[] = []

  constructor({ entries }: Trace) {
    for (const entry of entries) {
      const id = entry.kind === 'sent' ? entry.frame.messageId : undefined
      if (id !== undefined && !this.#places.has(id)) this.#places.set(id, this.#places.size)
    }
  }

  /** The client sent a message with an id. */
  handleSent(id: string): void {
    if (this.#sent.includes(id)) return
    this.#sent.push(id)
    const due = this.#waiting.filter(({ place }) => place < this.#sent.length)
    this.#waiting = this.#waiting.filter(({ place }) => place >= this.#sent.length)
    // The receipt of a message arrives after send() has returned.
    for (const { deliver } of due) queueMicrotask(deliver)
  }

  /** Delivers a frame of the recording as soon as the message that it names was sent. */
  whenKnown(frame: TraceFrame, deliver: (frame: object) => void): void {
    const named = frame.data?.['messageId']
    const place = typeof named === 'string' ? this.#places.get(named) : undefined
    const write = () => deliver(this.#toFrame(frame))
    if (place !== undefined && place >= this.#sent.length) this.#waiting.push({ place, deliver: write })
    else write()
  }

  #toFrame({ data, history, messageId, ...frame }: TraceFrame): object {
    const named = data?.['messageId']
    const messageData = {
      ...data,
      ...(typeof named === 'string' && { messageId: this.#translate(named) }),
      ...(history && { chat_history: history.map(element => this.#toFrame(element)) }),
    }
    return {
      ...frame,
      ...(messageId !== undefined && { messageId: this.#translate(messageId) }),
      ...((data || history) && { messageData }),
    }
  }

  #translate(id: string): string {
    const place = this.#places.get(id)
    return (place === undefined ? undefined : this.#sent[place]) ?? id
  }
}

/** Each handler knows which event it receives. */
function call(handler: Handler, event: unknown): void {
  ;(handler as ((event: unknown) => unknown) | null)?.(event)
}
