import { SDKError } from '../errors.ts'

/**
 * Loads the code of an optional feature: the one way to do so, with one error.
 *
 * @param name the feature, for the message
 * @throws {SDKError} code `MODULE_LOAD_FAILED`; a later call loads it where the engine sends the request again
 */
export async function feature<Part>(name: string, load: () => Promise<Part>): Promise<Part> {
  try {
    return await load()
  } catch (cause) {
    if (cause instanceof SDKError) throw cause
    const message = `Could not load the part "${name}" of the library. Check that its files are deployed, and reload the page.`
    throw new SDKError(message, 'MODULE_LOAD_FAILED', { cause })
  }
}

/** Uses a feature that loads on first use. The result is undefined if it cannot be loaded. */
export type OptionalFeature<Part> = <T>(work: (part: Part) => T | Promise<T>) => Promise<T | undefined>

/**
 * A feature that is loaded once, and again after a failure, which is a warning in the log: the agent works without it.
 *
 * @param warn logs the failure
 */
export function optionalFeature<Part>(
  name: string,
  load: () => Promise<Part>,
  warn: (message: string, details: { error: unknown }) => void,
): OptionalFeature<Part> {
  let loading: Promise<Part> | undefined
  return async work => {
    let part: Part
    try {
      part = await (loading ??= feature(name, load))
    } catch (error) {
      loading = undefined
      warn((error as SDKError).message, { error })
      return undefined
    }
    return work(part)
  }
}
