import type { AiAgent, CallerInfo } from '@aiagent/client'
import { oneLine, type Style } from '../output.ts'

/** Prints the call that a connector reports: its id, the caller, and the transcript. */
export function showCall({ agent, style, show }: { agent: AiAgent; style: Style; show(text: string): void }): void {
  const tell = (text: string) => show(style.dim(text))
  agent.on('conversationIdUpdate', ({ payload: { conversationId } }) =>
    tell(conversationId === null ? 'The call has ended.' : `The call has the id ${oneLine(conversationId)}.`),
  )
  agent.on('callerInfoUpdate', ({ payload: { callerInfo } }) => {
    const caller = callerInfo ? formatCaller(callerInfo) : ''
    if (caller) tell(`Caller: ${caller}`)
  })
  agent.on('callTranscriptUpdate', ({ payload: { entry } }) => {
    if (entry) tell(`Call transcript, ${oneLine(entry.sender) || 'unknown speaker'}: ${oneLine(entry.content)}`)
  })
}

function formatCaller({ name, phone, email }: CallerInfo): string {
  // The values come from a script, which may not keep to the types.
  return [name, phone, email]
    .map(part => oneLine(String(part ?? '')))
    .filter(Boolean)
    .join(', ')
}
