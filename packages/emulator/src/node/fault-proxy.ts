import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { type Clock, systemClock } from '../clock.ts'
import { Pipe, type PipeConditions } from '../faults/pipe.ts'
import { createRandom, type Random } from '../random.ts'

/** Options of {@link startFaultProxy}. */
export interface FaultProxyOptions {
  /** Address of the service behind it; read for each connection, since a service often starts after its proxy. */
  target: string | (() => string)
  /** 0 selects a free port. @default 0 */
  port?: number
  /** Seed of the jitter. @default 1 */
  seed?: number
  /** @default the system's time */
  clock?: Clock
}

/** A TCP proxy on this machine that damages connections without notifying either side. */
export interface FaultProxy {
  /** Address for clients, with the scheme of the service; http while that is unknown. */
  readonly url: string
  /** Number of current connections. */
  readonly connections: number
  /**
   * Stops reading in both directions: sent data accumulates, and neither end detects that the other has closed. Affects
   * the connections that are open now; with `alsoLater`, also later ones.
   */
  stall(options?: { alsoLater?: boolean }): void
  /** Resumes reading: accumulated data arrives. */
  resume(): void
  /** Delays data in each direction, by `ms` and up to `jitterMs` more, in order. 0 ends the delay. */
  delay(ms: number, jitterMs?: number): void
  /** Resets every connection, on both sides. */
  cut(): void
  /** Rejects new connections by a reset, which is similar to a port without a listener. */
  refuse(isRefusing?: boolean): void
  /** Breaks all connections and releases the port. A second call has no effect. */
  close(): Promise<void>
}

/** Starts a proxy on this machine, in front of a service. Set the service's `origin` to the proxy's address. */
export async function startFaultProxy(options: FaultProxyOptions): Promise<FaultProxy> {
  const proxy = new LoopbackProxy(options)
  await proxy.listen(options.port ?? 0)
  return proxy
}

interface Wire {
  readonly client: Socket
  readonly service: Socket
  readonly pipes: readonly [Pipe, Pipe]
  isStalled: boolean
}

class LoopbackProxy implements FaultProxy {
  readonly #server: Server = createServer({ allowHalfOpen: true }, client => this.#connect(client))
  readonly #target: () => string
  readonly #clock: Clock
  readonly #random: Random
  readonly #wires = new Set<Wire>()
  #conditions: PipeConditions | undefined
  #stallsNew = false
  #isRefusing = false
  #port = 0
  #closing: Promise<void> | undefined

  constructor({ clock = systemClock, seed = 1, target }: FaultProxyOptions) {
    this.#target = typeof target === 'string' ? () => target : target
    this.#clock = clock
    this.#random = createRandom(seed)
  }

  async listen(port: number): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen(port, '127.0.0.1', resolve)
    })
    this.#port = (this.#server.address() as AddressInfo).port
  }

  get url(): string {
    const target = this.#target()
    const scheme = URL.canParse(target) ? new URL(target).protocol : 'http:'
    return `${scheme}//127.0.0.1:${this.#port}`
  }

  get connections(): number {
    return this.#wires.size
  }

  stall({ alsoLater = false }: { alsoLater?: boolean } = {}): void {
    this.#stallsNew = alsoLater
    for (const wire of this.#wires) stall(wire)
  }

  resume(): void {
    this.#stallsNew = false
    for (const wire of this.#wires) {
      wire.isStalled = false
      for (const pipe of wire.pipes) pipe.release('stall')
      for (const socket of [wire.client, wire.service]) socket.resume()
    }
  }

  delay(ms: number, jitterMs = 0): void {
    this.#conditions =
      ms + jitterMs > 0 ? { delayMs: () => ms + this.#random.next() * jitterMs, isLost: () => false } : undefined
    for (const { pipes } of this.#wires) for (const pipe of pipes) pipe.setConditions(this.#conditions)
  }

  cut(): void {
    for (const wire of [...this.#wires]) this.#break(wire)
  }

  refuse(isRefusing = true): void {
    this.#isRefusing = isRefusing
  }

  close(): Promise<void> {
    this.#closing ??= new Promise(resolve => {
      this.#server.close(() => resolve())
      this.cut()
    })
    return this.#closing
  }

  #connect(client: Socket): void {
    client.on('error', () => {})
    if (this.#isRefusing || this.#closing) return void client.resetAndDestroy()
    const target = new URL(this.#target())
    const host = target.hostname.replace(/^\[|\]$/g, '')
    const port = Number(target.port) || (target.protocol === 'https:' ? 443 : 80)
    const service = connect({ host, port, allowHalfOpen: true })
    const wire: Wire = {
      client,
      service,
      pipes: [new Pipe(this.#clock), new Pipe(this.#clock)],
      isStalled: false,
    }
    this.#wires.add(wire)
    for (const pipe of wire.pipes) pipe.setConditions(this.#conditions)
    this.#carry(wire, client, service, wire.pipes[0])
    this.#carry(wire, service, client, wire.pipes[1])
    if (this.#stallsNew) stall(wire)
  }

  #carry(wire: Wire, from: Socket, to: Socket, pipe: Pipe): void {
    from.setNoDelay(true)
    from.on('data', chunk => {
      pipe.step(() => {
        // Applies back-pressure: reads no more than the other end accepts.
        if (!to.write(chunk)) from.pause()
      })
    })
    // One listener for all writes: delayed data is written at once, and each write may find the buffer full.
    to.on('drain', () => {
      if (!wire.isStalled) from.resume()
    })
    from.on('end', () => pipe.step(() => to.end()))
    from.on('error', () => this.#break(wire))
    from.on('close', () => {
      if (wire.client.destroyed && wire.service.destroyed) this.#break(wire)
    })
  }

  #break(wire: Wire): void {
    if (!this.#wires.delete(wire)) return
    wire.client.resetAndDestroy()
    wire.service.resetAndDestroy()
    for (const pipe of wire.pipes) pipe.flush()
  }
}

function stall(wire: Wire): void {
  wire.isStalled = true
  for (const pipe of wire.pipes) pipe.hold('stall', false)
  for (const socket of [wire.client, wire.service]) socket.pause()
}
