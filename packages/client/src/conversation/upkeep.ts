import { GapFill, type GapFillOptions, type Opening } from './gap-fill.ts'
import { Liveness, type LivenessOptions } from './liveness.ts'

/** What the two parts of the upkeep need. */
export type UpkeepOptions = GapFillOptions & Omit<LivenessOptions, 'canRecover'>

/** Keeps an open chat complete and alive. A separate chunk, loaded after the first `connected`. */
export class Upkeep {
  readonly gapFill: GapFill
  readonly liveness: Liveness

  constructor(options: UpkeepOptions) {
    this.gapFill = new GapFill(options)
    this.liveness = new Liveness({ ...options, canRecover: signal => this.gapFill.canRecover(signal) })
  }

  /** The chat is open. */
  begin(opening: Opening): void {
    this.gapFill.begin(opening)
    this.liveness.start()
  }

  /** The connection was lost. */
  stop(): void {
    this.gapFill.cancel()
    this.liveness.stop()
  }
}
