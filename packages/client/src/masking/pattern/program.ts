import { type CharSet, contains, union, WORD_CHARS } from './char-set.ts'
import { type Edge, type PatternNode, PatternRefusal } from './parse.ts'

/**
 * Kinds of instructions, by number. From {@link OP.edgeStart} on, an instruction asserts something at an offset, and
 * continues with its `next` on success.
 */
export const OP = {
  fail: 0,
  match: 1,
  /** One code unit of the set `arg`, then `next`. */
  char: 2,
  /** `next`, and if that fails `other`. */
  split: 3,
  edgeStart: 4,
  edgeEnd: 5,
  edgeWord: 6,
  edgeInside: 7,
  /** The result of the lookaround `arg` at the offset. */
  look: 8,
  notLook: 9,
} as const

const EDGE_OPS: Readonly<Record<Edge, number>> = {
  start: OP.edgeStart,
  end: OP.edgeEnd,
  word: OP.edgeWord,
  inside: OP.edgeInside,
}

/** Number of the set for word boundaries. */
export const WORD_SET = 0

/** The two instructions at the start of every program. */
const FAIL = 0
const MATCH = 1

/** Maximum instructions of a program with its lookarounds: bounds the time per code unit of a text. */
export const MAX_PROGRAM_SIZE = 2000

/** A pattern, or a lookaround, as instructions of an automaton in columns. */
export interface Program {
  readonly op: Uint8Array
  /** Number of the set or of the lookaround; for a split, its cell in the memory of the search. */
  readonly arg: Uint16Array
  readonly next: Uint16Array
  readonly other: Uint16Array
  /** The first instruction. */
  readonly start: number
  /** Number of the set that contains the first code unit of every non-empty match. */
  readonly first: number
  readonly canBeEmpty: boolean
}

/** A lookahead or lookbehind. The program of a lookbehind runs from right to left. */
export interface Look extends Program {
  readonly behind: boolean
  /** Whether it concerns a single code unit, which `first` describes completely. */
  readonly single: boolean
  /** Its cell in the memory. */
  readonly cell: number
}

/** A compiled pattern. */
export interface CompiledPattern extends Program {
  readonly sets: readonly CharSet[]
  /** 128 bytes per set: whether it contains that code unit. */
  readonly ascii: Uint8Array
  readonly looks: readonly Look[]
  /** Cells of memory per offset: one for each split and lookaround. */
  readonly cells: number
}

/**
 * Compiles a regular expression into instructions.
 *
 * @throws {PatternRefusal} when its program would be too large
 */
export function compilePattern(tree: PatternNode): CompiledPattern {
  const shared: Shared = { sets: new Map([[String(WORD_CHARS), WORD_CHARS]]), looks: [], cells: 0, size: 0, work: 0 }
  const program = new ProgramBuilder(shared, false).build(tree)
  const { looks, cells } = shared
  const sets = [...shared.sets.values()]
  const ascii = new Uint8Array(sets.length << 7)
  for (let index = 0; index < ascii.length; index++)
    ascii[index] = Number(contains(sets[index >> 7] ?? [], index & 127))
  return { ...program, sets, ascii, looks, cells }
}

/** State shared by a pattern's program and those of its lookarounds. */
interface Shared {
  /** By their ranges, in the order of their numbers. */
  readonly sets: Map<string, CharSet>
  readonly looks: Look[]
  cells: number
  size: number
  work: number
}

interface Row {
  op: number
  arg: number
  next: number
  other: number
}

/**
 * Writes a program from its end to its beginning: each part receives its continuation.
 *
 * There are two continuations, since an optional round of a repetition must consume a code unit, or JavaScript rejects
 * it. `unmoved` is for the paths through a part that have consumed none since that round began, `moved` for the others.
 * Outside such rounds both are the same.
 */
class ProgramBuilder {
  readonly #shared: Shared
  readonly #backward: boolean
  readonly #rows: Row[] = []
  readonly #known = new Map<string, number>()

  constructor(shared: Shared, backward: boolean) {
    this.#shared = shared
    this.#backward = backward
    this.#add(OP.fail)
    this.#add(OP.match)
  }

