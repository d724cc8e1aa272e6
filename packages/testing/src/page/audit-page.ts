import { ALLOWANCES, type Allowance } from '../audit/allowances.ts'
import { AUDIT_AGENT_ID, type AuditServiceOptions, createAuditWorld } from '../audit/audit-world.ts'
import { Canaries, contextOf } from '../audit/canary.ts'
import { converse } from '../audit/converse.ts'
import { createReport, type PrivacyReport } from '../audit/report.ts'
import { Sightings } from '../audit/sightings.ts'
import { Traffic } from '../audit/traffic.ts'
import { readStores } from './page-stores.ts'
import { type ServedTestService, serveTestService } from './served-service.ts'

/** A request of a page. */
interface PageRequest {
  method(): string
  url(): string
  headers(): Record<string, string>
  postData(): string | null
}

/** A WebSocket of a page. */
interface PageSocket {
  url(): string
  on(event: 'framesent', listener: (frame: { payload: string | Uint8Array }) => void): unknown
}

/** The part of `Page` of Playwright that an audit uses. */
export interface AuditedPage {
  /** Adds a listener: for console messages, uncaught errors, requests, chat connections and navigations. */
  on(event: 'console', listener: (message: { type(): string; text(): string }) => void): unknown
  on(event: 'pageerror', listener: (error: Error) => void): unknown
  on(event: 'request', listener: (request: PageRequest) => void): unknown
  on(event: 'websocket', listener: (socket: PageSocket) => void): unknown
  on(event: 'framenavigated', listener: (frame: { url(): string }) => void): unknown
  /** Runs a function in the page and resolves with its result. */
  evaluate<Result>(script: () => Result | Promise<Result>): Promise<Result>
  /** The browser context, of which the cookies are read. */
  context(): { cookies(): Promise<{ name: string; domain: string; value: string }[]> }
}

/** What an audit hands to the host's page. */
export interface PagePlan {
  /** Id of the agent, for `AiAgentConfig.id`. */
  readonly agentId: string
  /** Address of the service, for `AiAgentConfig.endpoint`. */
  readonly endpoint: string
  /** Context that the page starts its conversation with. */
  readonly context: Readonly<Record<string, string>>
  /** Issues an access token of the user, as the host's server does: at the start, and for each renewal. */
  issueToken(): string
}

/** How an audit uses the host's page. */
export interface AuditedPageHost<Page extends AuditedPage> {
  /** Opens the page, signs the user in with the plan's token, and opens the chat. Called again to reload it. */
  open(page: Page, plan: PagePlan): Promise<unknown>
  /** Sends a text as the user does, and resolves when it has been sent. */
  send(page: Page, text: string): Promise<unknown>
  /** Sends attributes of the context. @default only the initial context is audited */
  setContext?(page: Page, attributes: Record<string, unknown>): Promise<unknown>
  /** What the page exports: a transcript, a recording, spans that it collects. By name. */
  exports?(page: Page): Promise<Readonly<Record<string, unknown>>>
}

/** Options of an audit of a page. */
export interface PageAuditOptions extends AuditServiceOptions {
  /** Further places where a planted value is not a leak. */
  allow?: readonly Allowance[]
  /** Whether the page renews its token, with `issueToken()`, when the service asks for it. @default false */
  renewsTokens?: boolean
  /** Time limit of a step of the conversation, in milliseconds. @default 20_000 */
  timeoutMs?: number
}

/**
 * Audits a page: plants card numbers, tokens, addresses and session ids, holds a conversation with faults, reloads the page,
 * and scans its requests, frames, stores, cookies, console, errors, address, title and exports.
 *
 * @param page a page of Playwright on which nothing was opened yet
 * @returns the leaks; see `assertNoLeaks()`
 */
export async function auditPage<Page extends AuditedPage>(
  page: Page,
  host: AuditedPageHost<Page>,
  options: PageAuditOptions = {},
): Promise<PrivacyReport> {
  const canaries = new Canaries()
  const sightings = new Sightings()
  await using service = await serveTestService(createAuditWorld(canaries, options))
  const chatHosts = [new URL(service.endpoint).host, `chat.localhost:${service.port}`]
  watch(page, sightings, new Traffic(sightings, { origin: service.endpoint, chatHosts }))
  const plan: PagePlan = {
    agentId: AUDIT_AGENT_ID,
    endpoint: service.endpoint,
    context: contextOf(canaries),
    issueToken: () => {
      const token = service.emulator.control.issueToken({ subject: canaries.valueOf('address', 'token') })
      canaries.add('token', 'token', token)
      return token
    },
  }
  const look = () => scanStores(page, sightings)
  /** The stores are read after each action: a value may be removed again later. */
  const seen = async (action: Promise<unknown>) => {
    await action
    await look()
  }
  const incomplete = await converse({
    service,
    canaries,
    renewsTokens: options.renewsTokens ?? false,
    sessionFails: false,
    timeoutMs: options.timeoutMs ?? 20_000,
    driver: {
      open: () => seen(host.open(page, plan)),
      say: text => seen(host.send(page, text)),
      setContext: host.setContext && (attributes => host.setContext?.(page, attributes)),
      reopen: async () => {
        await look()
        const lift = echoSession(service)
        await seen(host.open(page, plan)).finally(lift)
      },
    },
  })
  try {
    for (const [name, value] of Object.entries((await host.exports?.(page)) ?? {})) sightings.add('export', name, value)
  } catch (error) {
    incomplete.push(`exporting: ${String(error)}`)
  }
  const allowances = [...ALLOWANCES, ...(options.allow ?? [])]
  return createReport(sightings, canaries, { allowances, incomplete })
}

/** Failed connections, which the browser itself prints: no script of the page can read them. */
const OF_THE_BROWSER = /^(?:WebSocket connection to '|Failed to load resource: )/

function watch(page: AuditedPage, sightings: Sightings, traffic: Traffic): void {
  page.on('console', message => {
    const text = message.text()
    const isBrowser = OF_THE_BROWSER.test(text)
    sightings.add('console', isBrowser ? 'of the browser' : message.type(), text)
  })
  page.on('pageerror', error => sightings.add('error', error.name, error))
  page.on('request', request => {
    const headers = Object.entries(request.headers())
    traffic.request({ method: request.method(), url: request.url(), headers, body: request.postData() })
  })
  page.on('websocket', socket => {
    traffic.socket(socket.url())
    socket.on('framesent', ({ payload }) =>
      traffic.frame(typeof payload === 'string' ? payload : new TextDecoder().decode(payload)),
    )
  })
  page.on('framenavigated', frame => sightings.add('URL', 'address of the page', frame.url()))
}

async function scanStores(page: AuditedPage, sightings: Sightings): Promise<void> {
  for (const [sink, where, value] of await page.evaluate(readStores)) sightings.add(sink, where, where, value)
  for (const { name, domain, value } of await page.context().cookies())
    sightings.add('cookie', `${name} of ${domain}`, name, value)
}

/** Has the service name the session in an error while the page is reloaded, as services do. Returns the end of it. */
function echoSession({ emulator, sessionId }: ServedTestService): () => void {
  const message = `The messages of session ${sessionId()} are not available`
  const body = { code: '500-000', message }
  const { id } = emulator.faults.add({ kind: 'answer', route: 'GET */conversations/sessions/*', status: 500, body })
  return () => void emulator.faults.lift({ id })
}
