import { browserCommands, openBrowser } from '../login/open-browser.ts'
import type { PlaygroundServer, ServePlaygroundOptions } from './serve-playground.ts'

/** How a command offers the playground. */
export interface OfferPlaygroundOptions extends ServePlaygroundOptions {
  /** Whether to open it in the browser. */
  readonly open: boolean
  readonly env: Readonly<Record<string, string | undefined>>
}

/** Serves the playground, prints its address, and opens it where that is wanted. A failure costs the playground only. */
export async function offerPlayground(options: OfferPlaygroundOptions): Promise<PlaygroundServer | undefined> {
  const { show, open, env } = options
  try {
    const { servePlayground } = await import('./serve-playground.ts')
    const server = await servePlayground(options)
    if (!server) return undefined
    show(`Playground: ${server.url}`)
    if (open) await openBrowser(browserCommands(server.url, { env, platform: process.platform }))
    return server
  } catch (error) {
    show(`The playground is not served: ${error instanceof Error ? error.message : String(error)}`)
    return undefined
  }
}
