import type { EmulatedSocketClass } from '@aiagent/emulator'
import { createTestService, type LocalTestService } from '../service/test-service.ts'
import { ALLOWANCES, type Allowance } from './allowances.ts'
import { AUDIT_AGENT_ID, type AuditServiceOptions, createAuditWorld } from './audit-world.ts'
import { Canaries, contextOf } from './canary.ts'
import { converse } from './converse.ts'
import { watchGlobals } from './globals.ts'
import { RecordingStorage, type RecordingTelemetry, recordTelemetry } from './recorders.ts'
import { createReport, type PrivacyReport } from './report.ts'
import { Sightings } from './sightings.ts'
import { Traffic } from './traffic.ts'

/** The part of an agent that an audit uses: `AiAgent` of the client, or an object around one. */
export interface AuditedAgent {
  /** Loads the agent, with the audit's context. The first call fails, since the service refuses a session. */
  initialize(options?: { context?: Record<string, unknown> }): Promise<unknown>
  /** Opens the chat. */
  connect(): Promise<unknown>
  /** Sends a text of the user. */
  send(text: string): Promise<unknown>
  /** Sends attributes of the context. */
  setContext(attributes: Record<string, unknown>, options?: { sendImmediately?: boolean }): Promise<unknown>
  /** Ends the chat. */
  disconnect(): Promise<unknown>
  /** Signs out; the stores are scanned afterwards. */
  logout(): Promise<unknown>
  /** Releases the agent at the end of the audit. */
  destroy(): Promise<unknown>
  /** The conversation as plain data. It is scanned as an export. */
  getTranscriptAsJSON(): unknown
  /** Adds a listener for errors. They are scanned. */
  on(name: 'error', listener: (event: { payload: { error: unknown } }) => void): unknown
  /** The agent's logger. Its entries are scanned. */
  readonly logger: { on(name: 'log', listener: (entry: object) => void): unknown }
}

/** What an audit hands to the host: it creates its agent with these, beside its own options. */
export interface AuditPlan {
  /** Fields of `AiAgentConfig`. */
  readonly config: {
    readonly id: string
    readonly endpoint: string
    readonly auth: {
      readonly type: 'pre-auth'
      readonly accessToken: string
      readonly refreshTokenFn: () => Promise<string>
    }
    readonly baseReconnectDelay: number
    readonly maxReconnectDelay: number
    /** The finest level, so that every log entry is scanned. */
    readonly logLevel: 0
  }
  /** Second argument of `AiAgent`. */
  readonly environment: {
    readonly fetch: (input: string, init?: RequestInit) => Promise<Response>
    readonly WebSocket: EmulatedSocketClass
    readonly console: Pick<Console, 'debug' | 'info' | 'warn' | 'error'>
    readonly localStorage: RecordingStorage
    readonly sessionStorage: RecordingStorage
  }
  /** For `instrument()` and `traceCalls()` of `@aiagent/client/otel`. */
  readonly telemetry: RecordingTelemetry
}

/** The host under audit. */
export interface AuditedHost {
  /** The agent that the audit drives. */
  readonly agent: AuditedAgent
  /** How the host sends a text of the user. @default `agent.send()` */
  send?(text: string): unknown
  /** How the host exports a conversation. @default `agent.getTranscriptAsJSON()` */
  exportConversation?(): unknown
  /** The recorder that the host gave the agent. Its recording is scanned. */
  readonly recorder?: { exportTrace(): unknown }
  /** Further places that the host writes to, by name: their contents are scanned at the end. */
  readonly sinks?: Readonly<Record<string, () => unknown>>
  /** Releases what the host holds. */
  close?(): unknown
}

/** Options of an audit. */
export interface AuditOptions extends AuditServiceOptions {
  /** Further places where a planted value is not a leak. */
  allow?: readonly Allowance[]
  /** Time limit of a step of the conversation, in milliseconds. @default 10_000 */
  timeoutMs?: number
}

/**
 * Plants card numbers, tokens, addresses and session ids, holds a conversation with faults through the host's own agent, and
 * scans what reached each sink. While it runs, it also watches the global `fetch` and `console`.
 *
 * @param setUp creates the host's agent with what the audit hands to it
 * @returns the leaks; see `assertNoLeaks()`
 */
