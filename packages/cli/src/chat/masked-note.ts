import type { AiAgent } from '@aiagent/client'
import { oneLine, type Style } from '../output.ts'

/** The masked text in a line, if masking changes the text. */
export function maskedNote(agent: AiAgent, text: string, style: Style): string[] {
  const masked = agent.maskContent(text)
  return masked === text ? [] : [style.dim(`  Sent as: ${oneLine(masked)}`)]
}
