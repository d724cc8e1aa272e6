import {
  CAPABILITY,
  CHAT_QUERY,
  CLOSE_CODE,
  EXTENSION_ROLE,
  encodeMessage,
  encodeResumed,
  isJsonObject,
  PERSONA,
  ROLE,
} from '@aiagent/protocol'
import { type Transport, WebSocketTransport } from '../chat/transport.ts'
import type { SocketCloseEvent } from '../platform/environment.ts'
import { DEAD_CONNECTION_REASON } from '../platform/socket-limits.ts'
import { objectIn } from '../util/values.ts'
import type { TabLink } from './tab-link.ts'
import type { TabMessage } from './tab-message.ts'
import type { TabParts } from './tab-parts.ts'

/*
 * The leader's socket, and who uses it. Each tab has virtual sockets; the hub connects them all to one real socket:
 *
 *   virtual sockets ──open──► waiting ──the real socket is open──► open ──closed by either side──► gone
 *
 * The real socket is opened for the first virtual one and closed with the last. What the service sends goes to all open
 * virtual sockets; a request for a token goes to one of them.
 */

/** How many numbered frames are kept for tabs that open later, and how many messages of the agent one is told without them. */
const KEPT_FRAMES = 500

/** Whether a frame may be a token or a goodbye: reading every frame is slow. */
const MAY_BE_CONTROL = new RegExp(`"(?:${PERSONA.METADATA}|${PERSONA.SYSTEM})"`)

interface Member {
  readonly tab: string
  readonly socket: number
  readonly sessionId: string
  readonly lastSeq: number | undefined
  readonly isFirst: boolean
  isOpen: boolean
  /** Whether it has sent its token, which it does first. */
  hasSentToken: boolean
}

interface RealSocket {
  transport: Transport | undefined
  isOpen: boolean
  /** Whether the service still repeats what was missed. */
  isReplaying: boolean
  hasToken: boolean
}

export class SocketHub {
  readonly #parts: TabParts
  readonly #link: TabLink
  readonly #members = new Map<string, Member>()
  #real: RealSocket | undefined
  /** Frames of the session in order; the first one follows {@link #base}. */
  #frames: { readonly seq: number; readonly text: string }[] = []
  /** All frames above this number are kept; undefined while that is not known. */
  #base: number | undefined

  constructor(parts: TabParts, link: TabLink) {
    this.#parts = parts
    this.#link = link
  }

  /** Bytes that wait in the real socket. */
  get bufferedAmount(): number {
    return this.#real?.transport?.bufferedAmount ?? 0
  }

