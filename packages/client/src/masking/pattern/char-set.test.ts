import { describe, expect, it } from 'vitest'
import { complement, contains, sizeOf, union } from './char-set.ts'

describe('a set of code units', () => {
  it.each([
    [[], [], []],
    [[[1, 2]], [1, 2], [0, 0, 3, 0xffff]],
    [
      [
        [5, 6],
        [1, 2],
      ],
      [1, 2, 5, 6],
      [0, 0, 3, 4, 7, 0xffff],
    ],
    [
      [
        [1, 2],
        [3, 4],
      ],
      [1, 4],
      [0, 0, 5, 0xffff],
    ],
    [
      [
        [1, 9],
        [2, 3],
      ],
      [1, 9],
      [0, 0, 10, 0xffff],
    ],
    [
      [
        [1, 5],
        [5, 7],
        [9, 9],
      ],
      [1, 7, 9, 9],
      [0, 0, 8, 8, 10, 0xffff],
    ],
    [
      [
        [1, 1, 4, 4],
        [2, 3],
      ],
      [1, 4],
      [0, 0, 5, 0xffff],
    ],
    [[[0, 0]], [0, 0], [1, 0xffff]],
    [[[0xffff, 0xffff]], [0xffff, 0xffff], [0, 0xfffe]],
    [[[0, 0xffff]], [0, 0xffff], []],
  ])('is the union of %j: %j, and has a complement', (sets, expected, rest) => {
    expect(union(...sets)).toEqual(expected)
    if (sets.length) expect(complement(expected)).toEqual(rest)
    expect(complement(complement(expected))).toEqual(expected)
    expect(sizeOf(expected) + sizeOf(complement(expected))).toBe(0x10000)
  })

  it.each([
    [0, false],
    [1, true],
    [2, true],
    [3, false],
    [4, false],
    [5, true],
    [6, false],
    [0xffff, false],
  ])('of 1, 2 and 5 has %i: %s', (code, expected) => {
    expect(contains([1, 2, 5, 5], code)).toBe(expected)
    expect(contains(complement([1, 2, 5, 5]), code)).toBe(!expected)
  })

  it.each([0, 1, 0xffff])('without a range is empty: %i', code => {
    expect(contains([], code)).toBe(false)
  })
})
