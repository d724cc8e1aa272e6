import { expect, it } from 'vitest'
import { type Exchange, judge } from './judge.ts'

const exchange = (firstMs: number, source: string): Exchange => ({
  sent: 'Hello',
  messages: [{ content: 'Hello.', sources: [source], options: [], escalation: undefined }],
  firstMs,
  problems: [],
})

it.each([
  ['https://example.com/a', true],
  ['https://help.example.com/a', true],
  ['https://notexample.com/a', false],
  ['https://example.com.test/a', false],
])('[ADOPT-06] judges the source %s by the host example.com: %s', (source, holds) => {
  const verdict = judge({ kind: 'source', value: 'example.com', line: 1 }, exchange(0, source))
  expect(verdict === undefined).toBe(holds)
})

it.each([
  [999, '1 s', true],
  [1_000, '1 s', true],
  [1_001, '1 s', false],
  [80, '50 ms', false],
])('[ADOPT-06] judges an answer after %i ms with the limit %s: %s', (firstMs, value, holds) => {
  const verdict = judge({ kind: 'within', value, line: 1 }, exchange(firstMs, 'https://example.com'))
  expect(verdict === undefined).toBe(holds)
})
