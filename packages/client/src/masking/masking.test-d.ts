import { assertType, describe, it } from 'vitest'
import type { MaskingPreview } from '../index.ts'
import type { MaskedSpan, RefusedPattern } from './data-masker.ts'
import type { MaskingConfig } from './masking.ts'

const span = { rule: 'Card', earlierRules: [], start: 0, end: 19, replacement: '***************1111' }

describe('masking', () => {
  it('MaskingConfig states whether rules are required', () => {
    assertType<MaskingConfig>({ required: true })
    // @ts-expect-error rules come from the service, not from the host
    assertType<MaskingConfig>({ patterns: [] })
  })

  it('MaskedSpan contains the part and its rule', () => {
    assertType<MaskedSpan>(span)
    // @ts-expect-error the rule is missing
    assertType<MaskedSpan>({ ...span, rule: /\d{16}/ })
  })

  it('MaskingPreview contains the masked text and every changed part', () => {
    assertType<MaskingPreview>({ isActive: true, content: span.replacement, spans: [span] })
    // @ts-expect-error `active` is missing
    assertType<MaskingPreview>({ content: span.replacement, spans: [span] })
  })

  it('RefusedPattern contains a name and a reason', () => {
    assertType<RefusedPattern>({ name: 'Card', reason: 'refers back to a group' })
    // @ts-expect-error the reason is missing
    assertType<RefusedPattern>({ name: 'Card' })
  })
})
