/** Uses a part that loads on first use. The result is undefined if the part cannot be loaded. */
export type LazyPart<Part> = <T>(work: (part: Part) => T | Promise<T>) => Promise<T | undefined>

/**
 * A part that is loaded once, and again after a failure.
 *
 * @param failed called when it could not be loaded
 */
export function lazyPart<Part>(load: () => Promise<Part>, failed: (error: unknown) => void): LazyPart<Part> {
  let loading: Promise<Part> | undefined
  return async work => {
    let part: Part
    try {
      part = await (loading ??= load())
    } catch (error) {
      loading = undefined
      failed(error)
      return undefined
    }
    return work(part)
  }
}
