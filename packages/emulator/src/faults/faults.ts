import { CLOSE_CODE, encodeMessage, type OpenRecord, type ServerMessage } from '@aiagent/protocol'
import type { ChatService } from '../chat/chat-service.ts'
import type { Answer } from '../chat/reply.ts'
import type { Clock } from '../clock.ts'
import type { EmulatorControl } from '../control/control.ts'
import type { Restart } from '../lifecycle/restart.ts'
import { createRandom, type Random } from '../random.ts'
import type { World } from '../world/world.ts'
import { type Fault, isStanding, parseFault, type StandingKind, type SuddenFault } from './fault.ts'
import { type FaultInForce, FaultRules } from './fault-rules.ts'
import { type FaultSchedule, parseFaultSchedule } from './fault-schedule.ts'
import { FaultyLinks } from './faulty-links.ts'
import { PendingWaits } from './pending-waits.ts'

/** Result of adding a fault. */
export interface AppliedFault {
  /** Lifts it, while it is active. */
  readonly id: string
  /** How many connections or sessions it affected at once. 0 for faults that apply later. */
  readonly reached: number
}

/** Which faults to lift: one by its id, or those of a kind. */
export interface FaultSelection {
  /** Id of the one fault to lift. @default any */
  id?: string
  /** Kind of the faults to lift. @default any */
  kind?: StandingKind
}

/** Faults on request. */
export interface EmulatorFaults {
  /**
   * Applies a fault at once, or activates it until it is lifted.
   *
   * @throws {FaultError} when it is invalid, naming the wrong field
   */
  add(fault: Fault): AppliedFault
  /** Lifts active faults, all of them by default, and returns their number. What they held continues. */
  lift(selection?: FaultSelection): number
  /** The active faults, oldest first. */
  inForce(): FaultInForce[]
  /**
   * Adds faults at their times, counted from now.
   *
   * @returns a function that cancels those that are still pending
   * @throws {FaultError} when an entry is invalid; then none is added
   */
  schedule(entries: FaultSchedule): () => void
}

/** The parts of the service that faults affect. */
export interface FaultTargets {
  chat: ChatService
  control: EmulatorControl
  world: World
  restart: Restart
}

/**
 * Owns the active faults, the connections and requests they hold, and the pending ones of schedules.
 *
 * Random values of faults have a separate generator, so that a fault does not change the ids of the service.
 */
export class Faults implements EmulatorFaults {
  readonly rules: FaultRules
  readonly links: FaultyLinks
  readonly waits: PendingWaits
  readonly random: Random
  readonly #clock: Clock
  readonly #timers = new Set<unknown>()
  #targets: FaultTargets | undefined

  constructor(clock: Clock, seed: number) {
    this.#clock = clock
    // Any seed other than the service's own.
    this.random = createRandom(seed ^ 0x6661756c)
    this.waits = new PendingWaits(clock)
    this.rules = new FaultRules(clock, this.random, () => this.links.review())
    this.links = new FaultyLinks(clock, this.random, this.rules)
  }

  /** Sets the service, which itself needs the faults first. */
  bind(targets: FaultTargets): void {
    this.#targets = targets
  }

  add(fault: Fault): AppliedFault {
    const checked = parseFault(fault)
    if (!isStanding(checked)) return { id: this.rules.nextId(), reached: this.#strike(checked) }
    if (checked.kind !== 'silence') return { id: this.rules.add(checked).id, reached: 0 }
    const silence = this.rules.add(checked)
    return { id: silence.id, reached: this.links.silence(silence) }
  }

  lift({ id, kind }: FaultSelection = {}): number {
    return this.rules.lift(
      rule => (id === undefined || rule.id === id) && (kind === undefined || rule.fault.kind === kind),
    )
  }

  inForce(): FaultInForce[] {
    return this.rules.inForce()
  }

  schedule(entries: FaultSchedule): () => void {
    const timers = parseFaultSchedule(entries).map(({ afterMs, fault }) => {
      const timer = this.#clock.setTimeout(() => {
        this.#timers.delete(timer)
        this.add(fault)
      }, afterMs)
      this.#timers.add(timer)
      return timer
    })
    return () => timers.forEach(timer => this.#cancel(timer))
  }

  /** Ends everything when the service shuts down. No timer remains. */
  stop(): void {
    for (const timer of [...this.#timers]) this.#cancel(timer)
    this.waits.cancelAll()
    this.links.flush()
    this.rules.lift()
  }

  #cancel(timer: unknown): void {
    this.#timers.delete(timer)
    this.#clock.clearTimeout(timer)
  }

  #strike(fault: SuddenFault): number {
    if (!this.#targets) return 0
    const { chat, control, restart, world } = this.#targets
    /** Applies an action to the given session, or to all, and counts the successes. */
    const each = (sessionId: string | undefined, act: (id: string) => boolean) =>
      (sessionId === undefined ? [...world.sessions.keys()] : [sessionId]).filter(act).length
    switch (fault.kind) {
      case 'drop':
        return each(fault.sessionId, id => chat.dropOne(id, fault.code, fault.reason ?? 'Dropped'))
      case 'expire-tokens':
        control.expireTokens(fault.secondsLeft)
        return 0
      case 'end-session':
        return each(fault.sessionId, id => chat.end(id))
      case 'forget-session':
        return each(fault.sessionId, id => chat.forget(id))
      case 'say': {
        const { content, role, messageData } = fault
        const answer: Answer = { content, ...(role !== undefined && { role }), ...(messageData && { messageData }) }
        return each(fault.sessionId, id => chat.say(id, answer) !== undefined)
      }
      case 'push': {
        const text =
          typeof fault.frame === 'string' ? fault.frame : encodeMessage(fault.frame as OpenRecord<ServerMessage>)
        return each(fault.sessionId, id => chat.push(id, text))
      }
      case 'replay':
        return each(fault.sessionId, id => chat.replay(id, fault.times ?? 1))
      case 'restart': {
        const { code = CLOSE_CODE.GOING_AWAY, downMs = 0, memory = true } = fault
        return restart({ code, downMs, memory })
      }
      case 'lift':
        return this.lift(fault.of === undefined ? {} : { kind: fault.of })
      default:
        return fault satisfies never
    }
  }
}
