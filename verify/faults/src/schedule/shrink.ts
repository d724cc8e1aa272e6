/**
 * Shortens a list that fails: removes items, in halves first and one by one at the end, for as long as what is left still
 * fails.
 *
 * @param fails tries a list and returns whether it fails
 * @param maxTries how often `fails` is called at most
 */
export async function shrink<T>(
  list: readonly T[],
  fails: (candidate: readonly T[]) => Promise<boolean>,
  maxTries = 400,
): Promise<readonly T[]> {
  let items = list
  let left = maxTries
  for (let size = Math.ceil(items.length / 2); size >= 1 && left > 0; ) {
    let hasRemoved = false
    for (let from = 0; from < items.length && left > 0; ) {
      const candidate = [...items.slice(0, from), ...items.slice(from + size)]
      left--
      if (await fails(candidate)) {
        items = candidate
        hasRemoved = true
      } else from += size
    }
    // One pass more at the smallest size when it has removed something: another item may be needless now.
    if (size > 1) size = Math.floor(size / 2)
    else if (!hasRemoved) break
  }
  return items
}
