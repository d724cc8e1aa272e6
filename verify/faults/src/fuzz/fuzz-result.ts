/** The result of a fuzzer. */
export interface FuzzResult {
  /** Number of mutated frames or bodies that the client was given. */
  readonly inputs: number
  /** Number of agents that were given them. */
  readonly agents: number
  /** What went wrong, with the seed that repeats it. */
  readonly problems: readonly string[]
  /** Growth of the heap from the first tenth to the end, in bytes. */
  readonly heapGrowth: number
}

/** Largest growth of the heap that counts as bounded, in bytes. */
export const MAX_HEAP_GROWTH = 24 * 1024 * 1024

/** Bytes on the heap after a collection, where the process allows one. */
export function heapUsed(): number {
  ;(globalThis as { gc?: () => void }).gc?.()
  return process.memoryUsage().heapUsed
}
