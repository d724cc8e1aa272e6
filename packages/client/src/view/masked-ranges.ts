import type { MaskingPreview } from '../index.ts'
import { NONE, type TextRange } from './conversation-message.ts'

/** Where the masked text differs from what the user wrote, as parts of the masked text. */
export function maskedRanges({ spans }: MaskingPreview): readonly TextRange[] {
  let shift = 0
  const ranges = spans.map(({ start, end, replacement }) => {
    const from = start + shift
    shift += replacement.length - (end - start)
    return Object.freeze({ start: from, end: from + replacement.length })
  })
  return ranges.length ? Object.freeze(ranges) : NONE
}
