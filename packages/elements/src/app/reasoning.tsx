/** @jsxImportSource preact */
import { pieces } from '../markdown/pieces.tsx'
import type { ChatStrings } from '../strings/chat-strings.ts'

export { REASONING_STYLE as STYLE } from '../style/reasoning-style.ts'

/** How the agent arrived at an answer, folded. Loads with the attribute `show-reasoning`. */
export function Reasoning({ strings, text }: { strings: ChatStrings; text: string }) {
  return (
    <details class="reasoning" part="reasoning">
      <summary>{strings.reasoning}</summary>
      <p dir="auto">{pieces(text)}</p>
    </details>
  )
}
