import { type AgentEventPayloadMap, AiAgent, Logger, type PreAuthConfig } from '@aiagent/client'
import { demoUserAuth } from '../auth/demo-user.ts'
import { showCall } from '../chat/call-notices.ts'
import { choose, followGates, nameOf } from '../chat/choices.ts'
import { type ConnectorFile, findConnector } from '../chat/connector-file.ts'
import { readLines } from '../chat/line-reader.ts'
import { logLevelOf, showLog } from '../chat/log-lines.ts'
import { showNotices } from '../chat/notices.ts'
import { chatFromPipe } from '../chat/piped-chat.ts'
import { Screen } from '../chat/screen.ts'
import { completeSlashCommand } from '../chat/slash-commands.ts'
import { chatInTerminal } from '../chat/terminal-chat.ts'
import type { ChatOptions } from '../command-line.ts'
import { EXIT } from '../exit-codes.ts'
import { CommandFailure, explainFailure } from '../failure.ts'
import type { Io } from '../io.ts'
import { signIn } from '../login/sign-in.ts'
import { createStyle, type Style, speakerName } from '../output.ts'
import { offerPlayground } from '../playground/offer-playground.ts'
import type { PlaygroundServer } from '../playground/serve-playground.ts'
import { startEmulator } from '../start-emulator.ts'
import { writeEntry } from '../terminal-text.ts'

/**
 * Runs a conversation in the terminal, or with piped input.
 *
 * @returns the exit code
 * @throws {CommandFailure} when the conversation fails, or a piped line got no answer
 */
export async function chat(options: ChatOptions, io: Io): Promise<number> {
  const server =
    options.endpoint === undefined
      ? await startEmulator({ knowledge: options.knowledge, login: options.login !== undefined })
      : undefined
  const setting = { endpoint: options.endpoint ?? server?.url ?? '', agent: options.agent }
  let agent: AiAgent | undefined
  let connector: ConnectorFile | undefined
  let playground: Promise<PlaygroundServer | undefined> | undefined
  try {
    const stage = openStage(options, io)
    const { platform } = options.initParams
    connector = await findConnector({ platform, file: options.connector, isEmulated: server !== undefined })
    const given = await findToken(options, setting, stage, io)
    const auth = given ?? (server && demoUserAuth(server.emulator, options.agent, options.as))
    agent = createAgent(options, setting.endpoint, auth, connector)
    const { screen, style } = stage
    // Only for a user, and after the first prompt: it must not delay the first answer.
    if (screen)
      agent.once('connected', () => {
        const service = { endpoint: setting.endpoint, isEmulator: server !== undefined, agentId: options.agent }
        const show = (line: string) => screen.print(style.dim(line))
        playground = offerPlayground({ ...service, show, open: options.open, env: io.env })
      })
    await converse({ agent, options, setting, stage, io })
    return EXIT.SUCCESS
  } catch (error) {
    if (error instanceof CommandFailure) throw error
    throw new CommandFailure(explainFailure(error, setting), { cause: error })
  } finally {
    await agent?.disconnect()
    await agent?.destroy()
    await (await playground)?.close()
    await server?.close()
    await connector?.remove()
    // An open input keeps the process alive.
    io.stdin.destroy()
  }
}

/** The output of the conversation. */
interface Stage {
  style: Style
  /** Not set for piped input. */
  screen: Screen | undefined
  /** Prints a note. */
  show(text: string): void
}

function openStage({ color }: ChatOptions, io: Io): Stage {
  const { stdin, stdout, stderr, env } = io
  const ansi = stdout.isTTY === true && env.TERM !== 'dumb'
  const style = createStyle(color && ansi)
  const screen = stdin.isTTY
    ? new Screen({ io, ansi, prompt: style.bold('> '), complete: completeSlashCommand })
    : undefined
  // With piped input, notes go to the error output: a program may read the output.
  return { style, screen, show: text => (screen ? screen.print(text) : writeEntry(stderr, text)) }
}

/** The given token, or the token of a login. */
async function findToken(
  { token, login, logLevel }: ChatOptions,
  { endpoint, agent: agentId }: Conversation['setting'],
  { show }: Stage,
  io: Io,
): Promise<PreAuthConfig | undefined> {
  if (!login) return token === undefined ? undefined : { accessToken: token }
  const logger = new Logger({ level: logLevelOf(logLevel), enableConsole: false, name: 'login' })
  showLog(logger, logLevel, show)
  return signIn({ endpoint, agentId, login, io, logger, show })
}

function createAgent(
  options: ChatOptions,
  endpoint: string,
  auth: PreAuthConfig | undefined,
  connector: ConnectorFile | undefined,
): AiAgent {
  const { agent: id, session, initParams, logLevel } = options
  return new AiAgent({
    id,
    endpoint,
    logLevel: logLevelOf(logLevel),
    enableLogging: false,
    initParams,
    ...(connector && { connector: { connectorUrl: connector.url } }),
    ...(auth && { auth: { type: 'pre-auth', ...auth } }),
    ...(session !== undefined && { sessionId: session }),
  })
}

interface Conversation {
  agent: AiAgent
  options: ChatOptions
  setting: { endpoint: string; agent: string }
  stage: Stage
  io: Io
}

async function converse({ agent, options, setting, stage, io }: Conversation): Promise<void> {
  const { interrupted } = io
  const { style, screen, show } = stage
  let closesItself = false
  let sessionId: string | undefined

  showLog(agent.logger, options.logLevel, show)
  showNotices({
    agent,
    setting,
    style: screen ? style : createStyle(false),
    freshStart: options.login ? '--login' : 'a new --token',
    tellsHistory: options.session !== undefined,
    closesItself: () => closesItself,
    show,
  })
  showCall({ agent, style: screen ? style : createStyle(false), show })
  agent.on('connected', event => (sessionId = event.sessionId))
  agent.once('initialized', ({ payload }) => {
    const name = speakerName(payload.agent?.name || setting.agent)
    const chosen = formatPlace(payload)
    if (chosen) show(screen ? style.dim(chosen) : chosen)
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
  const gate = followGates(agent)
  const lines = readLines(io.stdin, interrupted)
  const readLine = async () => (screen ? screen.readLine(interrupted) : ((await lines.next()).value ?? undefined))
  try {
    await agent.initialize({ context: options.context, signal: interrupted })
    const asksAgain = screen !== undefined
    if (!(await choose({ agent, gate, style, setting, readLine, asksAgain, interrupted, show }))) return
    await agent.connect({ signal: interrupted })
    if (screen)
      await chatInTerminal({ agent, screen, style, setting, interrupted, reconnect, sessionId: () => sessionId })
    else await chatFromPipe({ agent, io, lines, style, answerTimeoutMs: options.answerTimeoutMs, onLeaving })
  } finally {
    onLeaving()
    screen?.close()
  }
}

/** The selected portal and profile; empty without portals. */
function formatPlace({ portal, profile }: AgentEventPayloadMap['initialized']): string {
  if (!portal) return ''
  const of = profile ? `, profile ${nameOf(profile.name, profile.id)}` : ''
  return `Portal ${nameOf(portal.name, portal.id)}${of}.`
}
