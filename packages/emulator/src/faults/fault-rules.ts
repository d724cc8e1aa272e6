import { type Clock, watchTimer } from '../clock.ts'
import type { Random } from '../random.ts'
import type { FaultOf, StandingFault, StandingKind } from './fault.ts'

/** An active fault, as the control API reports it. */
export interface FaultInForce {
  /** Id of the fault, as `add()` returned it. */
  readonly id: string
  /** The fault, as it was added. */
  readonly fault: StandingFault
  /** Number of times that it was applied. */
  readonly hits: number
}

/** An active fault. */
export interface Rule<F extends StandingFault = StandingFault> {
  readonly id: string
  readonly fault: F
  readonly concerns: RouteTest
  hits: number
  /** Number of matching requests before it was first applied. */
  passed: number
  /** Functions to call when it is lifted. */
  readonly onLift: Set<() => void>
}

/** Kinds that may still hold something after their last use: they stay until they are lifted. */
const HOLDING: ReadonlySet<StandingKind> = new Set(['silence', 'hang-upgrade', 'hang-request', 'stall-body'])

/** The active faults: adds them, counts how often each is applied, and removes them. Does not apply them. */
export class FaultRules {
  readonly #clock: Clock
  readonly #random: Random
  readonly #onChange: () => void
  readonly #rules = new Map<string, { rule: Rule; timer: unknown }>()
  #serial = 0

  constructor(clock: Clock, random: Random, onChange: () => void) {
    this.#clock = clock
    this.#random = random
    this.#onChange = onChange
  }

  get isEmpty(): boolean {
    return this.#rules.size === 0
  }

  nextId(): string {
    return `fault-${++this.#serial}`
  }

  add<F extends StandingFault>(fault: F): Rule<F> {
    const rule: Rule<F> = {
      id: this.nextId(),
      fault,
      concerns: compileRoute('route' in fault ? fault.route : undefined),
      hits: 0,
      passed: 0,
      onLift: new Set(),
    }
    const entry = { rule, timer: undefined as unknown }
    this.#rules.set(rule.id, entry)
    if (fault.forMs !== undefined) this.#liftLater(entry, this.#clock.now() + fault.forMs)
    this.#onChange()
    return rule
  }

  /** Lifts faults, and returns their number: the selected ones, or all. */
  lift(picked: (rule: Rule) => boolean = () => true): number {
    const lifted = [...this.#rules.values()].filter(({ rule }) => picked(rule))
    for (const { rule, timer } of lifted) {
      this.#rules.delete(rule.id)
      this.#clock.clearTimeout(timer)
    }
    if (lifted.length > 0) this.#onChange()
    for (const { rule } of lifted) for (const wake of [...rule.onLift]) wake()
    return lifted.length
  }

  /** The faults of a kind, oldest first. */
  all<K extends StandingKind>(kind: K): Rule<FaultOf<K>>[] {
    const found: Rule<FaultOf<K>>[] = []
    for (const { rule } of this.#rules.values()) if (isOf(rule, kind)) found.push(rule)
    return found
  }

  /** Applies the oldest matching fault of a kind that still has uses left, if there is one. */
  strike<K extends StandingKind>(
    kind: K,
    fits: (rule: Rule<FaultOf<K>>) => boolean = () => true,
  ): Rule<FaultOf<K>> | undefined {
    const rule = this.all(kind).find(each => timesLeft(each) > 0 && fits(each) && !letsPass(each))
    if (rule) this.#count(rule)
    return rule
  }

  /** Whether a frame is lost to a fault; random if the fault has a chance. */
  loses(rule: Rule<FaultOf<'lose-frames'>>): boolean {
    if (timesLeft(rule) <= 0 || letsPass(rule)) return false
    if (rule.fault.chance !== undefined && this.#random.next() >= rule.fault.chance) return false
    this.#count(rule)
    return true
  }

  inForce(): FaultInForce[] {
    return [...this.#rules.values()].map(({ rule: { id, fault, hits } }) => ({ id, fault, hits }))
  }

  #count(rule: Rule): void {
    rule.hits++
    if (timesLeft(rule) <= 0 && !HOLDING.has(rule.fault.kind)) this.lift(each => each === rule)
  }

  #liftLater(entry: { rule: Rule; timer: unknown }, end: number): void {
    entry.timer = watchTimer(
      this.#clock,
      () => {
        if (this.#clock.now() >= end) this.lift(rule => rule === entry.rule)
        else this.#liftLater(entry, end)
      },
      end - this.#clock.now(),
    )
  }
}

function timesLeft({ fault, hits }: Rule): number {
  return ('times' in fault && fault.times !== undefined ? fault.times : Infinity) - hits
}

/** Whether the fault skips this one, because of its `skip`. Counts those. */
function letsPass(rule: Rule): boolean {
  const { fault, passed } = rule
  if (!('after' in fault) || fault.after === undefined || passed >= fault.after) return false
  rule.passed++
  return true
}

function isOf<K extends StandingKind>(rule: Rule, kind: K): rule is Rule<FaultOf<K>> {
  return rule.fault.kind === kind
}

const METHOD = /^([A-Z]+)\s+(.+)$/

/** Whether a request matches a route such as `POST /core/*` or `/system/deploymentInfo`. */
type RouteTest = (method: string, path: string) => boolean

/**
 * Compiles a route: a path with `*` for any characters, optionally after a method. Without a route, every request
 * matches.
 */
export function compileRoute(route: string | undefined): RouteTest {
  if (route === undefined) return () => true
  const [, wanted, afterMethod] = METHOD.exec(route.trim()) ?? []
  const pieces = (afterMethod ?? route.trim()).split('*').map(piece => piece.replace(/[\\^$.|?+()[\]{}]/g, '\\$&'))
  const pattern = new RegExp(`^${pieces.join('.*')}$`)
  return (method, path) => (wanted === undefined || wanted === method) && pattern.test(path)
}
