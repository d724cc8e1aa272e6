import { expect, it } from 'vitest'
import { MAX_HEAP_GROWTH } from './fuzz-result.ts'
import { runFuzz } from './run-fuzz.ts'

const LIMIT_MS = 240_000

for (const kind of ['frames', 'bodies'] as const) {
  it(`[REL-119] 3,000 mutated ${kind} leave the client usable`, { timeout: LIMIT_MS + 10_000 }, async () => {
    const { heapGrowth, inputs, problems } = await runFuzz({ kind, seed: 1, inputs: 3_000 }, LIMIT_MS)
    expect(problems).toEqual([])
    expect(inputs).toBeGreaterThanOrEqual(3_000)
    expect(heapGrowth).toBeLessThan(MAX_HEAP_GROWTH)
  })
}
