import { stripVTControlCharacters } from 'node:util'
import type { AgentMessage } from '@aiagent/client'
import { describe, expect, it } from 'vitest'
import {
  createStyle,
  formatAgentMessage,
  formatContextIssues,
  formatHistory,
  formatSeconds,
  indented,
  oneLine,
} from './output.ts'
import { renderText } from './terminal-text.ts'

const style = createStyle(false)

const message = (fields: Partial<AgentMessage>): AgentMessage => ({
  persona: 'agent',
  role: 'customer support agent',
  content: 'Hello.',
  raw: {},
  showReasoning: false,
  showFeedback: true,
  showOptions: false,
  ...fields,
})

describe('formatAgentMessage', () => {
  it.each<[string, Partial<AgentMessage>, string]>([
    ['an answer', {}, 'Help: Hello.'],
    ['nothing said', { content: undefined }, 'Help:'],
    ['strong text, as it came', { content: 'a **b** c' }, 'Help: a **b** c'],
    [
      'sources, numbered',
      {
        sources: [
          { title: 'Reset', url: 'https://a.test/r' },
          { url: 'https://a.test/s' },
          'a book',
          { title: ' ' },
          null,
          7,
        ] as never,
      },
      'Help: Hello.\n  Sources:\n  [1] Reset – https://a.test/r\n  [2] https://a.test/s\n  [3] a book',
    ],
    ['no sources', { sources: [] }, 'Help: Hello.'],
    ['options, numbered', { content: 'More?', options: ['Yes', ' No\n way '] }, 'Help: More?\n  1) Yes\n  2) No way'],
    [
      'a live hand-over',
      {
        escalationType: 'live',
        escalationData: { live: true, liveDomain: 'live.test', entrypointUrl: 'https://live.test/in' },
      },
      'Help: Hello.\n  A human takes over at https://live.test/in',
    ],
    [
      'a live hand-over without an entry page',
      { escalationType: 'live', escalationData: { live: true, liveDomain: 'live.test' } },
      'Help: Hello.\n  A human takes over at https://live.test/',
    ],
    [
      'a live hand-over to an address that no page may open',
      { escalationType: 'live', escalationData: { live: true, entrypointUrl: 'javascript:alert(1)' } },
      'Help: Hello.\n  A human takes over.',
    ],
    [
      'a live hand-over without a place',
      { escalationType: 'live', escalationData: { live: true } },
      'Help: Hello.\n  A human takes over.',
    ],
    [
      'other ways to a human',
      {
        escalationType: 'alternate',
        escalationData: {
          options: [
            { label: 'CALL', type: 'phone', value: '+1 555' },
            { label: 'SMS', type: 'sms' },
            { label: 'EMAIL', type: 'email' },
          ],
        },
      },
      'Help: Hello.\n  Reach a human by phone: +1 555\n  Reach a human by SMS\n  Reach a human by email',
    ],
  ])('shows %s', (_what, fields, shown) => {
    expect(formatAgentMessage('Help', message(fields), style)).toBe(shown)
  })

  it('lets strong text stand out where there are colours', () => {
    const shown = formatAgentMessage('Help', message({ content: 'a **b** c' }), createStyle(true))
    expect(renderText(shown)).toContain('a \u001b[1mb\u001b[22m c')
  })

  it('keeps escape codes of the service from the terminal', () => {
    const hostile = 'a\u001b[2Jb\u001b]0;title\u0007c\u0000\u009b1Ad\u202ee'
    const shown = formatAgentMessage(
      hostile,
      message({ content: hostile, options: [hostile], sources: [{ title: hostile, url: hostile }] }),
      style,
    )
    // biome-ignore lint/suspicious/noControlCharactersInRegex: none may be left
    expect(shown).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/)
  })
})

describe('text of the service', () => {
  it.each([
    ['\r\none\rtwo\n\n', 'one\n  two', 'one two'],
    ['\tdéjà vu 👋 ', 'déjà vu 👋', 'déjà vu 👋'],
    ['\u001b[31mred\u001b[0m', 'red', 'red'],
  ])('%j is shown as %j, or on one line as %j', (text, asIs, asLine) => {
    expect(indented(text)).toBe(asIs)
    expect(oneLine(text)).toBe(asLine)
  })
})

describe('formatContextIssues', () => {
  it.each([
    [
      [
        { name: 'age', reason: 'type_mismatch', expectedType: 'number', providedType: 'string' },
        { name: 'x', reason: 'unknown' },
      ],
      'The service rejected context attributes: age (type mismatch: expected number, got string), x (unknown).',
    ],
    [[], 'The service rejected context attributes: unknown ones.'],
  ])('tells %j', (issues, text) => {
    expect(formatContextIssues({ issues })).toBe(text)
  })
})

describe('formatHistory', () => {
  it('shows speaker and text, and omits entries without text', () => {
    const history = [
      { persona: 'customer', content: 'Hi' },
      { persona: 'agent', content: 'Hello' },
      { persona: 'agent' },
      null,
      'x',
    ]
    expect(formatHistory(history, 'Help', style)).toEqual(['You: Hi', 'Help: Hello'])
  })

  it('shows the Markdown of the agent without its marks in a terminal, and what the user wrote as it is', () => {
    const history = [
      { persona: 'customer', content: '**Hi**' },
      { persona: 'agent', content: 'Hold **it** for `10 s`.' },
    ]
    const shown = formatHistory(history, 'Help', createStyle(true)).map(line =>
      stripVTControlCharacters(renderText(line)),
    )
    expect(shown).toEqual(['You: **Hi**', 'Help: Hold it for 10 s.'])
    expect(formatHistory(history, 'Help', style)).toEqual(['You: **Hi**', 'Help: Hold **it** for `10 s`.'])
  })
})

describe('formatSeconds', () => {
  it.each([
    [40, '0 s'],
    [1249, '1.2 s'],
    [2000, '2 s'],
    [29_600, '30 s'],
  ])('%d ms is %s', (milliseconds, text) => {
    expect(formatSeconds(milliseconds)).toBe(text)
  })
})
