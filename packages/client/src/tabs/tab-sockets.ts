import { CHAT_QUERY, encodeResumed, readLastSeq } from '@aiagent/protocol'
import type { Transport, TransportListener } from '../chat/transport.ts'
import { LOST, type SocketHub } from './socket-hub.ts'
import type { TabLink } from './tab-link.ts'
import type { TabMessage } from './tab-message.ts'

interface VirtualSocket {
  readonly id: number
  readonly sessionId: string
  readonly lastSeq: number | undefined
  readonly listener: TransportListener
  readonly transport: Transport
  /** The agent takes a `resting` one for open, although it leads nowhere. */
  state: 'waiting' | 'open' | 'resting' | 'closed'
}

/** Calls in order, before the next event of the page. */
function soon(work: () => void): void {
  void Promise.resolve().then(work)
}

/** The virtual sockets of one tab: what its agent takes for its connection. The leader connects them to the real one. */
export class TabSockets {
  readonly #link: TabLink
  readonly #hub: SocketHub
  readonly #sockets = new Map<number, VirtualSocket>()
  /** The last session in which a socket was open. */
  #opened: string | undefined
  #count = 0
  /** Whether this tab may not know what the other tabs have said: a replay repeats only what the agent has said. */
  #hasMissed = false

  constructor(link: TabLink, hub: SocketHub) {
    this.#link = link
    this.#hub = hub
  }

  /** Opens a virtual socket; it waits while no tab leads. */
  open(address: string, listener: TransportListener): Transport {
    const { searchParams } = new URL(address)
    const hub = this.#hub
    const transport: Transport = {
      get bufferedAmount() {
        return hub.bufferedAmount
      },
      send: text => {
        this.#link.lookBeforeSend()
        if (socket.state !== 'open') throw new Error('The socket is not open.')
        // The other tabs hear what was said before the service can answer it.
        soon(() => this.#link.postToLeader({ kind: 'write', socket: socket.id, text }))
      },
      close: () => {
        if (socket.state === 'closed') return
        this.#remove(socket)
        soon(() => this.#link.postToLeader({ kind: 'close', socket: socket.id }))
      },
    }
    const socket: VirtualSocket = {
      id: ++this.#count,
      sessionId: searchParams.get(CHAT_QUERY.SESSION_ID) ?? '',
      lastSeq: readLastSeq(searchParams.get(CHAT_QUERY.LAST_SEQ)),
      listener,
      transport,
      state: 'waiting',
    }
    this.#sockets.set(socket.id, socket)
    // The caller does not have the transport yet.
    soon(() => {
      if (socket.state === 'waiting') this.#request(socket)
    })
    return transport
  }

  /** A message of the leader. */
  handle(message: TabMessage): void {
    if (message.kind === 'opened') {
      const socket = this.#sockets.get(message.socket)
      if (socket?.state !== 'waiting') return
      const needsHistory = this.#hasMissed && socket.lastSeq !== undefined
      this.#hasMissed = false
      socket.state = 'open'
      this.#opened = socket.sessionId
      socket.listener.opened(socket.transport)
      if (needsHistory) socket.listener.received(socket.transport, encodeResumed(false))
    } else if (message.kind === 'frame') {
      for (const socket of this.#addressed(message.socket))
        if (socket.state === 'open') socket.listener.received(socket.transport, message.text)
    } else if (message.kind === 'closed') {
      const { code, reason, httpStatus } = message
      for (const socket of this.#addressed(message.socket)) {
        this.#remove(socket)
        socket.listener.closed(socket.transport, { code, reason, httpStatus })
      }
    }
  }

  /** The tab has no leader for now: what is open stays so for the agent, which can write nothing. */
  rest(): void {
    for (const socket of this.#sockets.values()) if (socket.state === 'open') socket.state = 'resting'
  }

  /**
   * The session is gone, and the agent need not notice before it has something to send: as {@link rest}. What waits opens for
   * the agent.
   */
  leave(): void {
    this.rest()
    for (const socket of [...this.#sockets.values()]) {
      if (socket.state !== 'waiting') continue
      socket.state = 'resting'
      socket.listener.opened(socket.transport)
    }
  }

  /** The agent needs a connection: it opens another one. */
  wake(): void {
    for (const socket of [...this.#sockets.values()]) if (socket.state === 'resting') this.#lose(socket)
  }

  /** Another tab leads, or none: what was open is lost, and what waits is requested from the new leader. */
  handleLeader(): void {
    for (const socket of [...this.#sockets.values()]) {
      if (socket.state === 'open') this.#lose(socket)
      else if (socket.state === 'waiting') this.#request(socket)
    }
  }

  /** The tab is in another session now: what it has opened, or requested, in an earlier one is lost. */
  handleSession(sessionId: string): void {
    for (const socket of [...this.#sockets.values()]) if (socket.sessionId !== sessionId) this.#lose(socket)
  }

  /** This tab may have missed messages of the other tabs: the history that it loads with its next socket shows them. */
  handleMissed(): void {
    this.#hasMissed = true
  }

  /** What the leader has passed on may be lost: all open again. */
  renew(): void {
    for (const socket of [...this.#sockets.values()]) {
      this.#link.postToLeader({ kind: 'close', socket: socket.id })
      this.#lose(socket)
    }
  }

  #addressed(id: number | undefined): VirtualSocket[] {
    if (id === undefined) return [...this.#sockets.values()].filter(({ state }) => state !== 'resting')
    const socket = this.#sockets.get(id)
    return socket ? [socket] : []
  }

  #request({ id: socket, sessionId, lastSeq }: VirtualSocket): void {
    this.#link.postToLeader({ kind: 'open', socket, sessionId, lastSeq, isFirst: this.#opened !== sessionId })
  }

  #lose(socket: VirtualSocket): void {
    this.#remove(socket)
    socket.listener.closed(socket.transport, LOST)
  }

  #remove(socket: VirtualSocket): void {
    this.#sockets.delete(socket.id)
    socket.state = 'closed'
  }
}
