import type { AiAgentConfig } from '@aiagent/client'
import type { EmulatorOptions } from '@aiagent/emulator'
import { type EmulatorServer, serveEmulator } from '@aiagent/emulator/node'
import {
  bundleForPage,
  hasChromium,
  type LaunchedChromium,
  launchChromium,
  type PageServer,
  type SourceChange,
  servePages,
} from '@aiagent/test-support/chromium'
import type { BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe } from 'vitest'

/**
 * The client as a host's bundler builds it for a page, with the host class of the tests.
 *
 * @param change changes the source, for another version of the client
 */
export const bundleHost = (change?: SourceChange): Promise<string> =>
  bundleForPage(
    `import { makePageHost } from './page/host.ts'
globalThis.createHost = makePageHost`,
    import.meta.url,
    change,
  )

/** A page server with the bundle, and a service on another port of the loopback address. */
export interface Stage {
  readonly service: EmulatorServer
  readonly pages: PageServer
  close(): Promise<void>
}

/** Repeats the user's text. */
export async function openStage(bundle: string, options: EmulatorOptions = {}): Promise<Stage> {
  const service = await serveEmulator({ reply: ({ text }) => ({ content: `You said: ${text}` }), ...options })
  const pages = await servePages({
    '/': '<!doctype html><title>Host</title><script src="/host.js"></script>',
    '/host.js': bundle,
  })
  return {
    service,
    pages,
    close: async () => {
      await Promise.all([service.close(), pages.close()])
    },
  }
}

/** Fixtures of a group of tests: one browser for all, a stage for each test. */
export interface InPages {
  readonly context: BrowserContext
  readonly stage: Stage
}

/** Declares tests of the client in pages of a real browser; without one they are skipped. */
export function describeInPages(title: string, declare: (at: InPages) => void): void {
  describe.skipIf(!hasChromium())(title, () => {
    let bundle = ''
    let chromium: LaunchedChromium
    let stage: Stage
    beforeAll(async () => {
      bundle = await bundleHost()
      chromium = await launchChromium()
    })
    afterAll(() => chromium?.close())
    beforeEach(async () => {
      stage = await openStage(bundle)
    })
    afterEach(async () => {
      for (const page of chromium.context.pages()) await page.close()
      await stage.close()
    })
    declare({
      get context() {
        return chromium.context
      },
      get stage() {
        return stage
      },
    })
  })
}

/** Opens a page of the stage with an agent in it. */
export async function openHost(
  context: BrowserContext,
  stage: Stage,
  config: Partial<AiAgentConfig> = {},
): Promise<Page> {
  const page = await context.newPage()
  await page.goto(stage.pages.url)
  await makeHost(page, stage, config)
  return page
}

/** Creates the agent of a page, or of the same page after a reload. */
export async function makeHost(page: Page, stage: Stage, config: Partial<AiAgentConfig> = {}): Promise<void> {
  const full: AiAgentConfig = { id: 'help', endpoint: stage.service.url, ...config }
  await page.evaluate(text => {
    globalThis.host = globalThis.createHost(JSON.parse(text))
  }, JSON.stringify(full))
}

/** Requests to the service by method and path; a chat connection is `GET /`. */
export function requestLines(stage: Stage): string[] {
  return stage.service.emulator.control
    .requests()
    .filter(({ method }) => method !== 'OPTIONS')
    .map(({ method, path }) => `${method} ${path}`)
}

/** Contents of the user messages in the last session. */
export function said(stage: Stage): (string | undefined)[] {
  const { control } = stage.service.emulator
  const session = control.requests().findLast(({ status }) => status === 101)?.query['sessionId'] ?? ''
  return control.frames(session).flatMap(({ message }) => (message?.role === 'human' ? [message.content] : []))
}
