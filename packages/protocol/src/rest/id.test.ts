import { describe, expect, it } from 'vitest'
import { sameId } from './id.ts'

describe('sameId', () => {
  it.each([
    ['1001', 1001, true],
    [1001, 1001, true],
    ['a', 'a', true],
    [0, '0', true],
    ['01', 1, false],
    ['1.0', 1, false],
    ['a', 'A', false],
    [' 1', 1, false],
    ['', '', false],
    [null, null, false],
    [undefined, undefined, false],
    ['null', null, false],
    ['undefined', undefined, false],
  ])('compares %j and %j as text: %s', (a, b, same) => {
    expect(sameId(a, b)).toBe(same)
    expect(sameId(b, a)).toBe(same)
  })
})
