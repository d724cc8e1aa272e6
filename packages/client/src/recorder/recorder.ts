import { isJsonObject } from '@aiagent/protocol'
import type { MaskingPreview } from '../masking/masking.ts'
import type { Environment } from '../platform/environment.ts'
import type { Trace, TraceEntry, TraceRecorder, TraceText } from '../platform/trace.ts'
import { VERSION } from '../version.ts'
import { describeEvent, RECORDED_EVENTS } from './recorded-events.ts'
import { recordSockets, type SocketRecord } from './recorded-socket.ts'
import { hashText, type RedactText, redactEntry, redactFrame, redactPath } from './redaction.ts'

/** Options of `createRecorder()`. */
export interface RecorderOptions {
  /**
   * Keeps texts, masked where masking is on, until the user signs out or changes. Otherwise, and for a text that is passed
   * before the masking rules are known or that they do not let through, only its length and a salted hash are kept.
   *
   * @default false
   */
  content?: boolean
  /** Maximum number of entries; the oldest are dropped. @default 5000 */
  limit?: number
}

/** Methods of an agent whose calls are recorded. */
const RECORDED_CALLS = [
  'initialize',
  'connect',
  'disconnect',
  'restartConnection',
  'send',
  'ask',
  'setContext',
  'updateAccessToken',
  'logout',
  'destroy',
] as const

/** An entry without its time. */
type Fact = TraceEntry extends infer Each ? (Each extends TraceEntry ? Omit<Each, 't'> : never) : never
type Method = (...parameters: unknown[]) => unknown

/** What a recorder uses of an agent. */
interface RecordedAgent extends Record<string, unknown> {
  on(type: string, listener: (event: { payload: unknown }) => void): unknown
  getDeploymentInfo(): Promise<{ capabilities?: string[] | null }>
  getAgentDetails(): Promise<{ isAuthenticated?: boolean | null }>
  getIsInitialized(): boolean
  previewMasking(text: string): MaskingPreview
}

/**
 * Makes a recorder for one agent: `new AiAgent({ …, recorder })`. `recorder.exportTrace()` returns the recording, and
 * `aiagent replay` plays it.
 *
 * Never recorded: tokens, session ids, bodies of requests, context, and data of messages beyond what the protocol reads.
 */
