import { expect, it } from 'vitest'
import { MAX_HEAP_GROWTH } from './fuzz-result.ts'
import { runFuzz } from './run-fuzz.ts'

const LIMIT_MS = 240_000

/** `npm run verify` gives 3,000 of each kind. */
const INPUTS = 1_000

for (const kind of ['frames', 'bodies'] as const) {
  it(`[REL-119] 1,000 mutated ${kind} leave the client usable`, { timeout: LIMIT_MS + 10_000 }, async () => {
    const { heapGrowth, inputs, problems } = await runFuzz({ kind, seed: 1, inputs: INPUTS }, LIMIT_MS)
    expect(problems).toEqual([])
    expect(inputs).toBeGreaterThanOrEqual(INPUTS)
    expect(heapGrowth).toBeLessThan(MAX_HEAP_GROWTH)
  })
}

it('[SEC-73] 60 generated kinds of Markdown take no more than eight times as long for 128 kB as for 16 kB', {
  timeout: LIMIT_MS + 10_000,
}, async () => {
  const { inputs, problems } = await runFuzz({ kind: 'Markdown', seed: 1, inputs: 60 }, LIMIT_MS)
  expect(problems).toEqual([])
  expect(inputs).toBe(180)
})
