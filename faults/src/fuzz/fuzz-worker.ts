// Fuzzes in a separate process: receives a job, and reports its result. Started by fuzz.ts, as a bundle.
import { fuzzBodies } from './fuzz-bodies.ts'
import { fuzzFrames } from './fuzz-frames.ts'
import { fuzzMarkdown } from './fuzz-markdown.ts'
import type { FuzzResult } from './fuzz-result.ts'

/** What the process is asked to do. */
export interface FuzzJob {
  readonly kind: 'frames' | 'bodies' | 'Markdown'
  readonly seed: number
  readonly inputs: number
}

const FUZZERS = { frames: fuzzFrames, bodies: fuzzBodies, Markdown: fuzzMarkdown }

process.once('message', ({ kind, seed, inputs }: FuzzJob) => {
  FUZZERS[kind](seed, inputs).then(
    result => process.send?.(result satisfies FuzzResult, () => process.exit()),
    error => {
      console.error(error)
      process.exit(1)
    },
  )
})
