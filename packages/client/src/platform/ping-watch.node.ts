import { clearInterval, setImmediate, setInterval } from 'node:timers'
import { WebSocket as WsSocket } from 'ws'
import type { SlicedDelivery } from './sliced-delivery.node.ts'

/** Pings the peer of a socket regularly, and ends a connection on which nothing has arrived since the last ping. */
export class PingWatch {
  readonly #socket: WsSocket
  readonly #delivery: SlicedDelivery
  /** Whether something arrived since the last ping. */
  #hasHeard = true
  #isDead = false
  #timer: ReturnType<typeof setInterval> | undefined

  constructor(socket: WsSocket, delivery: SlicedDelivery) {
    this.#socket = socket
    this.#delivery = delivery
  }

  /** Whether the connection was ended because nothing arrived. */
  get isDead(): boolean {
    return this.#isDead
  }

  /** @param intervalMs time between two pings, in milliseconds; 0 for none */
  start(intervalMs: number): void {
    // A static function, which all sockets share: a closure would cost each socket memory.
    if (intervalMs > 0) this.#timer = setInterval(PingWatch.#check, intervalMs, this).unref()
  }

  /** Something has arrived. */
  handleSign(): void {
    this.#hasHeard = true
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  static #check(watch: PingWatch): void {
    watch.#checkAlive()
  }

  #checkAlive(): void {
    // A peer whose frames are not read at the moment has no way to answer.
    if (this.#hasHeard || this.#delivery.isPaused) {
      this.#hasHeard = false
      if (this.#socket.readyState === WsSocket.OPEN) this.#socket.ping()
      return
    }
    // After a pause of the process its timers run before it reads what has arrived.
    setImmediate(() =>
      setImmediate(() => {
        if (this.#hasHeard) return
        this.#isDead = true
        this.#socket.terminate()
      }),
    )
  }
}
