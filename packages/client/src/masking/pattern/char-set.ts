/** A set of UTF-16 code units: first and last of each range, in order and without overlap. */
export type CharSet = readonly number[]

const LAST = 0xffff

/** The union of sets, with ranges in any order. */
export function union(...sets: readonly CharSet[]): CharSet {
  const ranges: [number, number][] = []
  for (const set of sets)
    for (let index = 0; index < set.length; index += 2) ranges.push([set[index] ?? 0, set[index + 1] ?? 0])
  ranges.sort(([a], [b]) => a - b)
  const merged: number[] = []
  for (const [first, last] of ranges) {
    const end = merged.at(-1) ?? -2
    if (first > end + 1) merged.push(first, last)
    else merged[merged.length - 1] = Math.max(end, last)
  }
  return merged
}

/** The complement of a set. */
export function complement(set: CharSet): CharSet {
  const rest: number[] = []
  let next = 0
  for (let index = 0; index < set.length; index += 2) {
    const first = set[index] ?? 0
    if (first > next) rest.push(next, first - 1)
    next = (set[index + 1] ?? 0) + 1
  }
  if (next <= LAST) rest.push(next, LAST)
  return rest
}

/** Whether a code unit is in the set. */
export function contains(set: CharSet, code: number): boolean {
  for (let index = 0; index < set.length; index += 2)
    if (code <= (set[index + 1] ?? 0)) return code >= (set[index] ?? 0)
  return false
}

/** Number of code units in the set. */
export function sizeOf(set: CharSet): number {
  let size = 0
  for (let index = 0; index < set.length; index += 2) size += (set[index + 1] ?? 0) - (set[index] ?? 0) + 1
  return size
}

export const DIGITS: CharSet = [48, 57]
export const WORD_CHARS: CharSet = [48, 57, 65, 90, 95, 95, 97, 122]
export const LINE_ENDS: CharSet = [10, 10, 13, 13, 0x2028, 0x2029]
export const BLANKS: CharSet = [
  9, 13, 32, 32, 0xa0, 0xa0, 0x1680, 0x1680, 0x2000, 0x200a, 0x2028, 0x2029, 0x202f, 0x202f, 0x205f, 0x205f, 0x3000,
  0x3000, 0xfeff, 0xfeff,
]
