import { loadConnector } from '../../../src/contact-center/connector/connector-loader.ts'
import type { ConnectorScript } from '../../../src/contact-center/connector/connector-url.ts'
import { ConnectorError } from '../../../src/errors.ts'
import { resolveEnvironment } from '../../../src/platform/default-environment.ts'

/** Outcome of a load, in a form that can be copied out of the page. */
export type LoadOutcome = { members: string[] } | { code: string; url: string; message: string; cause: string }

/** Components of concurrent loads, and whether they are the same object. */
export async function loadTogether(
  scripts: Partial<ConnectorScript>[],
): Promise<{ outcomes: LoadOutcome[]; same: boolean }> {
  const components: unknown[] = []
  const outcomes = scripts.map(async (script): Promise<LoadOutcome> => {
    try {
      // Each agent has its own environment.
      const complete = { url: '', integrity: undefined, nonce: undefined, ...script }
      const component = await loadConnector(resolveEnvironment(), complete)
      components.push(component)
      return { members: Object.keys(component).sort() }
    } catch (error) {
      if (!(error instanceof ConnectorError)) throw error
      return { code: error.code, url: error.url, message: error.message, cause: String(error.cause) }
    }
  })
  return { outcomes: await Promise.all(outcomes), same: new Set(components).size === 1 }
}

declare global {
  /** Defined in the page by the bundle. */
  var loadConnectors: typeof loadTogether
}
