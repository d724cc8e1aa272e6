import type { AiAgent } from '@aiagent/client'
import { oneLine, type Style } from '../output.ts'

/** A line that tells what is sent instead of a text; none where masking leaves it as it is. */
export function maskedNote(agent: AiAgent, text: string, style: Style): string[] {
  const masked = agent.maskContent(text)
  return masked === text ? [] : [style.dim(`  Sent as: ${oneLine(masked)}`)]
}
