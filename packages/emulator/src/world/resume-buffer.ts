import { encodeMessage, type ServerMessage } from '@aiagent/protocol'

interface NumberedFrame {
  readonly seq: number
  readonly text: string
}

/** Owns the sequence numbers of one session, and the newest frames that have one, for a replay. */
export class ResumeBuffer {
  readonly #limit: () => number
  #frames: NumberedFrame[] = []
  #lastSeq = 0

  constructor(limit: () => number) {
    this.#limit = limit
  }

  /** The highest number so far; 0 before the first frame. */
  get lastSeq(): number {
    return this.#lastSeq
  }

  /** Keeps a frame with a number above all earlier ones. */
  add(frame: ServerMessage & { seq: number }): void {
    this.#lastSeq = frame.seq
    this.#frames.push({ seq: frame.seq, text: encodeMessage(frame) })
    const limit = this.#limit()
    if (this.#frames.length > 2 * limit) this.#frames = this.#frames.slice(this.#frames.length - limit)
  }

  /** The frames after a number, as text; undefined when not all of them are kept, or the number was never used. */
  after(seq: number): string[] | undefined {
    const missing = this.#lastSeq - seq
    if (missing < 0 || missing > Math.min(this.#frames.length, this.#limit())) return undefined
    return this.#frames.slice(this.#frames.length - missing).map(({ text }) => text)
  }
}
