import { SDKError } from '../errors.ts'
import { withTimeLimit } from '../util/abort.ts'
import type { Clock } from './environment.ts'

/** Exists in service workers only. */
declare const ServiceWorkerGlobalScope: unknown

/** How long the code of a feature may take to load, in milliseconds: an engine waits without a limit. */
const LIMIT_MS = 30_000

/**
 * Loads the code of an optional feature: the one way to do so, with one error.
 *
 * @param name the feature, for the message
 * @throws {SDKError} code `MODULE_LOAD_FAILED`, also after 30 seconds; a later call loads it where the engine sends the request
 *   again, or has received its answer
 */
export async function feature<Part>(clock: Clock, name: string, load: () => Promise<Part>): Promise<Part> {
  try {
    return await withTimeLimit(clock, LIMIT_MS, undefined, load)
  } catch (cause) {
    if (cause instanceof SDKError) throw cause
    const remedy =
      typeof ServiceWorkerGlobalScope !== 'undefined'
        ? 'A service worker must not load files later: build it with the export condition "worker".'
        : 'Check that its files are deployed, and reload the page.'
    throw new SDKError(`Could not load the part "${name}" of the library. ${remedy}`, 'MODULE_LOAD_FAILED', { cause })
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
  clock: Clock,
  name: string,
  load: () => Promise<Part>,
  warn: (message: string, details: { error: unknown }) => void,
): OptionalFeature<Part> {
  let loading: Promise<Part> | undefined
  return async work => {
    let part: Part
    try {
      part = await (loading ??= feature(clock, name, load))
    } catch (error) {
      loading = undefined
      warn((error as SDKError).message, { error })
      return undefined
    }
    return work(part)
  }
}
