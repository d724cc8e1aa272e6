import { CHAT_QUERY, CLOSE_CODE, readLastSeq } from '@aiagent/protocol'
import type { Transport, TransportListener } from '../chat/transport.ts'
import { DEAD_CONNECTION_REASON } from '../platform/socket-pings.ts'
import type { TabMessage } from './tab-message.ts'

export interface TabSocketsOptions {
  /** Sends a message to the leader, if there is one. */
  toLeader(message: TabMessage): void
  /** Bytes that wait in the real socket, if this tab has it. */
  bufferedAmount(): number
  /** Something is about to be written: what this tab was not told may have ended its session. */
  checkSession(): void
}

interface VirtualSocket {
  readonly id: number
  readonly sessionId: string
  readonly lastSeq: number | undefined
  readonly listener: TransportListener
  readonly transport: Transport
  isOpen: boolean
  /** Whether the agent takes it for open, although it leads nowhere. */
  isResting: boolean
}

/** Calls in order, before the next event of the page. */
function soon(work: () => void): void {
  void Promise.resolve().then(work)
}

/** The virtual sockets of one tab: what its agent takes for its connection. The leader connects them to the real one. */
export class TabSockets {
  readonly #options: TabSocketsOptions
  readonly #sockets = new Map<number, VirtualSocket>()
  /** The last session in which a socket was open. */
  #opened: string | undefined
  #count = 0

  constructor(options: TabSocketsOptions) {
    this.#options = options
  }

  /** Opens a virtual socket; it waits while no tab leads. */
  open(address: string, listener: TransportListener): Transport {
    const { searchParams } = new URL(address)
    const { toLeader, bufferedAmount, checkSession } = this.#options
    const transport: Transport = {
      get bufferedAmount() {
        return bufferedAmount()
      },
      send: text => {
        checkSession()
        if (!socket.isOpen) throw new Error('The socket is not open.')
        // The other tabs hear what was said before the service can answer it.
        soon(() => toLeader({ kind: 'write', socket: socket.id, text }))
      },
      close: () => {
        if (!this.#sockets.delete(socket.id)) return
        socket.isOpen = false
        soon(() => toLeader({ kind: 'close', socket: socket.id }))
      },
    }
    const socket: VirtualSocket = {
      id: ++this.#count,
      sessionId: searchParams.get(CHAT_QUERY.SESSION_ID) ?? '',
      lastSeq: readLastSeq(searchParams.get(CHAT_QUERY.LAST_SEQ)),
      listener,
      transport,
      isOpen: false,
      isResting: false,
    }
    this.#sockets.set(socket.id, socket)
    // The caller does not have the transport yet.
    soon(() => {
      if (this.#sockets.has(socket.id)) this.#request(socket)
    })
    return transport
  }

  /** A message of the leader. */
  handle(message: TabMessage): void {
    if (message.kind === 'opened') {
      const socket = this.#sockets.get(message.socket)
      if (!socket || socket.isOpen || socket.isResting) return
      socket.isOpen = true
      this.#opened = socket.sessionId
      socket.listener.opened(socket.transport)
    } else if (message.kind === 'frame') {
      for (const socket of this.#addressed(message.socket))
        if (socket.isOpen) socket.listener.received(socket.transport, message.text)
    } else if (message.kind === 'closed') {
      const { code, reason, httpStatus } = message
      for (const socket of this.#addressed(message.socket)) {
        this.#sockets.delete(socket.id)
        socket.isOpen = false
        socket.listener.closed(socket.transport, { code, reason, httpStatus })
      }
    }
  }

  /** The tab has no leader for now: what is open stays so for the agent, which can write nothing. */
  rest(): void {
    for (const socket of this.#sockets.values()) {
      socket.isResting ||= socket.isOpen
      socket.isOpen = false
    }
  }

  /**
   * The session is gone, and the agent need not notice before it has something to send: as {@link rest}. What waits opens for
   * the agent.
   */
  leave(): void {
    this.rest()
    for (const socket of [...this.#sockets.values()]) {
      if (socket.isResting) continue
      socket.isResting = true
      socket.listener.opened(socket.transport)
    }
  }

  /** The agent needs a connection: it opens another one. */
  wake(): void {
    for (const socket of [...this.#sockets.values()]) if (socket.isResting) this.#lose(socket)
  }

  /** Another tab leads, or none: what was open is lost, and what waits is requested from the new leader. */
  handleLeader(): void {
    for (const socket of [...this.#sockets.values()]) {
      if (socket.isResting) continue
      if (socket.isOpen) this.#lose(socket)
      else this.#request(socket)
    }
  }

  /** The tab is in another session now: what it has opened, or requested, in an earlier one is lost. */
  handleSession(sessionId: string): void {
    for (const socket of [...this.#sockets.values()]) if (socket.sessionId !== sessionId) this.#lose(socket)
  }

  /** What the leader has passed on may be lost: all open again. */
  renew(): void {
    for (const socket of [...this.#sockets.values()]) {
      this.#options.toLeader({ kind: 'close', socket: socket.id })
      this.#lose(socket)
    }
  }

  #addressed(id: number | undefined): VirtualSocket[] {
    if (id === undefined) return [...this.#sockets.values()].filter(({ isResting }) => !isResting)
    const socket = this.#sockets.get(id)
    return socket ? [socket] : []
  }

  #request({ id: socket, sessionId, lastSeq }: VirtualSocket): void {
    this.#options.toLeader({ kind: 'open', socket, sessionId, lastSeq, isFirst: this.#opened !== sessionId })
  }

  #lose(socket: VirtualSocket): void {
    this.#sockets.delete(socket.id)
    socket.isOpen = false
    // With this reason the agent reconnects without a wait.
    socket.listener.closed(socket.transport, { code: CLOSE_CODE.ABNORMAL, reason: DEAD_CONNECTION_REASON })
  }
}
