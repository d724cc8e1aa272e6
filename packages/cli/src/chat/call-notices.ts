import type { AiAgent, CallerInfo } from '@aiagent/client'
import { oneLine, type Style } from '../output.ts'

/** Tells what a connector knows of the call at the desk: its id, who calls, and what is said in it. */
export function showCall({ agent, style, show }: { agent: AiAgent; style: Style; show(text: string): void }): void {
  const tell = (text: string) => show(style.dim(text))
  agent.on('conversationIdUpdate', ({ payload: { conversationId } }) =>
    tell(conversationId === null ? 'The call is over.' : `The call has the id ${oneLine(conversationId)}.`),
  )
  agent.on('callerInfoUpdate', ({ payload: { callerInfo } }) => {
    const who = callerInfo ? formatCaller(callerInfo) : ''
    if (who) tell(`Who calls: ${who}`)
  })
  agent.on('callTranscriptUpdate', ({ payload: { entry } }) => {
    if (entry) tell(`In the call, ${oneLine(entry.sender) || 'somebody'}: ${oneLine(entry.content)}`)
  })
}

function formatCaller({ name, phone, email }: CallerInfo): string {
  // A script is no typed caller.
  return [name, phone, email]
    .map(part => oneLine(String(part ?? '')))
    .filter(Boolean)
    .join(', ')
}
