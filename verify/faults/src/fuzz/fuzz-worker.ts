// Fuzzes in a separate process: receives a job, and reports its result. Started by fuzz.ts, as a bundle.
import { finish, parameters } from '@aiagent/test-support/program'
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

const { kind, seed, inputs } = await parameters<FuzzJob>()
await finish((await FUZZERS[kind](seed, inputs)) satisfies FuzzResult)
