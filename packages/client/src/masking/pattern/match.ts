import { type CharSet, contains } from './char-set.ts'
import type { PatternNode } from './parse.ts'
import { type Characters, charactersOf, createPrefilter } from './prefilter.ts'
import { compilePattern, type Look, OP, type Program, WORD_SET } from './program.ts'

/** Steps that a search may take, tenths of a second; only a long text and a bad pattern together need as many. */
export const MAX_STEPS = 10_000_000

/** Bytes of memory whose preparation counts as one step. */
const BYTES_PER_STEP = 16

/** Most bytes of a search's memory. */
const MAX_MEMORY = 1 << 25

/** All matches of a text that are not empty. */
export interface Matches {
  /** Start and end of each, one after the other. */
  readonly places: readonly number[]
  /** From where on the text was not searched, since that would have taken too long; absent where all of it was. */
  readonly gaveUpAt?: number
}

/** Steps that several searches may take together; each search lowers it by its own. */
export interface StepBudget {
  steps: number
}

/** Finds what a global JavaScript expression would find, in time linear to the text. Without a budget it has its own. */
export type FindAll = (text: string, characters?: Characters, budget?: StepBudget) => Matches

const NO_MATCHES: Matches = { places: [] }

/** Longest stack that is kept for the next search. */
const LARGE_STACK = 10_000

/** What is remembered of a split or a look at a place. */
const KNOWN = { nothing: 0, failed: 1, succeeded: 2 } as const

/** The memory of a search through a short text, used again and again. */
const sharedMemory = new Uint8Array(1 << 14)

/**
 * Makes the search for a pattern: it tries the ways of the pattern one after the other, as JavaScript does, but none twice.
 *
 * A way that failed at a place fails there again, wherever the match began. So what has failed is remembered over all
 * matches of the text, for each split and place, and all together take no more steps than program times text. Whether a
 * look succeeds is remembered as well, with the ways that led it there.
 *
 * @throws {PatternRefusal} when the pattern's program would be too large
 */
