/** Bytes in use on the heap after a garbage collection. Needs `--expose-gc`. */
export async function heapInUse(): Promise<number> {
  if (!globalThis.gc) throw new Error('Start this program with --expose-gc.')
  // What finished requests hold is let go in later turns, and what finalizers hold after a collection.
  for (let round = 0; round < 4; round++) {
    await new Promise(resolve => setTimeout(resolve, 50))
    globalThis.gc()
  }
  return process.memoryUsage().heapUsed
}
