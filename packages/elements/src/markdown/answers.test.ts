import { lexMarkdown, resolveEntities } from '@aiagent/protocol'
import { MARKDOWN_ANSWERS } from '@aiagent/test-support'
import { tests as examples } from 'commonmark-spec'
import { Lexer, type Token } from 'marked'
import { describe, expect, it, vi } from 'vitest'
import { htmlOf } from '../../test/html-of.ts'
import { loadStrings } from '../strings/languages.ts'
import { lex } from './lex.ts'
import { markdownNodes } from './nodes.tsx'
import { plainText } from './plain-text.ts'
import { shownMarkdown } from './shown-markdown.ts'

// The page of the chat.
vi.stubGlobal('location', { origin: 'https://chat.example' })

const OPTIONS = { strings: await loadStrings('en'), imageOrigins: [], announcer: { say() {} }, Copy: undefined }

describe('an answer in Markdown', () => {
  it.each(MARKDOWN_ANSWERS)('[EL-100] is the same in the chat element and for screen readers: $name', answer => {
    expect(htmlOf(markdownNodes(answer.markdown, OPTIONS, () => {}))).toBe(answer.html)
    expect(plainText(answer.markdown)).toBe(answer.spoken)
  })

  it.each(MARKDOWN_ANSWERS)('[SEC-105] is copied without what is not shown: $name', ({ markdown, copied }) => {
    expect(shownMarkdown(lex(markdown) ?? [])).toBe(copied)
    expect(copied).not.toContain('HIDDEN')
  })

  it('[EL-101] differs from the tokens of the lexer in twelve examples of CommonMark: references and comments', () => {
    const lexer = () => new Lexer({ gfm: true, breaks: true })
    const asText = (tokens: unknown, change = (text: string) => text) =>
      JSON.stringify(tokens, (key, value) => {
        if (key === 'level') return undefined
        return (key === 'text' || key === 'href') && typeof value === 'string' ? change(value) : value
      })
    const differing = (change?: (text: string) => string) =>
      examples.flatMap(({ markdown, number }) => {
        const ours = asText(lexMarkdown<Token>(lexer(), markdown).tokens, change)
        return ours === asText(lexer().lex(markdown), change) ? [] : [number]
      })
    const comments = [177, 179, 183, 308, 309, 625, 626]
    expect(differing(resolveEntities)).toEqual(comments)
    expect(differing()).toEqual([25, 32, 33, 41, ...comments, 503].sort((one, other) => one - other))
  })
})