export async function auditPrivacy(
  setUp: (plan: AuditPlan) => AuditedHost | Promise<AuditedHost>,
  options: AuditOptions = {},
): Promise<PrivacyReport> {
  const canaries = new Canaries()
  const sightings = new Sightings()
  const service = createTestService(createAuditWorld(canaries, options))
  const { origin, host } = new URL(service.endpoint)
  const chatHosts = [host, `chat.${service.emulator.world.tenant.aiAgentDomain}`]
  const traffic = new Traffic(sightings, { origin, chatHosts })
  const stores = {
    localStorage: new RecordingStorage('local storage', sightings),
    sessionStorage: new RecordingStorage('session storage', sightings),
  }
  const plan = createPlan({ canaries, sightings, service, traffic, stores })
  const restoreGlobals = watchGlobals(plan.environment.fetch, (method, values) =>
    sightings.add('console', method, ...values),
  )
  try {
    const host = await setUp(plan)
    const incomplete = await driveAgent(host, { canaries, sightings, service, options })
    for (const [name, read] of Object.entries(host.sinks ?? {})) sightings.add(name, 'contents', await read())
    for (const store of Object.values(stores))
      for (const [key, value] of store.entries()) sightings.add('store after sign-out', key, key, value)
    await host.close?.()
    const allowances = [...ALLOWANCES, ...(options.allow ?? [])]
    return createReport(sightings, canaries, { allowances, incomplete })
  } finally {
    restoreGlobals()
    await service.close()
  }
}

interface AuditParts {
  readonly canaries: Canaries
  readonly sightings: Sightings
  readonly service: LocalTestService
}

function createPlan({
  canaries,
  sightings,
  service,
  traffic,
  stores,
}: AuditParts & {
  traffic: Traffic
  stores: Pick<AuditPlan['environment'], 'localStorage' | 'sessionStorage'>
}): AuditPlan {
  const issue = () => {
    const token = service.emulator.control.issueToken({ subject: canaries.valueOf('address', 'token') })
    canaries.add('token', 'token', token)
    return token
  }
  const { emulator } = service
  const origin = new URL(service.endpoint).origin
  const print = (...values: unknown[]) => sightings.add('console', 'of the agent', ...values)
  return {
    config: {
      id: AUDIT_AGENT_ID,
      endpoint: service.endpoint,
      auth: { type: 'pre-auth', accessToken: issue(), refreshTokenFn: async () => issue() },
      baseReconnectDelay: 10,
      maxReconnectDelay: 50,
      logLevel: 0,
    },
    environment: {
      fetch: async (input, init) => {
        const { method, url, headers } = new Request(input, init)
        traffic.request({ method, url, headers, body: init?.body })
        // Another address may be a collector of the host: it is not called.
        return new URL(url).origin === origin ? emulator.fetch(input, init) : new Response(null, { status: 204 })
      },
      WebSocket: class extends emulator.WebSocket {
        constructor(url: string | URL) {
          super(url)
          traffic.socket(String(url))
        }
        override send(data: unknown): void {
          traffic.frame(data)
          super.send(data)
        }
      },
      console: { debug: print, info: print, warn: print, error: print },
      ...stores,
    },
    telemetry: recordTelemetry(sightings),
  }
}

async function driveAgent(
  host: AuditedHost,
  { canaries, sightings, service, options }: AuditParts & { options: AuditOptions },
): Promise<string[]> {
  const { agent } = host
  const noteError = (error: unknown) => sightings.add('error', nameOf(error), error)
  agent.on('error', ({ payload }) => noteError(payload.error))
  // The session id of an entry is a separate field, for hosts that need it; it is not part of the text.
  agent.logger.on('log', entry => sightings.add('log', 'entry', { ...entry, sessionId: undefined }))
  const attempt = async (action: () => Promise<unknown>) => {
    try {
      return await action()
    } catch (error) {
      noteError(error)
      throw error
    }
  }
  const initialize = () => attempt(() => agent.initialize({ context: contextOf(canaries) }))
  const incomplete = await converse({
    service,
    canaries,
    renewsTokens: true,
    sessionFails: true,
    timeoutMs: options.timeoutMs ?? 10_000,
    driver: {
      // The first attempt fails: the service refuses to create a session.
      open: () =>
        initialize()
          .catch(initialize)
          .then(() => attempt(() => agent.connect())),
      say: text => attempt(async () => (host.send ? host.send(text) : agent.send(text))),
      setContext: attributes => attempt(() => agent.setContext(attributes, { sendImmediately: true })),
      leave: () => attempt(() => agent.disconnect()),
      reopen: () => attempt(() => agent.connect()),
    },
  })
  if (host.exportConversation) sightings.add('export', 'exportConversation()', await host.exportConversation())
  else sightings.add('export', 'getTranscriptAsJSON()', agent.getTranscriptAsJSON())
  if (host.recorder) sightings.add('trace', 'exportTrace()', host.recorder.exportTrace())
  await agent.logout().catch(error => incomplete.push(`signing out: ${String(error)}`))
  await agent.destroy()
  return incomplete
}

const nameOf = (error: unknown) => (error instanceof Error ? error.name : typeof error)
