import { AiAgent } from '@aiagent/client'
import type { EmulatorServer } from '@aiagent/emulator/node'
import { logLevelOf, showLog } from '../chat/log-lines.ts'
import { showNotices } from '../chat/notices.ts'
import { chatFromPipe } from '../chat/piped-chat.ts'
import { Screen } from '../chat/screen.ts'
import { chatInTerminal } from '../chat/terminal-chat.ts'
import type { ChatOptions } from '../command-line.ts'
import { CommandFailure, explainFailure } from '../failure.ts'
import type { Io } from '../io.ts'
import { createStyle } from '../output.ts'

/**
 * Holds a conversation: with whoever sits at the terminal, or with what is piped in.
 *
 * @returns the exit code
 * @throws {CommandFailure} when the conversation cannot be held, or a piped line went unanswered
 */
export async function chat(options: ChatOptions, io: Io): Promise<number> {
  const server = options.endpoint === undefined ? await startEmulator(options) : undefined
  const setting = { endpoint: options.endpoint ?? server?.url ?? '', agent: options.agent }
  let agent: AiAgent | undefined
  try {
    agent = createAgent(options, setting.endpoint)
    await converse({ agent, options, setting, io })
    return 0
  } catch (error) {
    if (error instanceof CommandFailure) throw error
    throw new CommandFailure(explainFailure(error, setting), { cause: error })
  } finally {
    await agent?.disconnect()
    await agent?.destroy()
    await server?.close()
    // An input that nobody reads any more must not keep the program alive.
    io.stdin.destroy()
  }
}

async function startEmulator({ knowledge }: ChatOptions): Promise<EmulatorServer> {
  // Loaded only here: against a deployment nobody needs it.
  const { serveEmulator } = await import('@aiagent/emulator/node')
  return serveEmulator(knowledge === undefined ? {} : { knowledge })
}

function createAgent(options: ChatOptions, endpoint: string): AiAgent {
  const { agent: id, token, session, logLevel } = options
  return new AiAgent({
    id,
    endpoint,
    logLevel: logLevelOf(logLevel),
    enableLogging: false,
    ...(token !== undefined && { auth: { type: 'pre-auth', accessToken: token } }),
    ...(session !== undefined && { sessionId: session }),
  })
}

interface Conversation {
  agent: AiAgent
  options: ChatOptions
  setting: { endpoint: string; agent: string }
  io: Io
}

async function converse({ agent, options, setting, io }: Conversation): Promise<void> {
  const { interrupted, stdin, stdout, stderr, env } = io
  const ansi = stdout.isTTY === true && env.TERM !== 'dumb'
  const style = createStyle(options.color && ansi)
  const screen = stdin.isTTY ? new Screen({ io, ansi, prompt: style.bold('> ') }) : undefined
  // Of a piped conversation only what is said goes to the output: it may be read by a program.
  const show = (text: string) => (screen ? screen.print(text) : stderr.write(`${text}\n`))
  let closesItself = false
  let sessionId: string | undefined

  showLog(agent, options.logLevel, show)
  showNotices({
    agent,
    setting,
    style: screen ? style : createStyle(false),
    tellsHistory: options.session !== undefined,
    closesItself: () => closesItself,
    show,
  })
  agent.on('connected', event => (sessionId = event.sessionId))
  agent.once('initialized', ({ payload }) => {
    const name = payload.agent?.name || setting.agent
    screen?.print(style.dim(`${name} at ${setting.endpoint}. Ask a question, or type /help; Ctrl-D leaves.`))
  })

  const reconnect = async () => {
    closesItself = true
    await agent.disconnect().finally(() => (closesItself = false))
    await agent.connect({ signal: interrupted })
  }
  const onLeaving = () => {
    closesItself = true
  }
  try {
    await agent.initialize({ context: options.context, signal: interrupted })
    await agent.connect({ signal: interrupted })
    if (screen)
      await chatInTerminal({ agent, screen, style, setting, interrupted, reconnect, sessionId: () => sessionId })
    else await chatFromPipe({ agent, io, style, answerTimeoutMs: options.answerTimeoutMs, onLeaving })
  } finally {
    onLeaving()
  }
}