export function createMatcher(tree: PatternNode, maxSteps = MAX_STEPS): FindAll {
  const pattern = compilePattern(tree)
  const canMatch = createPrefilter(tree)
  const { ascii, sets, looks, first } = pattern
  /** Bytes of the memory for each place. */
  const width = (pattern.cells + 3) >> 2
  // What one search works on.
  let text = ''
  let steps = 0
  /** Two bits for each cell and place, the cells of a place side by side; made when it is first needed. */
  let memory: Uint8Array | undefined
  /** What is still to be tried: instruction, place, and how much of the path leads there. */
  let open: number[] = []
  let opened = 0
  /** Cell and place of each split that led to where the search stands. */
  let path: number[] = []
  let passed = 0

  return (given, characters = charactersOf(given), budget = { steps: maxSteps }) => {
    if (!canMatch(characters)) return NO_MATCHES
    text = given
    steps = budget.steps
    opened = passed = 0
    const places: number[] = []
    let gaveUpAt: number | undefined
    for (let at = firstFrom(0); at < given.length; ) {
      const end = walk(pattern, at, 1)
      passed = 0
      if (steps < 0) {
        gaveUpAt = at
        break
      }
      if (end > at) {
        places.push(at, end)
        // The ways that led to the end have not failed there.
        memory?.fill(0, end * width, (end + 1) * width)
      }
      at = firstFrom(Math.max(end, at + 1))
    }
    budget.steps = Math.max(0, steps)
    text = ''
    memory = undefined
    if (path.length > LARGE_STACK) path = []
    if (open.length > LARGE_STACK) open = []
    return gaveUpAt === undefined ? { places } : { places, gaveUpAt }
  }

  /** The next place from one on that a match can begin at. */
  function firstFrom(start: number): number {
    const row = first << 7
    const { length } = text
    let at = start
    while (at < length) {
      const code = text.charCodeAt(at)
      if (code < 128 ? ascii[row | code] === 1 : contains(sets[first] as CharSet, code)) break
      at++
    }
    return at
  }

  /**
   * Runs a program from a place, to the right or to the left.
   *
   * @returns where it ends, or -1; the splits that led there lie on `path`, where the caller puts its end back
   */
  function walk(program: Program, from: number, direction: 1 | -1): number {
    const { op, arg, next, other } = program
    const offset = direction === 1 ? 0 : -1
    const [bottom, begin] = [opened, passed]
    let pc = program.start
    let at = from
    for (;;) {
      if (--steps < 0) return -1
      const kind = op[pc] as number
      const operand = arg[pc] as number
      let goesOn: boolean
      if (kind === OP.char) {
        goesOn = has(operand, at + offset)
        at += direction
      } else if (kind === OP.split) {
        const known = recall(operand, at)
        if (known === KNOWN.succeeded) break
        goesOn = known === KNOWN.nothing
        if (goesOn) {
          remember(operand, at, KNOWN.failed)
          path[passed++] = operand
          path[passed++] = at
          const second = other[pc] as number
          // A way that ends at once is not worth being kept.
          if (op[second] !== OP.char || has(arg[second] as number, at + offset)) {
            open[opened++] = second
            open[opened++] = at
            open[opened++] = passed
          }
        }
      } else if (kind === OP.match) break
      else goesOn = holds(kind, operand, at)
      if (goesOn) pc = next[pc] as number
      else if (opened > bottom) {
        passed = open[--opened] as number
        at = open[--opened] as number
        pc = open[--opened] as number
      } else {
        passed = begin
        return -1
      }
    }
    opened = bottom
    return at
  }

  function recall(cell: number, at: number): number {
    memory ??= makeMemory(width * (text.length + 1))
    return ((memory[at * width + (cell >> 2)] as number) >> ((cell & 3) << 1)) & 3
  }

  function remember(cell: number, at: number, what: number): void {
    memory ??= makeMemory(width * (text.length + 1))
    const index = at * width + (cell >> 2)
    const shift = (cell & 3) << 1
    memory[index] = ((memory[index] as number) & ~(3 << shift)) | (what << shift)
  }

  function makeMemory(size: number): Uint8Array {
    if (size <= sharedMemory.length) return sharedMemory.fill(0, 0, size)
    // Without steps left the search ends, and what it remembers no longer matters.
    steps = size > MAX_MEMORY ? 0 : steps - Math.ceil(size / BYTES_PER_STEP)
    return new Uint8Array(Math.min(size, MAX_MEMORY))
  }

  /** Whether what an instruction asks about a place is so. */
  function holds(kind: number, arg: number, at: number): boolean {
    switch (kind) {
      case OP.edgeStart:
        return at === 0
      case OP.edgeEnd:
        return at === text.length
      case OP.edgeWord:
        return has(WORD_SET, at - 1) !== has(WORD_SET, at)
      case OP.edgeInside:
        return has(WORD_SET, at - 1) === has(WORD_SET, at)
      case OP.look:
        return succeeds(looks[arg] as Look, at)
      case OP.notLook:
        return !succeeds(looks[arg] as Look, at)
      default:
        return false
    }
  }

  /** Whether the text has a code unit of a set at this place. */
  function has(set: number, at: number): boolean {
    if (at < 0 || at >= text.length) return false
    const code = text.charCodeAt(at)
    return code < 128 ? ascii[(set << 7) | code] === 1 : contains(sets[set] as CharSet, code)
  }

  function succeeds(look: Look, at: number): boolean {
    if (!look.canBeEmpty && !has(look.first, look.behind ? at - 1 : at)) return false
    if (look.single) return true
    const known = recall(look.cell, at)
    if (known !== KNOWN.nothing) return known === KNOWN.succeeded
    const begin = passed
    const found = walk(look, at, look.behind ? -1 : 1) >= 0
    remember(look.cell, at, found ? KNOWN.succeeded : KNOWN.failed)
    while (passed > begin) {
      const place = path[--passed] as number
      remember(path[--passed] as number, place, KNOWN.succeeded)
    }
    return found
  }
}