export function createRecorder({ content = false, limit = 5000 }: RecorderOptions = {}): TraceRecorder {
  let entries: TraceEntry[] = []
  let dropped = 0
  let sockets = 0
  let calls = 0
  let startedAt = 0
  let elapsed = () => 0
  let hash: RedactText = text => `#:${text.length}`
  /** Whether the texts of the present user are kept. */
  let keepsContent = content
  /** Masks texts; undefined for one that must not be kept. The frames of a user are masked already, those of agents are not. */
  let mask: (text: string) => string | undefined = text => text
  let capabilities: readonly string[] = []
  let isAuthenticated = false

  const note = (fact: Fact) => {
    entries.push({ t: elapsed(), ...fact } as TraceEntry)
    if (entries.length < 2 * limit) return
    dropped += entries.length - limit
    entries = entries.slice(-limit)
  }

  const redact: RedactText = text => (keepsContent ? mask(text) : undefined) ?? hash(text)

  const recordSocket = (): SocketRecord => {
    const socket = ++sockets
    note({ kind: 'connecting', socket })
    const noteFrame = (kind: 'sent' | 'received', data: unknown) => {
      const frame = redactFrame(data, redact)
      if (frame) note({ kind, socket, frame })
      else note({ kind: 'unreadable', socket, length: typeof data === 'string' ? data.length : 0 })
    }
    return {
      open: () => note({ kind: 'open', socket }),
      sent: data => noteFrame('sent', data),
      received: data => noteFrame('received', data),
      closing: code => note({ kind: 'closing', socket, code }),
      closed: (code, httpStatus) =>
        note({ kind: 'closed', socket, code, ...(httpStatus !== undefined && { httpStatus }) }),
    }
  }

  const recordFetch =
    (fetch: Environment['fetch']): Environment['fetch'] =>
    async (input, init) => {
      const start = elapsed()
      const done = (status: number) => {
        const path = URL.canParse(input) ? redactPath(new URL(input).pathname) : '-'
        note({ kind: 'request', method: init?.method ?? 'GET', path, status, ms: elapsed() - start })
      }
      try {
        const response = await fetch(input, init)
        done(response.status)
        return response
      } catch (error) {
        done(0)
        throw error
      }
    }

  /** The text of a call, whose message may still be refused: readable only once the rules are known. */
  const redactCall = (agent: RecordedAgent, text: string): TraceText => {
    const { isActive, content } = agent.previewMasking(text)
    return isActive || agent.getIsInitialized() ? redact(content) : hash(content)
  }

  const recordCall = (agent: RecordedAgent, name: string) => {
    const method = agent[name]
    if (typeof method !== 'function') return
    const original = method as Method
    agent[name] = function recorded(this: unknown, ...parameters: unknown[]): unknown {
      const call = ++calls
      const [text] = parameters
      const isText = typeof text === 'string' && (name === 'send' || name === 'ask')
      note({ kind: 'call', call, name, ...(isText && { text: redactCall(agent, text) }) })
      const result = original.apply(this, parameters)
      if (!(result instanceof Promise)) return result
      result.then(
        () => note({ kind: 'settled', call, outcome: 'resolved' }),
        (error: unknown) => note({ kind: 'settled', call, outcome: 'rejected', ...describeError(error) }),
      )
      return result
    }
  }

  return {
    wrap(environment) {
      const { clock } = environment
      const start = clock.monotonic()
      elapsed = () => Math.round(clock.monotonic() - start)
      startedAt = clock.now()
      hash = hashText(environment.randomUUID())
      const fetch = recordFetch((input, init) => environment.fetch(input, init))
      const WebSocket = recordSockets(environment.WebSocket, recordSocket)
      // Replaced before they are defined: the default platform is frozen, and so are the copies of its properties.
      return Object.defineProperties(
        {},
        {
          ...Object.getOwnPropertyDescriptors(environment),
          fetch: { value: fetch, enumerable: true, writable: true },
          WebSocket: { value: WebSocket, enumerable: true },
        },
      ) as Environment
    },
    attach(agent) {
      const recorded = agent as RecordedAgent
      mask = text => {
        const { isBlocked, content } = recorded.previewMasking(text)
        return isBlocked ? undefined : content
      }
      for (const name of RECORDED_CALLS) recordCall(recorded, name)
      for (const type of RECORDED_EVENTS)
        recorded.on(type, ({ payload }) => {
          const details = describeEvent(type, isJsonObject(payload) ? payload : {}, redact)
          note({ kind: 'event', type, ...(details && { details }) })
        })
      if (content)
        recorded.on('phaseChanged', ({ payload }) => {
          keepsContent = Object(payload).at !== 'leaving'
          // Nothing of a user stays for the next one.
          if (!keepsContent) entries = entries.map(entry => redactEntry(entry, hash))
        })
      recorded.on('initialized', () => {
        // Both are known by now: neither call sends a request.
        recorded.getDeploymentInfo().then(
          info => {
            capabilities = [...(info.capabilities ?? [])]
          },
          () => {},
        )
        recorded.getAgentDetails().then(
          details => {
            isAuthenticated = details.isAuthenticated === true
          },
          () => {},
        )
      })
    },
    exportTrace(): Trace {
      const kept = entries.slice(-limit)
      return {
        format: 'aiagent-trace',
        version: 1,
        library: VERSION,
        startedAt,
        endedAt: elapsed(),
        dropped: dropped + entries.length - kept.length,
        hasContent: content,
        capabilities,
        isAuthenticated,
        entries: kept,
      }
    },
  }
}

function describeError(error: unknown): { code?: string; reason?: string } {
  const { code, reason } = Object(error) as { code?: unknown; reason?: unknown }
  return { ...(typeof code === 'string' && { code }), ...(typeof reason === 'string' && { reason }) }
}
