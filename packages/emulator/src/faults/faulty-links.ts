import { parseServerMessage } from '@aiagent/protocol'
import type { ChatConnection, SocketConnection, SocketEnd } from '../chat/socket-end.ts'
import type { Clock } from '../clock.ts'
import type { Random } from '../random.ts'
import { BYTE_ORDER_MARK } from './apply-faults.ts'
import type { FaultOf } from './fault.ts'
import type { FaultRules, Rule } from './fault-rules.ts'
import { Pipe, type PipeConditions } from './pipe.ts'

type Direction = NonNullable<FaultOf<'delay-frames'>['direction']>

interface Link {
  readonly sessionId: string | undefined
  readonly end: SocketEnd
  readonly toClient: Pipe
  readonly toService: Pipe
  idleTimer?: unknown
  /** Ends the connection without a close frame. */
  breakOff?: () => void
}

/** Owns the links between the chat connections and their conversations, and applies the active faults to them. */
export class FaultyLinks {
  readonly #clock: Clock
  readonly #random: Random
  readonly #rules: FaultRules
  readonly #links = new Set<Link>()
  /** Connections whose conversation has ended, with frames still being delivered to the client. */
  readonly #leaving = new Set<Link>()

  constructor(clock: Clock, random: Random, rules: FaultRules) {
    this.#clock = clock
    this.#random = random
    this.#rules = rules
  }

  /** Opens a conversation for a connection. Without faults, each frame costs one more check. */
  open(sessionId: string | undefined, end: SocketEnd, open: (end: SocketEnd) => ChatConnection): SocketConnection {
    const toClient = new Pipe(this.#clock)
    const toService = new Pipe(this.#clock)
    const link: Link = { sessionId, end, toClient, toService }
    this.#links.add(link)
    const rules = this.#rules
    if (!rules.isEmpty) {
      this.#setConditions(link)
      for (const rule of rules.all('silence')) if (rule.fault.alsoLater) this.#silence(link, rule)
    }
    const connection = open({
      send: given => {
        this.#watchIdle(link)
        const text = this.#isMarked(link, given) ? BYTE_ORDER_MARK + given : given
        if (toClient.isClear) end.send(text)
        else toClient.frame(text, () => end.send(text))
      },
      close: (code, reason) => toClient.step(() => end.close(code, reason)),
      terminate: () => toClient.step(() => end.terminate()),
    })
    const leave = () => {
      this.#clock.clearTimeout(link.idleTimer)
      this.#links.delete(link)
      connection.closed()
    }
    link.breakOff = () => {
      leave()
      end.terminate()
    }
    this.#watchIdle(link)
    return {
      receive: data => {
        this.#watchIdle(link)
        if (toService.isClear) connection.receive(data)
        else toService.frame(data, () => connection.receive(data))
      },
      closed: () =>
        toService.step(() => {
          leave()
          // The connection is closed.
          toClient.flush()
        }),
      close: (code, reason) =>
        toService.step(() => {
          leave()
          this.#leaving.add(link)
          toClient.step(() => {
            this.#leaving.delete(link)
            end.close(code, reason)
          })
        }),
    }
  }

  /** Silences the connections that are open now. Returns their number. */
  silence(rule: Rule<FaultOf<'silence'>>): number {
    const reached = [...this.#links].filter(link => concerns(rule.fault, link))
    for (const link of reached) this.#silence(link, rule)
    return reached.length
  }

  /** Applies the currently active faults. */
  review(): void {
    for (const link of this.#links) {
      this.#setConditions(link)
      this.#watchIdle(link)
    }
  }

  /** Whether a fault marks a frame: an unreadable one stays as it was pushed. */
  #isMarked(link: Link, text: string): boolean {
    if (this.#rules.isEmpty) return false
    return isFrame(text) && this.#rules.strike('byte-order-mark', ({ fault }) => concerns(fault, link)) !== undefined
  }

  /** Breaks a link that carries nothing, from now on, where a fault says so. */
  #watchIdle(link: Link): void {
    this.#clock.clearTimeout(link.idleTimer)
    link.idleTimer = undefined
    if (this.#rules.isEmpty) return
    const rule = this.#rules.all('cut-idle').find(({ fault }) => concerns(fault, link))
    if (!rule) return
    link.idleTimer = this.#clock.setTimeout(() => {
      rule.hits++
      link.breakOff?.()
    }, rule.fault.afterMs)
  }

  /** Ends all faults of links; held frames are not delivered. */
  flush(): void {
    for (const link of [...this.#links, ...this.#leaving]) {
      link.toService.flush()
      link.toClient.flush()
    }
  }

  #silence(link: Link, rule: Rule<FaultOf<'silence'>>): void {
    if (!concerns(rule.fault, link)) return
    rule.hits++
    const lost = rule.fault.lost === true
    link.toClient.hold(rule.id, lost)
    link.toService.hold(rule.id, lost)
    link.end.pause?.()
    rule.onLift.add(() => {
      link.toService.release(rule.id)
      link.toClient.release(rule.id)
      if (!link.toClient.isHeld) link.end.resume?.(lost)
    })
  }

  #setConditions(link: Link): void {
    link.toClient.setConditions(this.#conditionsOf(link, 'to-client'))
    link.toService.setConditions(this.#conditionsOf(link, 'to-service'))
  }

  #conditionsOf(link: Link, direction: Direction): PipeConditions | undefined {
    const rules = this.#rules
    if (rules.isEmpty) return undefined
    const here = (rule: Rule<FaultOf<'delay-frames' | 'lose-frames'>>) =>
      concerns(rule.fault, link) && (rule.fault.direction ?? direction) === direction
    const delays = rules.all('delay-frames').filter(here)
    const losses = rules.all('lose-frames').filter(here)
    const slow = rules.all('slow-link').filter(({ fault }) => fault.only !== 'requests')
    if (delays.length + losses.length + slow.length === 0) return undefined
    return {
      delayMs: () => delays.reduce((sum, rule) => sum + this.#delay(rule), 0),
      isLost: () => losses.some(rule => rules.loses(rule)),
      ...(slow.length > 0 && { bytesPerSecond: Math.min(...slow.map(({ fault }) => fault.bytesPerSecond)) }),
    }
  }

  #delay(rule: Rule<FaultOf<'delay-frames'>>): number {
    const { ms, jitterMs } = rule.fault
    rule.hits++
    return ms + (jitterMs === undefined ? 0 : this.#random.next() * jitterMs)
  }
}

function concerns(fault: { sessionId?: string }, link: Link): boolean {
  return fault.sessionId === undefined || fault.sessionId === link.sessionId
}

function isFrame(text: string): boolean {
  try {
    parseServerMessage(text)
    return true
  } catch {
    return false
  }
}
