import type { ClientRequest } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Environment, SocketCloseEvent, WebSocketConstructor, WebSocketLike } from '@aiagent/client'
import { CHAT_QUERY, CLOSE_CODE } from '@aiagent/protocol'

/** The lease under which frames may leave. */
export interface SendGuard {
  readonly shard: number
  /** The fencing number. */
  readonly number: number
  /** Whether the lease still lasts, with a margin. */
  isHeld(): boolean
}

/** The sockets of the agents of one shard. */
export interface GuardedSockets {
  /**
   * The sockets of one agent.
   *
   * @param hasFencing whether its service compares fencing numbers. Asked for each connection
   */
  forAgent(hasFencing: () => boolean): AgentSockets
  /** Resolves when every socket is closed. */
  closed(): Promise<void>
  /** Breaks the connections without a word to the service. */
  destroy(): void
}

/** The sockets of one agent. */
export interface AgentSockets {
  readonly environment: Partial<Environment>
  /** Whether the last connection worked until both sides closed it, so that the service has what was written. */
  hasClosedInOrder(): boolean
}

/** Header by which a service may tell the owners of a session apart. */
export const FENCE_HEADER = 'x-aiagent-fence'

/**
 * An environment whose sockets check the lease at the last point before the operating system: right before each write. A
 * worker that was suspended, and continues after its lease, writes nothing more.
 */
export function guardSockets(given: Partial<Environment> | undefined, guard: SendGuard): GuardedSockets {
  const open = new Set<GuardedSocket>()
  const { webSocketOptions = {}, WebSocket, ...others } = given ?? {}
  return {
    forAgent(hasFencing) {
      let last: GuardedSocket | undefined
      const add = (destroy: () => void) => {
        const socket = new GuardedSocket(destroy, () => open.delete(socket))
        last = socket
        open.add(socket)
        return socket
      }
      const fenced = (address: string) => (hasFencing() ? withFence(address, guard.number) : address)
      return {
        environment: {
          ...others,
          ...(WebSocket
            ? { WebSocket: guardClass(WebSocket, guard, add, fenced) }
            : { webSocketOptions: guardOptions(webSocketOptions, guard, add, fenced) }),
        },
        hasClosedInOrder: () => last?.hasClosedInOrder === true,
      }
    },
    closed: async () => void (await Promise.all([...open].map(({ done }) => done))),
    destroy: () => {
      for (const socket of open) socket.destroy()
    },
  }
}

/** A connection, and how it ends. */
class GuardedSocket {
  readonly done: Promise<void>
  hasClosedInOrder = false
  readonly #destroy: () => void
  readonly #onClosed: () => void
  #isDestroyed = false
  #resolve = () => {}

  constructor(destroy: () => void, onClosed: () => void) {
    this.#destroy = destroy
    this.#onClosed = onClosed
    this.done = new Promise(resolve => {
      this.#resolve = resolve
    })
  }

  closed(isInOrder: boolean): void {
    this.hasClosedInOrder = isInOrder && !this.#isDestroyed
    this.#onClosed()
    this.#resolve()
  }

  destroy(): void {
    this.#isDestroyed = true
    this.#destroy()
  }
}

type Add = (destroy: () => void) => GuardedSocket

/** Adds the fencing number to an address of the chat, or to a path. */
type Fenced = (address: string) => string

function withFence(address: string, number: number): string {
  return `${address}${address.includes('?') ? '&' : '?'}${CHAT_QUERY.FENCE}=${number}`
}

interface RequestOptions {
  readonly headers?: Readonly<Record<string, string>>
  readonly finishRequest?: (request: ClientRequest, socket: unknown) => void
}

/** Options of the package `ws` that guard the stream below each socket. */
function guardOptions(options: RequestOptions, guard: SendGuard, add: Add, fenced: Fenced) {
  const { headers, finishRequest } = options
  return {
    ...options,
    headers: { ...headers, [FENCE_HEADER]: `${guard.shard}:${guard.number}` },
    finishRequest(request: ClientRequest, socket: unknown) {
      // The request has not been written yet.
      request.path = fenced(request.path)
      request.once('socket', stream => guardStream(stream, guard, add))
      if (finishRequest) finishRequest(request, socket)
      else request.end()
    },
  }
}

function guardStream(stream: Duplex, guard: SendGuard, add: Add): void {
  const socket = add(() => stream.destroy())
  stream.once('close', (hadError: unknown) => socket.closed(hadError !== true))
  const refuse = (done: (error?: Error) => void) => {
    done(new Error('The worker has lost the lease of the conversation.'))
    socket.destroy()
  }
  const write = stream._write.bind(stream)
  stream._write = (chunk, encoding, done) => (guard.isHeld() ? write(chunk, encoding, done) : refuse(done))
  const writeMany = stream._writev?.bind(stream)
  if (writeMany) stream._writev = (chunks, done) => (guard.isHeld() ? writeMany(chunks, done) : refuse(done))
}

/** The same for a class of the host, which hides its stream. */
function guardClass(Socket: WebSocketConstructor, guard: SendGuard, add: Add, fenced: Fenced): WebSocketConstructor {
  return class Guarded implements WebSocketLike {
    readonly #socket: WebSocketLike
    onopen: WebSocketLike['onopen'] = null
    onmessage: WebSocketLike['onmessage'] = null
    onclose: WebSocketLike['onclose'] = null
    onerror: WebSocketLike['onerror'] = null

    constructor(url: string) {
      if (!guard.isHeld()) throw new Error('The worker has lost the lease of the conversation.')
      const socket = new Socket(fenced(url))
      this.#socket = socket
      const guarded = add(() => socket.close())
      socket.onopen = (event: never) => this.onopen?.(event)
      socket.onmessage = (event: never) => this.onmessage?.(event)
      socket.onerror = (event: never) => this.onerror?.(event)
      socket.onclose = (event: SocketCloseEvent) => {
        guarded.closed(event.code !== CLOSE_CODE.ABNORMAL)
        this.onclose?.(event as never)
      }
    }

    get readyState(): number {
      return guard.isHeld() ? this.#socket.readyState : 3
    }

    get bufferedAmount(): number {
      return this.#socket.bufferedAmount
    }

    send(data: string): void {
      if (!guard.isHeld()) throw new Error('The worker has lost the lease of the conversation.')
      this.#socket.send(data)
    }

    close(code?: number, reason?: string): void {
      this.#socket.close(code, reason)
    }
  }
}
