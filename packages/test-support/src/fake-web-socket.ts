/**
 * A WebSocket without a network: the test opens it, feeds it, closes it, and reads what was sent.
 *
 * Has the shape of the browser's class as far as a client uses it. Nothing happens by itself.
 */
export class FakeWebSocket {
  /** Every socket made since {@link reset}, in order. */
  static readonly made: FakeWebSocket[] = []
  static get last(): FakeWebSocket {
    const socket = FakeWebSocket.made.at(-1)
    if (!socket) throw new Error('No socket has been made.')
    return socket
  }
  static reset(): void {
    FakeWebSocket.made.length = 0
  }

  readonly url: string
  readyState = 0
  bufferedAmount = 0
  binaryType = 'blob'
  onopen: ((event: object) => void) | null = null
  onmessage: ((event: { data: unknown }) => void) | null = null
  onclose: ((event: { code: number; reason: string; wasClean: boolean }) => void) | null = null
  onerror: ((event: object) => void) | null = null
  /** What the client wrote, in order. */
  readonly sent: string[] = []
  /** How the client closed it, if it did. */
  closedWith: { code: number | undefined; reason: string | undefined } | undefined
  /** Set to make every send throw. */
  failSend: Error | undefined

  constructor(url: string | URL) {
    this.url = String(url)
    FakeWebSocket.made.push(this)
  }

  send(data: string): void {
    if (this.failSend) throw this.failSend
    if (this.readyState !== 1) throw new Error('The socket is not open.')
    this.sent.push(data)
  }

  close(code?: number, reason?: string): void {
    if (this.readyState >= 2) return
    this.readyState = 2
    this.closedWith = { code, reason }
  }

  /** The service accepts. */
  accept(): void {
    this.readyState = 1
    this.onopen?.({})
  }

  /** A frame arrives. */
  receive(data: unknown): void {
    this.onmessage?.({ data: typeof data === 'object' ? JSON.stringify(data) : data })
  }

  /** The connection ends, closed by either side. */
  end(code = 1006, reason = ''): void {
    this.readyState = 3
    this.onclose?.({ code, reason, wasClean: code !== 1006 })
  }

  /** The frames that the client wrote, parsed. */
  get frames(): Array<Record<string, unknown>> {
    return this.sent.map(text => JSON.parse(text))
  }
}
