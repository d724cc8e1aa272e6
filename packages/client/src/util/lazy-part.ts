/** Uses a part that loads when it is first used. Without the part, since it cannot be loaded, the outcome is undefined. */
export type LazyPart<Part> = <T>(work: (part: Part) => T | Promise<T>) => Promise<T | undefined>

/**
 * A part that is loaded once, and asked for again after a failure.
 *
 * @param failed hears that it could not be loaded
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
