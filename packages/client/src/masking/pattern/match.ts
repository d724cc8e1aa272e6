import { contains } from './char-set.ts'
import type { PatternNode } from './parse.ts'
import { type CompiledPattern, compilePattern, type Look, OP } from './program.ts'

/** Steps that a search may take, some tenths of a second; only a long text and a bad pattern together need as many. */
const MAX_STEPS = 20_000_000

/** Most bytes that a search remembers what has failed in. */
const MAX_MEMORY = 1 << 25

/** All matches of a text that are not empty. */
export interface Matches {
  /** Start and end of each, one after the other. */
  readonly places: readonly number[]
  /** From where on the text was not searched, since that would have taken too long; absent where all of it was. */
  readonly gaveUpAt?: number
}

/** Finds what a global JavaScript expression would find, in time linear to the text. */
export type FindAll = (text: string) => Matches

const WORD = /\w/

/** @throws {PatternRefusal} when the pattern's program would be too large */
export function createMatcher(tree: PatternNode, maxSteps = MAX_STEPS): FindAll {
  const pattern = compilePattern(tree)
  return text => new Search(pattern, text, maxSteps).run()
}

/**
 * One search through one text: tries the ways of the pattern one after the other, as JavaScript does, but none twice.
 *
 * A way that failed at a place fails there again, wherever the match began. So what has failed is remembered over all
 * matches of the text, for each split and place, and all together take no more steps than program times text.
 */
class Search {
  readonly #pattern: CompiledPattern
  readonly #text: string
  /** Bytes of the memory for each place. */
  readonly #width: number
  #failed: Uint8Array | undefined
  /** What each look says of each place, once it was asked. */
  readonly #looks: (Uint8Array | undefined)[] = []
  readonly #stack: number[] = []
  #steps: number

  constructor(pattern: CompiledPattern, text: string, maxSteps: number) {
    this.#pattern = pattern
    this.#text = text
    this.#width = (pattern.splits + 7) >> 3
    this.#steps = maxSteps
  }

  run(): Matches {
    const { first } = this.#pattern
    const length = this.#text.length
    const places: number[] = []
    for (let at = 0; at < length; ) {
      if (!this.#has(first, at)) {
        at++
        continue
      }
      const end = this.#matchAt(at)
      if (this.#steps < 0) return { places, gaveUpAt: at }
      if (end > at) {
        places.push(at, end)
        // What led to the end has not failed there.
        this.#failed?.fill(0, end * this.#width, (end + 1) * this.#width)
      }
      at = end > at ? end : at + 1
    }
    return { places }
  }

  /** The end of the match that begins at a place, or -1. */
  #matchAt(start: number): number {
    const { op, arg, next, other } = this.#pattern
    const stack = this.#stack
    stack.length = 0
    let pc = this.#pattern.start
    let at = start
    for (;;) {
      if (--this.#steps < 0) return -1
      const kind = op[pc] as number
      let holds: boolean
      if (kind === OP.char) {
        holds = this.#has(arg[pc] as number, at)
        at++
      } else if (kind === OP.split) {
        holds = this.#isNew(arg[pc] as number, at)
        if (holds) stack.push(other[pc] as number, at)
      } else if (kind === OP.match) return at
      else holds = this.#holds(kind, arg[pc] as number, at)
      if (holds) pc = next[pc] as number
      else if (stack.length) {
        at = stack.pop() as number
        pc = stack.pop() as number
      } else return -1
    }
  }

  /** Whether a split is tried at this place for the first time. */
  #isNew(split: number, at: number): boolean {
    const size = this.#width * (this.#text.length + 1)
    if (size > MAX_MEMORY) this.#steps = 0
    const failed = (this.#failed ??= new Uint8Array(Math.min(size, MAX_MEMORY)))
    const index = at * this.#width + (split >> 3)
    const known = failed[index] as number
    const bit = 1 << (split & 7)
    failed[index] = known | bit
    return (known & bit) === 0
  }

  /** Whether what an instruction asks about a place is so. */
  #holds(kind: number, arg: number, at: number): boolean {
    switch (kind) {
      case OP.edgeStart:
        return at === 0
      case OP.edgeEnd:
        return at === this.#text.length
      case OP.edgeWord:
        return this.#isWordChar(at - 1) !== this.#isWordChar(at)
      case OP.edgeInside:
        return this.#isWordChar(at - 1) === this.#isWordChar(at)
      case OP.at:
        return this.#has(arg, at)
      case OP.before:
        return this.#has(arg, at - 1)
      case OP.notAt:
        return !this.#has(arg, at)
      case OP.notBefore:
        return !this.#has(arg, at - 1)
      case OP.look:
        return this.#look(arg)[at] === 1
      case OP.notLook:
        return this.#look(arg)[at] === 0
      default:
        return false
    }
  }

  /** Whether the text has a code unit of a set at this place. */
  #has(set: number, at: number): boolean {
    if (at < 0 || at >= this.#text.length) return false
    const code = this.#text.charCodeAt(at)
    const { ascii, sets } = this.#pattern
    return code < 128 ? ascii[(set << 7) | code] === 1 : contains(sets[set] ?? [], code)
  }

  #isWordChar(at: number): boolean {
    return at >= 0 && at < this.#text.length && WORD.test(this.#text.charAt(at))
  }

  /** For each place whether a look finds there what it is for. */
  #look(index: number): Uint8Array {
    const known = this.#looks[index]
    if (known) return known
    const look = this.#pattern.looks[index] as Look
    const length = this.#text.length
    const found = new Uint8Array(length + 1)
    this.#looks[index] = found
    this.#steps -= look.order.length * (length + 1)
    if (this.#steps < 0) return found
    const { op, arg, next, other, order, start, behind } = look
    // What each instruction leads to from this place, and from the place looked at before, which is one further on.
    let here = new Uint8Array(op.length)
    let further = new Uint8Array(op.length)
    for (let count = 0; count <= length; count++) {
      const at = behind ? count : length - count
      for (const pc of order) {
        const kind = op[pc] as number
        const then = next[pc] as number
        let leads: boolean
        if (kind === OP.match) leads = true
        else if (kind === OP.char) leads = further[then] === 1 && this.#has(arg[pc] as number, behind ? at - 1 : at)
        else if (kind === OP.split) leads = here[then] === 1 || here[other[pc] as number] === 1
        else leads = here[then] === 1 && this.#holds(kind, arg[pc] as number, at)
        here[pc] = Number(leads)
      }
      found[at] = here[start] as number
      ;[here, further] = [further, here]
    }
    return found
  }
}
