import { encodeMessage, PERSONA, parseServerMessage, ROLE } from '@aiagent/protocol'
import type { SocketCloseEvent, WebSocketLike } from '../platform/environment.ts'

/** A frame of the service, as far as the doctor reads it. */
interface SeenFrame {
  role: string
  errorCode: string | undefined
}

/** One chat connection, and what happened on it. */
export class ProbeSocket {
  readonly #socket: WebSocketLike
  isOpen = false
  closed: SocketCloseEvent | undefined
  readonly frames: SeenFrame[] = []
  /** Called with every change. */
  onChange: () => void = () => {}

  constructor(socket: WebSocketLike) {
    this.#socket = socket
    socket.onopen = () => {
      this.isOpen = true
      this.onChange()
    }
    socket.onmessage = ({ data }: { data: unknown }) => {
      this.frames.push(read(data))
      this.onChange()
    }
    socket.onerror = () => {}
    socket.onclose = (event: SocketCloseEvent) => {
      this.closed = event
      this.onChange()
    }
  }

  send(frame: string): void {
    if (!this.closed) this.#socket.send(frame)
  }

  /** Says goodbye, where the chat is open, and closes it. */
  leave(): void {
    if (this.isOpen) this.send(encodeMessage({ persona: PERSONA.SYSTEM, role: ROLE.GRACEFUL_DISCONNECT }))
    this.#socket.onopen = this.#socket.onmessage = this.#socket.onclose = null
    this.#socket.close(1000, '')
  }
}

function read(data: unknown): SeenFrame {
  try {
    const { role, messageData } = parseServerMessage(data)
    const code = messageData?.error_code
    return { role, errorCode: role === ROLE.ERROR ? String(code ?? 'unknown') : undefined }
  } catch {
    return { role: 'unreadable', errorCode: undefined }
  }
}
