import type { EmulatorOptions } from '@aiagent/emulator'
import { type EmulatorServer, serveEmulator } from '@aiagent/emulator/node'
import { bundleModulesForPage, type PageServer, servePages } from '@aiagent/test-support/chromium'
import type { BrowserContext, Page } from 'playwright-core'

/** The elements as a host's bundler builds them for a page, in chunks. */
export const bundleElements = (): Promise<Readonly<Record<string, string>>> =>
  bundleModulesForPage(
    `import '@aiagent/elements/launcher'\nif (!location.search.includes('lazy')) await import('@aiagent/elements')`,
  )

/** A page server with the elements, and a service on another port of the loopback address. */
export interface ChatStage {
  readonly service: EmulatorServer
  readonly pages: PageServer
  /** Opens a page with this body; `ENDPOINT` in it is the address of the service. */
  open(body: string, options?: OpenOptions): Promise<ChatPage>
  close(): Promise<void>
}

/** How a page is opened. */
export interface OpenOptions {
  readonly context?: BrowserContext
  /** Search part of the address. */
  readonly search?: string
}

/** A page with a chat in it. */
export interface ChatPage {
  readonly page: Page
  /** Errors and warnings of the page, and reports of its policy. */
  readonly complaints: string[]
  /** Requests of the page by method and address, without its own files. */
  readonly requests: string[]
}

const HEAD = '<!doctype html><html lang="en"><meta charset="utf-8"><title>Shop</title><style>body{margin:0}</style>'

/** Serves the elements and an agent that repeats the user's text, with sources and options for some. */
export async function openChatStage(
  context: BrowserContext,
  files: Readonly<Record<string, string>>,
  options: EmulatorOptions = {},
): Promise<ChatStage> {
  const service = await serveEmulator({ reply: ({ text }) => ({ content: `You said: ${text}` }), ...options })
  const bodies: Record<string, string> = {}
  const scripts = Object.fromEntries(Object.entries(files).map(([name, code]) => [`/${name}`, code]))
  let pages = await servePages({ ...scripts })
  const opened: Page[] = []
  return {
    service,
    get pages() {
      return pages
    },
    async open(body, { context: other = context, search = '' } = {}) {
      const path = `/page-${Object.keys(bodies).length}`
      bodies[path] =
        `${HEAD}<body>${body.replaceAll('ENDPOINT', service.url)}<script type="module" src="/entry.js"></script>`
      await pages.close()
      pages = await servePages({ ...scripts, ...bodies })
      const page = await other.newPage()
      opened.push(page)
      const complaints: string[] = []
      const requests: string[] = []
      page.on('console', line => {
        if (line.type() === 'error' || line.type() === 'warning') complaints.push(line.text())
      })
      page.on('pageerror', error => complaints.push(String(error)))
      page.on('request', request => {
        if (!request.url().startsWith(pages.url)) requests.push(`${request.method()} ${request.url()}`)
      })
      await page.goto(`${pages.url}${path}${search}`)
      return { page, complaints, requests }
    },
    async close() {
      for (const page of opened) await page.close()
      await Promise.all([service.close(), pages.close()])
    },
  }
}

/** Texts of the bubbles, in order. */
export const bubbles = (page: Page, chat = 'ai-agent-chat'): Promise<string[]> =>
  page.locator(`${chat} .row:not(:has(.working)) .bubble`).allTextContents()

/** Writes a message and sends it with the Enter key. */
export async function write(page: Page, text: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Your message' }).fill(text)
  await page.keyboard.press('Enter')
}
