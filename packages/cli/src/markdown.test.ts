import { stripVTControlCharacters } from 'node:util'
import type { AgentMessage } from '@aiagent/client'
import { countLexerSteps, MARKDOWN_ANSWERS } from '@aiagent/test-support'
import { Tokenizer } from 'marked'
import { afterAll, describe, expect, it } from 'vitest'
import { renderMarkdown } from './markdown.ts'
import { createStyle, formatAgentMessage } from './output.ts'
import { renderText } from './terminal-text.ts'
import { wrapText } from './wrap-text.ts'

/** A message of the agent as the terminal shows it, without colour codes. */
const shown = (content: string, options: string[] = []) => {
  const message = { content, options } as unknown as AgentMessage
  return stripVTControlCharacters(wrapText(renderText(formatAgentMessage('Help', message, createStyle(true))), 80))
}
const repeat = (unit: string, length: number) => unit.repeat(Math.ceil(length / unit.length)).slice(0, length)
const KINDS = ['*a_', '1. - ', '![](', '|a|b|\n|-|-|\n', 'a\n', '> - a\nb\n']

const counter = countLexerSteps(Tokenizer.prototype)
afterAll(() => counter.stop())

describe('Markdown in the terminal', () => {
  it('[SEC-73] shows an answer that is nested more deeply than the stack', () => {
    expect(shown(repeat('>', 20_000)).replace(/\s/g, '')).toBe(`Help:${repeat('>', 20_000)}`)
    expect(shown(`${repeat('> ', 4000)}deep`)).toContain('deep')
    expect(shown(Array.from({ length: 40 }, (_, depth) => `${'>'.repeat(40 - depth)} a`).join('\n'))).toContain('>')
  })

  it.each(KINDS)('[SEC-73] shows 128 kB of %j whole, for at most eight times the work of 16 kB', unit => {
    const workFor = (length: number) => {
      counter.take()
      const start = process.cpuUsage()
      const output = shown(`first ${repeat(unit, length)} last`)
      expect(output).toContain('first')
      expect(output).toContain('last')
      // Of this process: a busy machine does not change it much. Without a limit it takes minutes.
      expect(process.cpuUsage(start).user).toBeLessThan(2_000_000)
      return counter.take()
    }
    const [some, many] = [workFor(16 * 1024), workFor(128 * 1024)]
    expect(many.calls).toBeLessThanOrEqual(8 * Math.max(1, some.calls))
    expect(many.read).toBeLessThanOrEqual(8 * Math.max(1, some.read))
  })

  it.each(MARKDOWN_ANSWERS)('[EL-100] is what the chat element shows: $name', ({ markdown, terminal }) => {
    const asItIs = (text: string) => text
    expect(renderMarkdown(markdown, { bold: asItIs, dim: asItIs, italic: asItIs, code: asItIs })).toBe(terminal)
  })

  it('[EL-51] resolves character references, but in code, and lets none become a control character', () => {
    expect(shown('9&ndash;17, 5&nbsp;&euro;, Settings &rarr; *Account*, `&amp;`')).toBe(
      'Help: 9\u201317, 5\u00a0\u20ac, Settings \u2192 Account, &amp;',
    )
    expect(shown('[A&amp;B](https://shop.test/?a=1&amp;b=2)')).toBe('Help: A&B <https://shop.test/?a=1&b=2>')
    for (const control of ['\u001b', '\u009b']) expect(shown('&#27;[2J&#x9b;2Jred')).not.toContain(control)
  })

  it('[SEC-74] lists the first hundred of 15,000 options, and the number of the others', () => {
    const output = shown(
      'Which one?',
      Array.from({ length: 15_000 }, (_, at) => `Option ${at + 1}`),
    )
    expect(output.split('\n')).toHaveLength(102)
    expect(output).toContain('100) Option 100\n')
    expect(output).toContain('… and 14900 more')
  })
})
