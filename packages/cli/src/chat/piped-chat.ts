import { type AiAgent, createGracefulDisconnectMessage } from '@aiagent/client'
import { CommandFailure } from '../failure.ts'
import type { Io } from '../io.ts'
import { formatAgentMessage, formatSeconds, oneLine, type Style } from '../output.ts'
import { writeEntry } from '../terminal-text.ts'
import { maskedNote } from './masked-note.ts'
import { type TurnEnd, TurnTaking } from './turn-taking.ts'

/** Time limit for the service to close after the graceful disconnect, in milliseconds. */
const GOODBYE_LIMIT_MS = 2_000
const QUOTED_CHARS = 60

export interface PipedChatOptions {
  agent: AiAgent
  io: Pick<Io, 'stdout' | 'interrupted'>
  /** The lines to send. */
  lines: AsyncIterable<string>
  style: Style
  answerTimeoutMs: number
  /** Called before the disconnect. */
  onLeaving(): void
}

/**
 * Sends the lines of the input one by one, each after the answer to the previous line, and prints the answers.
 *
 * @throws {CommandFailure} when a line got no answer
 */
export async function chatFromPipe(options: PipedChatOptions): Promise<void> {
  const { agent, io, lines, style, answerTimeoutMs, onLeaving } = options
  const turns = new TurnTaking()
  const print = (text: string) => writeEntry(io.stdout, text)
  watch(agent, turns, message => print(message), style)

  let refused = 0
  for await (const line of lines) {
    const text = line.trim()
    if (text === '') continue
    if (agent.getState() === 'CLOSED')
      throw new CommandFailure(`The conversation is closed: ${quote(text)} and the lines after it were not sent.`)
    const end = await ask(agent, turns, text, {
      timeoutMs: answerTimeoutMs,
      signal: io.interrupted,
      begin: () => [`${style.bold('>')} ${text}`, ...maskedNote(agent, text, style)].forEach(print),
    })
    io.interrupted.throwIfAborted()
    if (end === 'timeout')
      throw new CommandFailure(
        `No answer to ${quote(text)} within ${formatSeconds(answerTimeoutMs)}; the lines after it were not sent. Raise --answer-timeout to wait longer.`,
      )
    if (end === 'over') throw new CommandFailure(`The conversation ended without an answer to ${quote(text)}.`)
    if (end === 'refused') refused++
  }
  io.interrupted.throwIfAborted()
  onLeaving()
  await sayGoodbye(agent)
  if (refused > 0)
    throw new CommandFailure(
      `${refused === 1 ? 'One line was' : `${refused} lines were`} not answered: the service reported an error.`,
    )
}

/** Passes incoming events on to the turns. */
function watch(agent: AiAgent, turns: TurnTaking, show: (text: string) => void, style: Style): void {
  agent.on('heartbeat', () => turns.handleHeartbeat())
  agent.on('agentMessage', ({ payload: { from, message } }) =>
    turns.handleAgentMessage(message.role, () => show(formatAgentMessage(from.name, message, style))),
  )
  // The notices print the error.
  agent.on('errorMessage', () => turns.handleErrorMessage(() => {}))
  agent.on('stateChanged', ({ payload: { state } }) => {
    if (state === 'CLOSED') turns.handleOver()
  })
  agent.on('tokenExpiring', ({ payload: { reason } }) => {
    if (reason === 'transport_request') turns.handleOver()
  })
}

interface AskOptions {
  timeoutMs: number
  signal: AbortSignal
  /** Called before the first output for the line. */
  begin(): void
}

async function ask(
  agent: AiAgent,
  turns: TurnTaking,
  text: string,
  { timeoutMs, signal, begin }: AskOptions,
): Promise<TurnEnd | 'timeout'> {
  let isLate = false
  let end: (end: TurnEnd) => void = () => {}
  const ended = new Promise<TurnEnd>(resolve => (end = resolve))
  turns.start(begin, end)
  const giveUp = () => turns.handleOver()
  const timer = setTimeout(() => {
    isLate = true
    giveUp()
  }, timeoutMs)
  signal.addEventListener('abort', giveUp, { once: true })
  try {
    await agent.send(text)
    const how = await ended
    return how === 'over' && isLate ? 'timeout' : how
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', giveUp)
  }
}

/**
 * Sends a graceful disconnect and waits for the service to close, so that everything it sent before, such as options for
 * the last answer, has arrived. Gives up after a time limit.
 */
async function sayGoodbye(agent: AiAgent): Promise<void> {
  if (!agent.isConnected()) return
  let done = () => {}
  const closed = new Promise<void>(resolve => (done = resolve))
  const timer = setTimeout(done, GOODBYE_LIMIT_MS)
  agent.once('closed', done)
  await agent.send(createGracefulDisconnectMessage())
  await closed
  clearTimeout(timer)
}

function quote(text: string): string {
  const short = oneLine(text)
  return `"${short.length > QUOTED_CHARS ? `${short.slice(0, QUOTED_CHARS)}…` : short}"`
}
