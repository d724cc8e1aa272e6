import type { AiAgentConfig } from '@aiagent/client'
import type { BrowserContext, Page } from 'playwright-core'
import { makeHost, type Stage } from './client-page.ts'

/** Longer than any test: only a return to the page ends this wait. */
export const LONG_WAIT: Partial<AiAgentConfig> = { baseReconnectDelay: 600_000, maxReconnectDelay: 600_000 }

/** Time limit for a reconnect to start after a return, in milliseconds. */
export const AWAKE_MS = 300

/** Tolerance for a busy machine, in milliseconds. */
export const NOISE_MS = 700

/** Times of a page on its own clock, in milliseconds. */
export interface Moments {
  /** Events of a return, by name. */
  readonly returns: { readonly name: string; readonly at: number }[]
  /** Creation time of each socket. */
  readonly sockets: number[]
}

declare global {
  var moments: Moments
}

/** Opens a page with an agent that records its times. */
export async function openNotedHost(
  context: BrowserContext,
  stage: Stage,
  config: Partial<AiAgentConfig> = LONG_WAIT,
): Promise<Page> {
  const page = await context.newPage()
  await page.addInitScript(noteMoments)
  await page.goto(stage.pages.url)
  await makeHost(page, stage, config)
  return page
}

/** Time between the last return of the page (one of the given events) and the creation of its latest socket. */
export function awakeAfter(page: Page, names: readonly string[]): Promise<number> {
  return page.evaluate(names => {
    const { returns, sockets } = globalThis.moments
    const made = sockets.at(-1) ?? Number.NaN
    const last = returns.findLast(({ name, at }) => names.includes(name) && at <= made)
    return made - (last?.at ?? Number.NaN)
  }, names)
}

/** Runs in the page, before any of its scripts. */
function noteMoments(): void {
  const moments: Moments = { returns: [], sockets: [] }
  globalThis.moments = moments
  const note = ({ type }: Event) => {
    if (document.visibilityState === 'visible') moments.returns.push({ name: type, at: performance.now() })
  }
  for (const name of ['online', 'pageshow']) addEventListener(name, note)
  for (const name of ['visibilitychange', 'resume']) document.addEventListener(name, note)
  globalThis.WebSocket = class extends WebSocket {
    constructor(url: string | URL) {
      super(url)
      moments.sockets.push(performance.now())
    }
  }
}
