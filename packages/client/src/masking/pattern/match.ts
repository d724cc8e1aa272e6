import { type CharSet, contains } from './char-set.ts'
import type { PatternNode } from './parse.ts'
import { type Characters, charactersOf, createPrefilter } from './prefilter.ts'
import { compilePattern, type Look, OP, type Program, WORD_SET } from './program.ts'

/** Steps that a search may take, about tenths of a second; only a long text with a bad pattern needs as many. */
export const MAX_STEPS = 10_000_000

/** Bytes of memory whose initialization counts as one step. */
const BYTES_PER_STEP = 16

/** Maximum bytes of a search's memory. */
const MAX_MEMORY = 1 << 25

/** All non-empty matches of a text. */
export interface Matches {
  /** Start and end of each, one after the other. */
  readonly places: readonly number[]
  /** Offset from which the text was not searched, since that would have taken too long; absent if all of it was. */
  readonly gaveUpAt?: number
}

/** Steps that several searches share; each search subtracts its own. */
export interface StepBudget {
  steps: number
}

/** Finds the matches of a global JavaScript expression, in time linear in the text. Without a budget it has its own. */
export type FindAll = (text: string, characters?: Characters, budget?: StepBudget) => Matches

const NO_MATCHES: Matches = { places: [] }

/** Maximum stack that is reused for the next search. */
const LARGE_STACK = 10_000

/** The state of a split or a lookaround at an offset. */
const KNOWN = { nothing: 0, failed: 1, succeeded: 2 } as const

/** The memory of a search through a short text; reused. */
const sharedMemory = new Uint8Array(1 << 14)

/**
 * Creates the search for a pattern: it tries the paths of the pattern one after the other, as JavaScript does, but none
 * twice.
 *
 * A path that failed at an offset fails there again, wherever the match began. So failures are stored for each split
 * and offset, over all matches of the text; together they take no more steps than program times text. Whether a
 * lookaround succeeds is stored as well, with its path.
 *
 * @throws {PatternRefusal} when the pattern's program would be too large
 */
export function createMatcher(tree: PatternNode, maxSteps = MAX_STEPS): FindAll {
  const pattern = compilePattern(tree)
  const canMatch = createPrefilter(tree)
  const { ascii, sets, looks, first } = pattern
  /** Bytes of the memory per offset. */
  const width = (pattern.cells + 3) >> 2
  // The state of one search.
  let text = ''
  let steps = 0
  /** Two bits per cell and offset, the cells of an offset side by side; allocated on first use. */
  let memory: Uint8Array | undefined
  /** Pending attempts: instruction, offset, and length of the path to it. */
  let open: number[] = []
  let opened = 0
  /** Cell and offset of each split on the current path. */
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
        // The paths that led to the end have not failed there.
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

  /** The next offset at which a match can begin. */
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
   * Runs a program from an offset, to the right or to the left.
   *
   * @returns the end offset, or -1; the splits of the path are on `path`, whose length the caller restores
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
          // A path that ends at once is not worth storing.
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
    // Without steps left the search ends, and its memory no longer matters.
    steps = size > MAX_MEMORY ? 0 : steps - Math.ceil(size / BYTES_PER_STEP)
    return new Uint8Array(Math.min(size, MAX_MEMORY))
  }

  /** Evaluates the assertion of an instruction at an offset. */
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

  /** Whether the code unit at this offset is in a set. */
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
