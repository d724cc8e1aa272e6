import type { AiAgent } from '@aiagent/client'
import { explainFailure, type FailureSetting, isSessionRefusal } from '../failure.ts'
import { formatContextIssues, formatHistory, formatSeconds, oneLine, type Style } from '../output.ts'

export interface NoticeOptions {
  agent: AiAgent
  setting: FailureSetting
  style: Style
  /** What to start again with for a fresh token, such as `a fresh --token`. */
  freshStart: string
  /** Whether the session existed before, so that what was said in it is news. */
  tellsHistory: boolean
  /** Says whether it is this side that closes; that is no news then. */
  closesItself(): boolean
  /** Shows one; it may have several lines. */
  show(text: string): void
}

/**
 * Tells in plain words what happens to the conversation beside what is said in it: lost and regained connections,
 * refused context, errors of the service, earlier messages.
 */
export function showNotices(options: NoticeOptions): void {
  const { agent, setting, style, freshStart, tellsHistory, closesItself, show } = options
  const warn = (text: string) => show(style.warning(text))
  let agentName = 'Agent'
  let wasConnected = false
  let waitMs = 0
  // After a reconnect the service repeats what stands on the screen already.
  let owesHistory = tellsHistory

  agent.on('initialized', ({ payload }) => (agentName = payload.agent?.name || agentName))
  agent.on('stateChanged', ({ payload }) => {
    waitMs = payload.retryInMs ?? waitMs
  })
  agent.on('connected', () => {
    if (wasConnected) show(style.dim('Connected again.'))
    wasConnected = true
  })
  agent.on('closed', ({ payload: { code, reason, willReconnect } }) => {
    if (!willReconnect && closesItself()) return
    const why = oneLine(reason) ? `code ${code}: ${oneLine(reason)}` : `code ${code}`
    warn(
      willReconnect
        ? `The connection is lost (${why}). Trying again in ${formatSeconds(waitMs)}.`
        : `The service closed the conversation (${why}).`,
    )
  })
  agent.on('error', ({ payload: { error } }) => {
    // A failure of the first attempt ends the program, which says why.
    if (!wasConnected) return
    const next = agent.getState() === 'RECONNECTING' ? ` Trying again in ${formatSeconds(waitMs)}.` : ''
    const lost = isSessionRefusal(error)
      ? 'The service does not know this session any more; a new one is asked for.'
      : undefined
    warn(`${lost ?? explainFailure(error, setting)}${next}`)
  })
  agent.on('errorMessage', ({ payload: { message } }) => {
    const code = message.messageData?.error_code
    warn(
      `The service reports an error: ${oneLine(message.content || 'it does not say which')}${code ? ` (${oneLine(String(code))})` : ''}`,
    )
  })
  agent.on('contextValidation', ({ payload }) => warn(formatContextIssues(payload)))
  agent.on('tokenExpiring', ({ payload: { reason } }) =>
    warn(
      `The access token ${reason === 'expiring' ? 'expires soon' : 'is not valid any more'}. Start again with ${freshStart}, and --session to go on here.`,
    ),
  )
  agent.on('queueFlushed', ({ payload: { count } }) =>
    show(style.dim(count === 1 ? 'The message that waited was sent.' : `The ${count} messages that waited were sent.`)),
  )
  agent.on('chatHistory', ({ payload }) => {
    const lines = owesHistory ? formatHistory(payload.message.chatHistory, agentName, style) : []
    owesHistory = false
    if (lines.length > 0) [style.dim('Earlier in this conversation:'), ...lines].forEach(show)
  })
}