  build(tree: PatternNode): Program {
    const start = this.#emit(tree, MATCH, MATCH)
    const rows = this.#rows
    for (const row of rows) if (row.op === OP.split) row.arg = this.#shared.cells++
    const reached = reachedAtOnce(rows, start)
    const first = reached.flatMap(({ op, arg }) => (op === OP.char ? [[...this.#shared.sets.values()][arg] ?? []] : []))
    return {
      start,
      first: this.#number(union(...first)),
      canBeEmpty: reached.some(({ op }) => op === OP.match),
      op: Uint8Array.from(rows, row => row.op),
      arg: Uint16Array.from(rows, row => row.arg),
      next: Uint16Array.from(rows, row => row.next),
      other: Uint16Array.from(rows, row => row.other),
    }
  }

  /** The number of a set. */
  #number(set: CharSet): number {
    const { sets } = this.#shared
    const key = String(set)
    if (!sets.has(key)) sets.set(key, set)
    return [...sets.keys()].indexOf(key)
  }

  #emit(node: PatternNode, unmoved: number, moved: number): number {
    // An empty part adds no instruction, however often it is repeated.
    if (++this.#shared.work > MAX_PROGRAM_SIZE * 10) throw new PatternRefusal('is too large')
    switch (node.kind) {
      case 'char':
        return node.set.length ? this.#shareable(OP.char, this.#number(node.set), moved) : FAIL
      case 'edge':
        return this.#shareable(EDGE_OPS[node.edge], 0, unmoved)
      case 'look':
        return this.#look(node, unmoved)
      case 'choice':
        return node.options.reduceRight((rest, each) => this.#split(this.#emit(each, unmoved, moved), rest), FAIL)
      case 'sequence':
        return this.#sequence(this.#backward ? node.parts : [...node.parts].reverse(), unmoved, moved)
      case 'repeat':
        return this.#repeat(node, unmoved, moved)
      default:
        return node satisfies never
    }
  }

  /** Parts in order, from the end of the match to its beginning. */
  #sequence(parts: readonly PatternNode[], unmoved: number, moved: number): number {
    let places = { unmoved, moved }
    for (const part of parts) places = this.#before(part, places.unmoved, places.moved)
    return places.unmoved
  }

  /** The continuations of a part: without a code unit since the round began, and with one. */
  #before(part: PatternNode, unmoved: number, moved: number): { unmoved: number; moved: number } {
    const begin = this.#emit(part, moved, moved)
    return { moved: begin, unmoved: unmoved === moved ? begin : this.#emit(part, unmoved, moved) }
  }

  #repeat(node: PatternNode & { kind: 'repeat' }, unmoved: number, moved: number): number {
    const { body, min, max, lazy } = node
    const choose = (round: number, exit: number) => (lazy ? this.#split(exit, round) : this.#split(round, exit))
    const emptyRound = canBeEmpty(body)
    let places = { unmoved, moved }
    if (max === Infinity) {
      const loop = this.#add(OP.split)
      const round = this.#emit(body, emptyRound ? FAIL : loop, loop)
      const [next, other] = lazy ? [moved, round] : [round, moved]
      Object.assign(this.#rows[loop] ?? {}, { next, other })
      places = { unmoved: unmoved === moved ? loop : choose(round, unmoved), moved: loop }
    } else
      for (let count = min; count < max; count++) {
        const round = this.#emit(body, emptyRound ? FAIL : places.moved, places.moved)
        places = { unmoved: choose(round, unmoved), moved: choose(round, moved) }
      }
    for (let count = 0; count < min; count++) places = this.#before(body, places.unmoved, places.moved)
    return places.unmoved
  }

  #look({ behind, negated, body }: PatternNode & { kind: 'look' }, next: number): number {
    const { looks } = this.#shared
    const program = new ProgramBuilder(this.#shared, behind).build(body)
    looks.push({ ...program, behind, single: body.kind === 'char', cell: this.#shared.cells++ })
    return this.#shareable(negated ? OP.notLook : OP.look, looks.length - 1, next)
  }

  #split(next: number, other: number): number {
    if (next === other || other === FAIL) return next
    return next === FAIL ? other : this.#shareable(OP.split, 0, next, other)
  }

  /** Equal instructions are shared. */
  #shareable(op: number, arg: number, next: number, other = FAIL): number {
    if (next === FAIL && op !== OP.split) return FAIL
    const key = `${op} ${arg} ${next} ${other}`
    const index = this.#known.get(key) ?? this.#add(op, arg, next, other)
    this.#known.set(key, index)
    return index
  }

  #add(op: number, arg = 0, next = FAIL, other = FAIL): number {
    if (++this.#shared.size > MAX_PROGRAM_SIZE) throw new PatternRefusal('is too large')
    return this.#rows.push({ op, arg, next, other }) - 1
  }
}

function canBeEmpty(node: PatternNode): boolean {
  switch (node.kind) {
    case 'char':
      return false
    case 'sequence':
      return node.parts.every(canBeEmpty)
    case 'choice':
      return node.options.some(canBeEmpty)
    case 'repeat':
      return node.min === 0 || canBeEmpty(node.body)
    default:
      return true
  }
}

/** Instructions reachable from one without consuming a code unit. */
function reachedAtOnce(rows: readonly Row[], start: number): Row[] {
  const reached = new Set<Row>()
  const open = [start]
  for (let pc = open.pop(); pc !== undefined; pc = open.pop()) {
    const row = rows[pc]
    if (!row || reached.has(row)) continue
    reached.add(row)
    if (row.op > OP.char) open.push(row.next)
    if (row.op === OP.split) open.push(row.other)
  }
  return [...reached]
}
