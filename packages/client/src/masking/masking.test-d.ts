import { assertType, describe, it } from 'vitest'
import type { MaskedSpan, MaskingConfig, MaskingPreview, RefusedPattern } from '../index.ts'

const span = { rule: 'Card', earlierRules: [], start: 0, end: 19, replacement: '***************1111' }

describe('masking', () => {
  it('MaskingConfig: whether content may leave without rules', () => {
    assertType<MaskingConfig>({ required: true })
    // @ts-expect-error rules come from the service, not from the host
    assertType<MaskingConfig>({ patterns: [] })
  })

  it('MaskedSpan: which part, by which rule', () => {
    assertType<MaskedSpan>(span)
    // @ts-expect-error a rule is named
    assertType<MaskedSpan>({ ...span, rule: /\d{16}/ })
  })

  it('MaskingPreview: the text as it would be, and every part that would change', () => {
    assertType<MaskingPreview>({ isActive: true, content: span.replacement, spans: [span] })
    // @ts-expect-error whether there are rules is missing
    assertType<MaskingPreview>({ content: span.replacement, spans: [span] })
  })

  it('RefusedPattern: a name and a reason', () => {
    assertType<RefusedPattern>({ name: 'Card', reason: 'refers back to a group' })
    // @ts-expect-error the reason is missing
    assertType<RefusedPattern>({ name: 'Card' })
  })
})
