import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { CALLBACK_PAGE } from '@aiagent/client/pkce'
import type { EmulatorOptions } from '@aiagent/emulator'
import { type EmulatorServer, serveEmulator } from '@aiagent/emulator/node'
import { bundleModulesForPage } from '@aiagent/test-support/chromium'
import type { BrowserContext, Page } from 'playwright-core'
import { buildElements, builtElements } from '../built-elements.ts'

type Files = Readonly<Record<string, string>>

/**
 * The elements as built for bundlers, in a bundle of a host: theirs in chunks, the client and the view in one file. `?lazy` loads only
 * the launcher, `?sdk` the client as a global too.
 */
export const bundleElements = (): Promise<Files> =>
  bundleModulesForPage(
    `import '@aiagent/elements/launcher'
if (location.search.includes('sdk')) globalThis.sdk = await import('@aiagent/client')
if (!location.search.includes('lazy')) await import('@aiagent/elements')`,
    { inOneFile: /packages.(client|protocol|view).src/, plugins: [builtElements()] },
  )

/** The elements in the files that pages without a bundler name, built as for hosts. `?lazy` as above. */
export async function scriptElements(): Promise<Files> {
  const entry = `import './ai-agent-launcher.js'
if (!location.search.includes('lazy')) await import('./ai-agent-chat.js')`
  return { ...(await buildElements()).script, 'entry.js': entry }
}

/** Addresses of the file with the chat element, and of those with what every chat loads first, of both builds. */
export const ELEMENT_FILE = /\/chat-element[\w-]*\.js/
export const CHAT_FILES = /\/chat-(?!element)[\w-]+\.js/

/** A page server with the elements, and a service on another port of the loopback address. */
export interface ChatPages {
  readonly service: EmulatorServer
  /** Origin of the pages. */
  readonly origin: string
  /**
   * Serves a page with this body, and returns its address. In the body, `ENDPOINT` is the address of the service, `ORIGIN` that of
   * the pages, and `PKCE` a login of the service as JSON.
   */
  servePage(body: string, options?: PageOptions): string
  /** Serves a further file. */
  serve(path: string, body: string, headers?: Files): void
  close(): Promise<void>
}

/** What a page is beside its body. */
export interface PageOptions {
  /** Search part of the address. */
  readonly search?: string
  /** Headers of the page. */
  readonly headers?: Files
  /** What is after the body; default: the script of the elements. */
  readonly script?: string
}

/** Pages that are opened in a Chromium. */
export interface ChatStage extends ChatPages {
  /** Serves a page with this body, as `servePage()`, and opens it. */
  open(body: string, options?: OpenOptions): Promise<ChatPage>
}

/** How a page is opened. */
export interface OpenOptions extends PageOptions {
  readonly context?: BrowserContext
  /** Prepares the page before it is loaded. */
  prepare?(page: Page): Promise<unknown>
}

/** A page with a chat in it. */
export interface ChatPage {
  readonly page: Page
  /** Errors and warnings of the page, and reports of its policy. */
  readonly complaints: string[]
  /** Requests of the page by method and address. */
  readonly requests: string[]
}

const HEAD = '<!doctype html><html lang="en"><meta charset="utf-8"><title>Shop</title>'
const TYPES: Files = { js: 'text/javascript', css: 'text/css', png: 'image/png' }

/** Serves the elements and an agent that repeats the user's text. */
export async function serveChatPages(files: Files, options: EmulatorOptions = {}): Promise<ChatPages> {
  const service = await serveEmulator({ reply: ({ text }) => ({ content: `You said: ${text}` }), ...options })
  const served = new Map<string, { body: string; headers: Files }>()
  const serve: ChatPages['serve'] = (path, body, headers = {}) => served.set(path, { body, headers })
  for (const [name, code] of Object.entries(files)) serve(`/${name}`, code)
  serve('/favicon.ico', '')
  serve('/callback.html', CALLBACK_PAGE)
  serve('/base.css', 'body { margin: 0 }')
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://page')
    const file = served.get(pathname)
    const type = TYPES[pathname.split('.')[1] ?? ''] ?? 'text/html'
    response.writeHead(file ? 200 : 404, { 'content-type': `${type}; charset=utf-8`, ...file?.headers })
    response.end(file?.body ?? 'Not found')
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  let count = 0
  return {
    service,
    origin,
    serve,
    servePage(body, { search = '', headers, script = '<script type="module" src="/entry.js"></script>' } = {}) {
      const path = `/page-${count++}`
      const pkce = () => JSON.stringify(service.emulator.pkceConfig({ redirectUri: `${origin}/callback.html` }))
      const filled = body.replaceAll('ENDPOINT', service.url).replaceAll('ORIGIN', origin).replaceAll('PKCE', pkce)
      serve(path, `${HEAD}<link rel="stylesheet" href="/base.css"><body>${filled}${script}`, headers)
      return `${origin}${path}${search}`
    },
    async close() {
      server.closeAllConnections()
      await Promise.all([service.close(), new Promise(resolve => server.close(resolve))])
    },
  }
}

/** Serves the same, for pages of a Chromium. */
export async function openChatStage(
  context: BrowserContext,
  files: Files,
  options: EmulatorOptions = {},
): Promise<ChatStage> {
  const pages = await serveChatPages(files, options)
  const opened: Page[] = []
  return {
    ...pages,
    async open(body, given = {}) {
      const address = pages.servePage(body, given)
      const page = await (given.context ?? context).newPage()
      opened.push(page)
      const complaints: string[] = []
      const requests: string[] = []
      page.on('console', line => {
        if (line.type() === 'error' || line.type() === 'warning') complaints.push(line.text())
      })
      page.on('pageerror', error => complaints.push(String(error)))
      page.on('request', request => requests.push(`${request.method()} ${request.url()}`))
      await given.prepare?.(page)
      await page.goto(address)
      return { page, complaints, requests }
    },
    async close() {
      for (const page of opened) await page.close()
      await pages.close()
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

/** Records what the live regions of the elements are given to say from now on; returns what they were. */
export async function listen(page: Page): Promise<() => Promise<string[]>> {
  const heard = await page.evaluateHandle(() => {
    const texts: string[] = []
    const chats = [...document.querySelectorAll('ai-agent-chat')]
    const inner = [...document.querySelectorAll('ai-agent-launcher')].flatMap(({ chat }) => chat ?? [])
    for (const { shadowRoot } of [...chats, ...inner])
      new MutationObserver(records => {
        for (const { addedNodes, target } of records)
          if ((target as Element).closest?.('[aria-live="polite"]'))
            for (const { textContent } of addedNodes) texts.push(textContent ?? '')
      }).observe(shadowRoot as ShadowRoot, { childList: true, subtree: true })
    return texts
  })
  return () => heard.jsonValue()
}

/** What the service has received: session calls, chat connections, those that are open, and texts of the user. */
export function received({ emulator }: EmulatorServer) {
  const requests = emulator.control.requests()
  const sessions = [...emulator.world.sessions.values()]
  return {
    sessionCalls: requests.filter(({ method, path }) => method === 'POST' && path.endsWith('/session')).length,
    sockets: requests.filter(({ status }) => status === 101).length,
    texts: sessions.flatMap(({ id }) =>
      emulator.control.frames(id).flatMap(({ message }) => (message?.role === 'human' ? [message.content] : [])),
    ),
  }
}

/** Whether a chat connection of the session is open. */
export function isOpen({ emulator }: EmulatorServer, sessionId: string): boolean {
  try {
    emulator.control.pushFrame(sessionId, { persona: 'system', role: 'heartbeat', content: '' })
    return true
  } catch {
    return false
  }
}
