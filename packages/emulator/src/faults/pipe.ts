import type { Clock } from '../clock.ts'

/** The active faults of the frames of one direction. */
export interface PipeConditions {
  /** Delay of the next frame, in milliseconds. */
  delayMs(): number
  isLost(): boolean
  /** Absent: without a limit. */
  bytesPerSecond?: number
}

interface Item {
  run: () => void
  /** A frame can be lost; anything else, such as a close, cannot. */
  isFrame: boolean
  /** Time of arrival, in milliseconds since the epoch. */
  due: number
}

/**
 * One direction of a chat connection. Everything keeps its order, however late it is.
 *
 * While it is clear, frames bypass it: the transport checks and delivers directly.
 */
export class Pipe {
  readonly #clock: Clock
  #conditions: PipeConditions | undefined
  /** The silences that hold it, and whether each drops what arrives meanwhile. */
  readonly #holds = new Map<string, boolean>()
  readonly #waiting: Item[] = []
  /** When a slow link has transmitted everything so far. */
  #lineFreeAt = 0
  #timer: unknown
  #isRunning = false
  #isClear = true

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Whether a frame may bypass this pipe. */
  get isClear(): boolean {
    return this.#isClear
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0
  }

  frame(data: unknown, run: () => void): void {
    const conditions = this.#conditions
    for (const lost of this.#holds.values()) if (lost) return
    if (conditions?.isLost()) return
    this.#add(run, true, sizeOf(data, conditions))
  }

  /** Runs a step other than a frame, such as a close, after everything that is pending. */
  step(run: () => void): void {
    this.#add(run, false, 0)
  }

  setConditions(conditions: PipeConditions | undefined): void {
    this.#conditions = conditions
    this.#assess()
  }

  hold(key: string, lost: boolean): void {
    this.#holds.set(key, lost)
    this.#assess()
  }

  release(key: string): void {
    this.#holds.delete(key)
    this.#run()
  }

  get isHeld(): boolean {
    return this.#holds.size > 0
  }

  /** Ends all faults: pending frames are dropped, pending steps are run. */
  flush(): void {
    this.#conditions = undefined
    this.#holds.clear()
    for (const item of this.#waiting.splice(0)) if (!item.isFrame) item.run()
    this.#run()
  }

  #add(run: () => void, isFrame: boolean, size: number): void {
    const now = this.#clock.now()
    const speed = this.#conditions?.bytesPerSecond
    if (speed !== undefined) this.#lineFreeAt = Math.max(now, this.#lineFreeAt) + (size / speed) * 1000
    const sent = speed === undefined ? now : this.#lineFreeAt
    const ahead = this.#waiting.at(-1)?.due ?? 0
    this.#waiting.push({ run, isFrame, due: Math.max(ahead, sent + (this.#conditions?.delayMs() ?? 0)) })
    this.#run()
  }

  #run(): void {
    // A step may send, and so call this again: the loop below handles it in order.
    if (this.#isRunning) return
    this.#isRunning = true
    this.#clock.clearTimeout(this.#timer)
    this.#timer = undefined
    try {
      for (let next = this.#next(); next; next = this.#next()) next.run()
    } finally {
      this.#isRunning = false
      const [head] = this.#waiting
      if (head && !this.isHeld) {
        this.#timer = this.#clock.setTimeout(() => this.#run(), Math.max(0, head.due - this.#clock.now()))
      }
      this.#assess()
    }
  }

  #next(): Item | undefined {
    const [head] = this.#waiting
    return head && !this.isHeld && head.due <= this.#clock.now() ? this.#waiting.shift() : undefined
  }

  #assess(): void {
    this.#isClear = !this.#conditions && !this.isHeld && this.#waiting.length === 0 && !this.#isRunning
  }
}

const encoder = new TextEncoder()

/** Bytes of a frame. Counted only if a limit needs them. */
function sizeOf(data: unknown, conditions: PipeConditions | undefined): number {
  if (conditions?.bytesPerSecond === undefined) return 0
  if (typeof data === 'string') return encoder.encode(data).length
  return typeof data === 'object' && data !== null && 'byteLength' in data ? Number(data.byteLength) : 0
}
