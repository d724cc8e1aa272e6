import { SDKError } from '../errors.ts'

/**
 * Waits for a module that is loaded on demand.
 *
 * @param name the module, for the message
 * @throws {SDKError} code `MODULE_LOAD_FAILED`; a later call loads it where the engine sends the request again
 */
export function loadModule<Module>(name: string, module: Promise<Module>): Promise<Module> {
  return module.catch(cause => {
    const message = `Could not load the part "${name}" of the library. Check that its files are deployed, and reload the page.`
    throw new SDKError(message, 'MODULE_LOAD_FAILED', { cause })
  })
}
