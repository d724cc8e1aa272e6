import { countLexerSteps, type LexerSteps } from '@aiagent/test-support'
import { Lexer } from 'marked'
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { costlyText, KINDS } from '../../test/costly-texts.ts'
import { loadStrings } from '../strings/languages.ts'
import { markdownNodes } from './nodes.tsx'
import { plainText } from './plain-text.ts'

/** Most that one text costs, whatever its length. 30,000 calls take about 20 ms of a processor. */
const MOST_CALLS = 30_000
const MOST_READ = 8_000_000
/** Most nodes of one text. */
const MOST_NODES = 6000
const KB = 1024
const LENGTHS = [1, 2, 4, 8, 16, 32, 64, 128].map(size => size * KB)
const OPTIONS = {
  strings: await loadStrings('en'),
  imageOrigins: [],
  announcer: { say() {} },
  Copy: undefined,
}

const counter = countLexerSteps(Object.getPrototypeOf(Reflect.get(new Lexer(), 'tokenizer')))
afterAll(() => counter.stop())

/** Number of elements and texts. */
function countNodes(value: unknown): number {
  if (Array.isArray(value)) return value.reduce((sum: number, each) => sum + countNodes(each), 0)
  if (typeof value === 'string') return 1
  return value === null || typeof value !== 'object' ? 0 : 1 + countNodes(Object(value).props?.children)
}

/** The cost of a text in a separate task. */
function costOf(text: string): LexerSteps & { nodes: number } {
  vi.runAllTimers()
  counter.take()
  const nodes = countNodes(markdownNodes(text, OPTIONS, () => {}))
  return { ...counter.take(), nodes }
}

describe('the work for an answer', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => {
    vi.runAllTimers()
    vi.useRealTimers()
  })

  it.each(KINDS)('[SEC-73] has a bound, and 128 kB of %s cost at most eight times 16 kB', kind => {
    const costs = LENGTHS.map(length => {
      const cost = costOf(costlyText(kind, length))
      expect(cost.calls).toBeLessThan(MOST_CALLS)
      expect(cost.read).toBeLessThan(MOST_READ)
      expect(cost.nodes).toBeLessThan(MOST_NODES)
      return cost
    })
    const [some, many] = [costs[LENGTHS.indexOf(16 * KB)], costs.at(-1)]
    for (const part of ['calls', 'read', 'nodes'] as const)
      expect(many?.[part]).toBeLessThanOrEqual(8 * Math.max(1, some?.[part] ?? 0))
  })

  it('[SEC-73] is that of two texts at most in one task of the page, however many texts there are', () => {
    const texts = [2, 4, 8, 16].flatMap(size => KINDS.map(kind => costlyText(kind, size * KB)))
    const rendered = new Set<string>()
    const render = (text: string) => {
      markdownNodes(text, OPTIONS, () => render(text))
      rendered.add(text)
    }
    for (const text of texts) {
      render(text)
      // For the screen reader.
      plainText(text)
    }
    for (;;) {
      const { calls, read } = counter.take()
      expect(calls).toBeLessThan(2 * MOST_CALLS)
      expect(read).toBeLessThan(2 * MOST_READ)
      if (vi.getTimerCount() === 0) break
      vi.advanceTimersToNextTimer()
    }
    expect(rendered.size).toBe(new Set(texts).size)
  })
})
