import type { AiAgent } from '@aiagent/client'
import { explainFailure, type FailureSetting, isSessionRefusal } from '../failure.ts'
import { formatContextIssues, formatHistory, formatSeconds, oneLine, type Style } from '../output.ts'

export interface NoticeOptions {
  agent: AiAgent
  setting: FailureSetting
  style: Style
  /** The option for a new token, such as `a new --token`. */
  freshStart: string
  /** Whether to print the previous messages of the session. */
  tellsHistory: boolean
  /** Whether this program is closing the connection. Then the close is not printed. */
  closesItself(): boolean
  /** Prints a notice. It may have several lines. */
  show(text: string): void
}

/**
 * Prints notices about the conversation: lost and restored connections, rejected context attributes, errors of the
 * service, previous messages.
 */
export function showNotices(options: NoticeOptions): void {
  const { agent, setting, style, freshStart, tellsHistory, closesItself, show } = options
  const warn = (text: string) => show(style.warning(text))
  let agentName = 'Agent'
  let wasConnected = false
  let waitMs = 0
  // After a reconnect the service sends messages again that are on the screen already.
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
        ? `Connection lost (${why}). Retrying in ${formatSeconds(waitMs)}.`
        : `The service closed the conversation (${why}).`,
    )
  })
  agent.on('error', ({ payload: { error } }) => {
    // A failure of the first attempt ends the program with a message.
    if (!wasConnected) return
    const next = agent.getState() === 'RECONNECTING' ? ` Retrying in ${formatSeconds(waitMs)}.` : ''
    const lost = isSessionRefusal(error)
      ? 'The session is no longer known to the service. Opening a new one.'
      : undefined
    warn(`${lost ?? explainFailure(error, setting)}${next}`)
  })
  agent.on('errorMessage', ({ payload: { message } }) => {
    const code = message.messageData?.error_code
    warn(
      `The service reports an error: ${oneLine(message.content || 'unknown')}${code ? ` (${oneLine(String(code))})` : ''}`,
    )
  })
  agent.on('contextValidation', ({ payload }) => warn(formatContextIssues(payload)))
  agent.on('tokenExpiring', ({ payload: { reason } }) =>
    warn(
      `The access token ${reason === 'expiring' ? 'expires soon' : 'is no longer valid'}. Start again with ${freshStart}, and with --session to continue this session.`,
    ),
  )
  agent.on('queueFlushed', ({ payload: { count } }) =>
    show(style.dim(count === 1 ? 'Sent the queued message.' : `Sent ${count} queued messages.`)),
  )
  agent.on('chatHistory', ({ payload }) => {
    const lines = owesHistory ? formatHistory(payload.message.chatHistory, agentName, style) : []
    owesHistory = false
    if (lines.length > 0) [style.dim('Earlier in this conversation:'), ...lines].forEach(show)
  })
}
