import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/**
 * Collects what nobody holds, so that a `WeakRef` tells whether something is still held.
 *
 * It comes after the present task: what a `WeakRef` was made of or gave out is held until then.
 */
export async function collectGarbage(): Promise<void> {
  await new Promise<void>(resolve => setImmediate(resolve))
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  collect()
}
