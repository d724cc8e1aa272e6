import { stripVTControlCharacters } from 'node:util'
import type { AgentMessage } from '@aiagent/client'
import { describe, expect, it } from 'vitest'
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

describe('Markdown in the terminal', () => {
  it('[SEC-73] shows an answer that is nested more deeply than the stack', () => {
    expect(shown(repeat('>', 20_000)).replace(/\s/g, '')).toBe(`Help:${repeat('>', 20_000)}`)
    expect(shown(`${repeat('> ', 4000)}deep`)).toContain('deep')
    expect(shown(Array.from({ length: 40 }, (_, depth) => `${'>'.repeat(40 - depth)} a`).join('\n'))).toContain('>')
  })

  it.each(KINDS)(
    '[SEC-73] shows 128 kB of %j whole, in about a time that grows with the length',
    unit => {
      const time = (length: number) => {
        const text = `first ${repeat(unit, length)} last`
        const start = performance.now()
        const output = shown(text)
        expect(output).toContain('first')
        expect(output).toContain('last')
        return performance.now() - start
      }
      // Generous, since the machine may be busy: without a limit it takes minutes.
      expect(time(128 * 1024)).toBeLessThan(2000 + 16 * time(16 * 1024))
    },
    60_000,
  )

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