  /** A tab opens a virtual socket in the session of the tabs. */
  open(tab: string, { socket, sessionId, lastSeq, isFirst }: TabMessage & { readonly kind: 'open' }): void {
    // A tab asks twice when the leader begins at that moment.
    if (this.#members.has(keyOf(tab, socket))) return
    const member = { tab, socket, sessionId, lastSeq, isFirst, isOpen: false, hasSentToken: false }
    this.#members.set(keyOf(tab, socket), member)
    if (this.#real?.isOpen) this.#admit(member, true)
    else if (!this.#real) this.#dial(member)
  }

  /** A tab writes a frame. One that comes after the end of the real socket is in doubt for its tab, which learns of the end. */
  write(tab: string, socket: number, text: string): void {
    const member = this.#members.get(keyOf(tab, socket))
    const real = this.#real
    if (!member?.isOpen || !real?.transport) return
    const { persona, role } = (MAY_BE_CONTROL.test(text) && objectIn(text)) || {}
    if (persona === PERSONA.METADATA && role === ROLE.TOKEN) {
      const isOpening = !member.hasSentToken
      member.hasSentToken = true
      // The service has the leader's token already. A later one is new.
      if (isOpening && real.hasToken) return
      real.hasToken = true
    }
    const isGoodbye = persona === PERSONA.SYSTEM && role === ROLE.GRACEFUL_DISCONNECT
    if (isGoodbye && this.#members.size > 1) return
    try {
      real.transport.send(text)
    } catch {
      // The socket is closing: its close event follows.
    }
  }

  /** A tab closes a virtual socket. */
  close(tab: string, socket: number): void {
    this.#members.delete(keyOf(tab, socket))
    this.#closeUnused()
  }

  /** A tab has ended without a word. */
  forget(tab: string): void {
    for (const [key, member] of this.#members) if (member.tab === tab) this.#members.delete(key)
    this.#closeUnused()
  }

  /** What a tab has written may be lost: it opens again, and decides about it. */
  interrupt(tab: string): void {
    this.forget(tab)
    this.#link.post(tab, { kind: 'closed', socket: undefined, ...LOST })
  }

  /** The conversation continues in another session: every tab opens again. */
  reset(): void {
    this.#forgetFrames()
    this.#drop()
    this.#closeAll(LOST)
  }

  /** The tab no longer leads. Its own virtual sockets and those of the others open again at the next leader. */
  end(): void {
    this.#forgetFrames()
    this.#drop()
    this.#members.clear()
  }

  #dial({ sessionId, lastSeq }: Member): void {
    const { scope, connection } = this.#parts
    const { environment, facts } = scope
    const real: RealSocket = { transport: undefined, isOpen: false, isReplaying: false, hasToken: false }
    this.#real = real
    // The kept frames show more than the tab that happens to open first.
    const last = this.#frames.at(-1)?.seq ?? lastSeq
    if (this.#frames.length === 0) this.#base = lastSeq
    const isCurrent = () => this.#real === real
    try {
      const url = new URL(connection.addressOf(sessionId, last))
      if (facts.hasCapability(CAPABILITY.FENCING)) url.searchParams.set(CHAT_QUERY.FENCE, String(this.#link.fence))
      real.isReplaying = last !== undefined && facts.wire.replays
      real.transport = new WebSocketTransport(new environment.WebSocket(url.href), {
        opened: () => isCurrent() && this.#opened(real),
        received: (_transport, data) => isCurrent() && this.#received(real, data),
        closed: (_transport, event) => isCurrent() && void this.#closed(real, event),
      })
    } catch {
      this.#real = undefined
      this.#closeAll({ code: CLOSE_CODE.ABNORMAL, reason: '' })
    }
  }

  #opened(real: RealSocket): void {
    real.isOpen = true
    for (const member of [...this.#members.values()]) if (!member.isOpen) this.#admit(member, false)
  }

  /** @param isLate whether the service may have sent something on the socket already */
  #admit(member: Member, isLate: boolean): void {
    const { tab, socket, sessionId, lastSeq, isFirst } = member
    member.isOpen = true
    this.#link.post(tab, { kind: 'opened', socket })
    const send = (text: string) => this.#link.post(tab, { kind: 'frame', socket, text })
    if (lastSeq !== undefined && this.#parts.scope.facts.wire.replays) {
      const isCovered = this.#covers(lastSeq)
      for (const frame of isCovered ? this.#frames : []) if (frame.seq > lastSeq) send(frame.text)
      // Otherwise the end of the replay, which all get, is theirs too.
      if (!isCovered || !this.#real?.isReplaying) send(encodeResumed(isCovered))
    } else if (isFirst && isLate) {
      const elements = this.#saidByAgent(sessionId)
      if (elements.length === 0) return
      const messageData = { chat_history: elements }
      send(encodeMessage({ persona: PERSONA.SYSTEM, role: ROLE.CHAT_HISTORY, messageData }))
    }
  }

  /**
   * What the agent has said last in a session, as elements of a history: what the service may not have told a tab that has just
   * loaded its transcript. Whether the service has the user's messages is not known.
   */
  #saidByAgent(session: string): unknown[] {
    const received = this.#parts.log.entries({ direction: 'received' }).filter(({ sessionId }) => sessionId === session)
    return received.slice(-KEPT_FRAMES).map(({ message }) => {
      const { persona, role, content, messageData, messageId, timestamp } = message
      return { persona, role, content, messageData, messageId, timestamp }
    })
  }

  #covers(lastSeq: number): boolean {
    return this.#base !== undefined && lastSeq >= this.#base
  }

  #received(real: RealSocket, data: unknown): void {
    const link = this.#link
    if (typeof data !== 'string') return
    const { persona, role, seq, messageData } = objectIn(data) ?? {}
    if (typeof seq === 'number') this.#keep(seq, data)
    const isMeta = persona === PERSONA.METADATA
    if (isMeta && (role === ROLE.STALE_TOKEN || role === ROLE.EXPIRED_TOKEN)) {
      const open = [...this.#members.values()].filter(({ isOpen }) => isOpen)
      const member = open.find(({ tab }) => tab === link.id) ?? open[0]
      if (member) link.post(member.tab, { kind: 'frame', socket: member.socket, text: data })
      return
    }
    if (isMeta && role === EXTENSION_ROLE.RESUMED) {
      real.isReplaying = false
      if (!isJsonObject(messageData) || messageData.complete !== true) this.#forgetFrames()
    }
    const frame = { kind: 'frame', socket: undefined, text: data } as const
    link.post(undefined, frame)
    link.post(link.id, frame)
  }

  #keep(seq: number, text: string): void {
    const last = this.#frames.at(-1)?.seq
    if (last !== undefined && seq <= last) return
    this.#base ??= seq - 1
    this.#frames.push({ seq, text })
    if (this.#frames.length > KEPT_FRAMES) this.#base = this.#frames.shift()?.seq
  }

  #forgetFrames(): void {
    this.#frames = []
    this.#base = undefined
  }

  async #closed(real: RealSocket, event: SocketCloseEvent): Promise<void> {
    const { code, reason } = event
    const isRefused = code === CLOSE_CODE.FENCED
    real.transport = undefined
    if (isRefused || code === CLOSE_CODE.NORMAL) await this.#link.handleEviction(isRefused, reason)
    // The tab may no longer lead, or is in another session.
    if (this.#real !== real) return
    this.#real = undefined
    this.#closeAll(event)
  }

  #closeAll({ code, reason, httpStatus }: SocketCloseEvent): void {
    const members = [...this.#members.values()]
    this.#members.clear()
    for (const { tab, socket } of members) this.#link.post(tab, { kind: 'closed', socket, code, reason, httpStatus })
  }

  #closeUnused(): void {
    if (this.#members.size === 0) this.#drop()
  }

  #drop(): void {
    const real = this.#real
    this.#real = undefined
    real?.transport?.close(CLOSE_CODE.NORMAL, '')
  }
}

/** With this reason an agent reconnects without a wait. */
export const LOST = { code: CLOSE_CODE.ABNORMAL, reason: DEAD_CONNECTION_REASON, httpStatus: undefined }

const keyOf = (tab: string, socket: number): string => `${tab}:${socket}`
