import {
  CHAT_QUERY,
  CLOSE_CODE,
  encodeMessage,
  isUsableSessionId,
  readFence,
  readLastSeq,
  SERVICE_ERROR_CODE,
} from '@aiagent/protocol'
import type { Clock } from '../clock.ts'
import type { TokenKeys } from '../oauth/keys.ts'
import type { Random } from '../random.ts'
import type { EmulatorSettings } from '../settings.ts'
import type { SessionRecord } from '../world/session-record.ts'
import type { World } from '../world/world.ts'
import type { Answer, Reply } from './reply.ts'
import { errorFrame } from './service-frames.ts'
import { ServiceSession, type SessionFaultKind } from './service-session.ts'
import type { Admission, ChatConnection, Refusal, SocketEnd } from './socket-end.ts'

export interface ChatServiceParts {
  world: World
  clock: Clock
  settings: EmulatorSettings
  keys: TokenKeys
  random: Random
  reply: Reply
  /** Whether a fault of this kind strikes a session now. Counts it. */
  isStruckBy(kind: SessionFaultKind, sessionId: string): boolean
}

const SILENT: ChatConnection = { receive: () => {}, closed: () => {} }

/** Accepts chat connections and assigns each to its conversation. Owns the conversations that have had a connection. */
export class ChatService {
  readonly #parts: ChatServiceParts
  readonly #sessions = new Map<string, ServiceSession>()

  constructor(parts: ChatServiceParts) {
    this.#parts = parts
  }

  /** Validates the address of a connection before it is accepted. */
  admit(url: URL): Admission {
    const admission = this.#judge(url)
    if (admission.accepted || admission.status === 400) return admission
    return this.#parts.settings.unknownSession === 'close-4404'
      ? { accepted: true, open: end => refuseOpenly(end, admission) }
      : admission
  }

  /** Ends a session. Returns false if it does not exist. */
  end(id: string): boolean {
    const record = this.#parts.world.sessions.get(id)
    if (!record) return false
    if (!record.ended) this.#parts.world.commit(record, { type: 'ended' })
    this.#sessions.get(id)?.end(CLOSE_CODE.NORMAL, 'The session has ended')
    this.#sessions.delete(id)
    return true
  }

  /** Removes a session, as if it had never existed. Returns false if it does not exist. */
  forget(id: string): boolean {
    this.#sessions.get(id)?.end(CLOSE_CODE.SESSION_UNKNOWN, 'Session unknown')
    this.#sessions.delete(id)
    return this.#parts.world.forgetSession(id)
  }

  /** Removes all sessions, and closes their connections. */
  forgetAll(): void {
    this.stop()
    this.#parts.world.forgetSessions()
  }

  /** Sends text to the client of a session. Returns false if none is connected. */
  push(id: string, text: string): boolean {
    return this.#sessions.get(id)?.push(text) ?? false
  }

  /**
   * Has the agent of a session say something by itself, whether or not a client is connected. Returns the id of its
   * message; undefined when there is no such session, or it has ended.
   */
  say(id: string, answer: Answer): string | undefined {
    const record = this.#parts.world.sessions.get(id)
    return record && !record.ended ? this.#sessionOf(record).say(answer) : undefined
  }

  /** Goes on with the answers that a restored world still owes. */
  goOn(): void {
    for (const record of this.#parts.world.sessions.values())
      if (record.unanswered.length > 0 && !record.ended) this.#sessionOf(record)
  }

  /** Repeats the last answer, or the last pushed text. Returns false without such a text or a connected client. */
  replay(id: string, times: number): boolean {
    return this.#sessions.get(id)?.replay(times) ?? false
  }

  /**
   * Closes every connection with a code, or breaks it without one. The sessions remain. Returns the number of
   * connections.
   */
  drop(code: number | undefined, reason: string): number {
    return [...this.#sessions.keys()].filter(id => this.dropOne(id, code, reason)).length
  }

  /** Closes or breaks the connection of one session. Returns false if it has none. */
  dropOne(id: string, code: number | undefined, reason: string): boolean {
    const session = this.#sessions.get(id)
    if (!session?.isConnected) return false
    if (code === undefined || code === CLOSE_CODE.ABNORMAL) session.breakConnection()
    else session.disconnect(code, reason)
    return true
  }

  isConnected(id: string): boolean {
    return this.#sessions.get(id)?.isConnected ?? false
  }

  /** Stops all work and breaks the remaining connections. Records stay readable. */
  stop(): void {
    for (const session of this.#sessions.values()) session.stop()
    this.#sessions.clear()
  }

  /** Checks the tokens of all connections again. */
  reviewTokens(): void {
    for (const session of this.#sessions.values()) session.reviewToken()
  }

  #judge(url: URL): Admission {
    const id = url.searchParams.get(CHAT_QUERY.SESSION_ID)
    if (!isUsableSessionId(id))
      return { accepted: false, status: 400, code: '400-002', message: 'The address names no session id.' }
    const record = this.#parts.world.sessions.get(String(id))
    if (!record)
      return { accepted: false, status: 404, code: SERVICE_ERROR_CODE.UNKNOWN_SESSION, message: 'Session unknown' }
    if (this.#sessions.get(record.id)?.isIdle()) this.end(record.id)
    if (record.ended)
      return { accepted: false, status: 410, code: SERVICE_ERROR_CODE.SESSION_ENDED, message: 'The session has ended' }
    return { accepted: true, open: end => this.#open(record, url, end) }
  }

  #open(record: SessionRecord, url: URL, end: SocketEnd): ChatConnection {
    // The connection may have closed between the response to the upgrade and its opening.
    const { world } = this.#parts
    if (world.sessions.get(record.id) !== record || record.ended) {
      const late = this.#judge(url)
      if (!late.accepted) return refuseOpenly(end, late)
    }
    const callId = url.searchParams.get(CHAT_QUERY.EXTERNAL_CALL_ID)
    const lastSeq = readLastSeq(url.searchParams.get(CHAT_QUERY.LAST_SEQ))
    const fence = readFence(url.searchParams.get(CHAT_QUERY.FENCE), this.#parts.clock.now())
    return this.#sessionOf(record).open(end, {
      ...(callId && { callId }),
      ...(lastSeq !== undefined && { lastSeq }),
      ...(fence !== undefined && { fence }),
    })
  }

  #sessionOf(record: SessionRecord): ServiceSession {
    const session = this.#sessions.get(record.id) ?? this.#createSession(record)
    this.#sessions.set(record.id, session)
    return session
  }

  #createSession(record: SessionRecord): ServiceSession {
    const { clock, isStruckBy, keys, random, reply, settings, world } = this.#parts
    const liveDomain = `live.${world.tenant.aiAgentDomain}`
    return new ServiceSession({
      record,
      clock,
      settings,
      keys,
      tenantId: world.tenantIdOfAgent(record.agent),
      reply,
      random: random.next,
      isStruckBy: kind => isStruckBy(kind, record.id),
      commit: (...changes) => world.commit(record, ...changes),
      escalation: {
        liveDomain,
        entrypointUrl: `https://${liveDomain}/entry/${encodeURIComponent(record.agent.details.agentId)}`,
      },
    })
  }
}

/** Sends the reason, then closes: a browser does not see the status of a rejected upgrade. */
function refuseOpenly(end: SocketEnd, { code, message }: Refusal): ChatConnection {
  end.send(encodeMessage(errorFrame(code, message)))
  end.close(CLOSE_CODE.SESSION_UNKNOWN, message)
  return SILENT
}
