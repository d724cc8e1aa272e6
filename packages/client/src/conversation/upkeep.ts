import { GapFill, type GapFillOptions, type Opening } from './gap-fill.ts'
import { Liveness, type LivenessOptions } from './liveness.ts'

/** What the two parts of the upkeep need. */
export type UpkeepOptions = GapFillOptions & LivenessOptions

/** Keeps an open chat complete and alive. A separate chunk, loaded after the first `connected`. */
export class Upkeep {
  readonly #options: UpkeepOptions
  readonly gapFill: GapFill
  /** Created with the first connection that it can check. */
  #liveness: Liveness | undefined

  constructor(options: UpkeepOptions) {
    this.#options = options
    this.gapFill = new GapFill(options)
  }

  /** The chat is open. */
  begin(opening: Opening): void {
    this.gapFill.begin(opening)
    if (Liveness.isPossible(this.#options)) this.#liveness ??= new Liveness(this.#options, this.gapFill)
    this.#liveness?.start()
  }

  /** A message of the user was accepted. */
  handleSent(): void {
    this.#liveness?.handleSent()
  }

  /** The connection was lost. */
  stop(): void {
    this.gapFill.cancel()
    this.#liveness?.stop()
  }
}
