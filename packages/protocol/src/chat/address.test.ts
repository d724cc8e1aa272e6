import { describe, expect, it } from 'vitest'
import { isUsableSessionId, MAX_FRAME_BYTES } from './address.ts'

it('the largest frame is 128 KiB', () => {
  expect(MAX_FRAME_BYTES).toBe(131_072)
})

describe('isUsableSessionId', () => {
  it.each(['S1', '0', ' S1 ', 'nullable', 'undefined-1', 0, -1, 12345678901])('[REST-10] takes %j', id => {
    expect(isUsableSessionId(id)).toBe(true)
  })

  it.each([
    '',
    ' ',
    '\t\n',
    '\u00a0',
    'undefined',
    'NULL',
    ' Null ',
    'S1\ud83d',
    '\ude00',
    'nan',
    'NaN',
    NaN,
    Infinity,
    -Infinity,
    1.5,
    2 ** 53,
    1e21,
    null,
    undefined,
    true,
    {},
    ['S1'],
    1n,
  ])('[REST-10] refuses %s', id => {
    expect(isUsableSessionId(id)).toBe(false)
  })
})
