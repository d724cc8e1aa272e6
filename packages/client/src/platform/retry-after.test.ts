import { describe, expect, it } from 'vitest'
import { readRetryAfter } from './http.ts'

const NOW = Date.UTC(2026, 0, 31, 23, 59, 50)

describe('Retry-After', () => {
  it.each([
    ['0', 0],
    [' 8 ', 8_000],
    ['1.5', 2_000],
    ['0.5', 1_000],
    ['120.0', 120_000],
    ['Sun, 01 Feb 2026 00:00:00 GMT', 10_000],
    ['Sunday, 01-Feb-26 00:00:00 GMT', 10_000],
    ['Sun Feb  1 00:00:00 2026', 10_000],
    ['Sat, 31 Jan 2026 23:59:50 GMT', 0],
  ])('[REL-243] reads %j as a wait of %i ms', (text, waitMs) => {
    expect(readRetryAfter(text, undefined, NOW)).toBe(waitMs)
  })

  it.each([
    undefined,
    null,
    '',
    '-1',
    '1, 2',
    '1s',
    '1e3',
    '.5',
    'soon',
    '2026-02-01T00:00:00Z',
    'Sun, 01 Feb 2026 00:00:00 +0100',
    'Sat, 31 Jan 2026 23:59:00 GMT',
    'Sun, 01 Foo 2026 00:00:00 GMT',
  ])('[REL-243] takes %j for no header', text => {
    expect(readRetryAfter(text, undefined, NOW)).toBeUndefined()
  })

  it("[REL-243] counts a date from the response's own date, on a device whose clock is wrong", () => {
    const [date, until] = ['Sat, 31 Jan 2026 23:59:55 GMT', 'Sun, 01 Feb 2026 00:00:00 GMT']
    for (const now of [0, NOW, NOW + 3_600_000]) expect(readRetryAfter(until, date, now)).toBe(5_000)
    expect(readRetryAfter(until, 'yesterday', NOW)).toBe(10_000)
  })
})
