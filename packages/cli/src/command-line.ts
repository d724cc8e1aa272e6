import { CAPABILITY, type Capability } from '@aiagent/protocol'
import { SHELLS, type Shell } from './completions.ts'
import { type ConformOptions, conformOptions } from './conform-options.ts'
import { type DoctorCommandOptions, doctorOptions } from './doctor-options.ts'
import type { LogThreshold } from './log-threshold.ts'
import { COMMANDS, type CommandName, commandHelp, programHelp } from './option-specs.ts'
import { shown, UsageError, Values } from './option-values.ts'
import { type TestOptions, testOptions } from './test-options.ts'

export interface ChatOptions {
  /** Address of the deployment. Without it, an emulator is started. */
  endpoint?: string
  agent: string
  token?: string
  /** Set if the user has to sign in first. */
  login?: LoginOptions
  /** User of the emulator to sign in as. */
  as?: string
  session?: string
  context: Record<string, string>
  /** Init parameters, including `platform`. */
  initParams: Record<string, string>
  /** File with the script of the platform's connector. */
  connector?: string
  knowledge?: string
  answerTimeoutMs: number
  /** Whether to open the playground in the browser. */
  open: boolean
  /** False disables colours. True uses them if the terminal supports them. */
  color: boolean
  logLevel: LogThreshold
}

export interface LoginOptions {
  /** Client id at the identity provider. Default: the one of the deployment. */
  clientId?: string
  /** Time limit for the login, in milliseconds. */
  timeoutMs: number
}

export interface TokenOptions {
  /** Address of the deployment. Without it, an emulator is started if a service is needed. */
  endpoint?: string
  /** Agent to request the anonymous token for. It determines the scopes. */
  agent?: string
  source: TokenSource
  /** Scopes to request. Default: the scopes that the agent needs. */
  scopes?: readonly string[]
  json: boolean
  logLevel: LogThreshold
}

/** Source of the token. */
export type TokenSource =
  | { kind: 'anonymous' }
  /** Without `token`, it is read from the input. */
  | { kind: 'given'; token?: string }
  | { kind: 'client-credentials'; clientId: string; tokenUrl: string; secret: { file: string } | { text: string } }

export interface EmulateOptions {
  port: number
  host: string
  tls: boolean
  /** Name of the chat host; the emulator's default without it. */
  chatHost?: string
  knowledge?: string
  seed?: number
  tokenLifeSeconds?: number
  replyDelayMs?: number
  /** Folder that keeps the state over a restart. */
  data?: string
  /** Extensions of the wire that the emulator announces. */
  capabilities?: readonly Capability[]
  /** File with a schedule of faults. */
  faults?: string
  /** Set if the playground is served. */
  playground?: PlaygroundOptions
  logLevel: LogThreshold
}

export interface PlaygroundOptions {
  /** Address of a deployment to talk to, instead of an emulator. */
  endpoint?: string
  /** Agent of the deployment. */
  agent: string
  /** Whether to open it in the browser. */
  open: boolean
}

/** Options of `aiagent replay`. */
export interface ReplayOptions {
  /** File with the recording. */
  trace: string
  /** File to write a test to. */
  emitTest?: string
  logLevel: LogThreshold
}

/** A parsed command line. */
export type CommandLine =
  | { command: 'help'; text: string }
  | { command: 'version' }
  | { command: 'chat'; options: ChatOptions }
  | { command: 'token'; options: TokenOptions }
  | { command: 'emulate'; options: EmulateOptions }
  | { command: 'replay'; options: ReplayOptions }
  | { command: 'doctor'; options: DoctorCommandOptions }
  | { command: 'conform'; options: ConformOptions }
  | { command: 'test'; options: TestOptions }
  | { command: 'completions'; shell: Shell }

type Variables = Readonly<Record<string, string | undefined>>

/** Timers with a longer delay fire at once. */
const LONGEST_TIMEOUT_SECONDS = 2_000_000

/**
 * Parses the arguments of the program.
 *
 * @param env environment variables; AIAGENT_TOKEN, AIAGENT_CLIENT_SECRET and NO_COLOR are used
 * @throws {UsageError} when the arguments are invalid
 */
export function parseCommandLine(args: readonly string[], env: Variables = {}): CommandLine {
  const [first, ...rest] = args
  if (first === undefined) throw new UsageError(`A command is missing: ${enumerated('or')}.`)
  if (first === '--help' || first === '-h' || first === 'help') return { command: 'help', text: helpFor(rest[0]) }
  if (first === '--version' || first === '-v') return { command: 'version' }
  if (!isCommand(first))
    throw new UsageError(
      first.startsWith('-')
        ? `Unknown option ${shown(first)}; put options after the command.`
        : `Unknown command "${shown(first)}". The commands are ${enumerated('and')}.`,
    )
  // A recording and talks are named without an option, before the options.
  const most = first === 'replay' || first === 'completions' ? 1 : first === 'test' ? rest.length : 0
  const end = rest.findIndex(argument => argument.startsWith('-'))
  const files = rest.slice(0, Math.min(most, end < 0 ? rest.length : end))
  const values = new Values(first, COMMANDS[first].options, rest.slice(files.length))
  if (values.flag('help')) return { command: 'help', text: commandHelp(first) }
  switch (first) {
    case 'chat':
      return { command: 'chat', options: chatOptions(values, env) }
    case 'token':
      return { command: 'token', options: tokenOptions(values, env) }
    case 'emulate':
      return { command: 'emulate', options: emulateOptions(values) }
    case 'replay':
      return { command: 'replay', options: replayOptions(values, files[0]) }
    case 'doctor':
      return { command: 'doctor', options: doctorOptions(values, env) }
    case 'conform':
      return { command: 'conform', options: conformOptions(values, env) }
    case 'completions': {
      const shell = SHELLS.find(name => name === files[0])
      if (!shell) throw values.error(`The shell must be one of ${SHELLS.join(' and ')}: aiagent completions bash`)
      return { command: 'completions', shell }
    }
    case 'test':
      return { command: 'test', options: testOptions(values, files, env) }
    default:
      return first satisfies never
  }
}

/** The names of the commands, joined for a sentence. */
function enumerated(conjunction: 'and' | 'or'): string {
  const names = Object.keys(COMMANDS)
  return `${names.slice(0, -1).join(', ')} ${conjunction} ${names.at(-1)}`
}

function helpFor(name: string | undefined): string {
  return name !== undefined && isCommand(name) ? commandHelp(name) : programHelp()
}

function isCommand(name: string): name is CommandName {
  return Object.hasOwn(COMMANDS, name)
}

function chatOptions(values: Values, env: Variables): ChatOptions {
  const endpoint = values.text('endpoint')
  const login = loginOptions(values)
  const given = values.text('token')
  if (login && given !== undefined) throw values.error('Use either --login or --token')
  if (given === '-') throw values.error('--token - works with "aiagent token" only: here the input is the conversation')
  const as = values.text('as')
  if (as !== undefined && endpoint !== undefined) throw values.error(forOwnEmulator('--as'))
  if (as !== undefined && (login || given !== undefined))
    throw values.error(`Use either --as or ${login ? '--login' : '--token'}`)
  // With --login or --as, a token in the environment is ignored.
  const token = login || as !== undefined ? undefined : (given ?? (env.AIAGENT_TOKEN || undefined))
  const session = values.text('session')
  const knowledge = values.text('knowledge')
  if (endpoint !== undefined && knowledge !== undefined) throw values.error(forOwnEmulator('--knowledge'))
  const platform = values.text('platform')
  const initParams = { ...values.pairs('init-param'), ...(platform !== undefined && { platform }) }
  const connector = values.text('connector')
  if (connector !== undefined && !initParams.platform?.trim()) throw values.error('--connector needs --platform')
  return {
    ...(endpoint !== undefined && { endpoint }),
    agent: values.text('agent') ?? (login ? 'account' : 'help'),
    ...(login && { login }),
    ...(token !== undefined && { token }),
    ...(as !== undefined && { as }),
    ...(session !== undefined && { session }),
    context: values.pairs('context'),
    initParams,
    ...(connector !== undefined && { connector }),
    ...(knowledge !== undefined && { knowledge }),
    answerTimeoutMs: (values.number('answer-timeout', { above: 0, max: LONGEST_TIMEOUT_SECONDS }) ?? 30) * 1000,
    open: values.flag('open'),
    color: !values.flag('no-color') && !env.NO_COLOR,
    logLevel: values.logLevel(),
  }
}

const forOwnEmulator = (option: string) => `${option} applies to the emulator. Use either ${option} or --endpoint`

function loginOptions(values: Values): LoginOptions | undefined {
  const clientId = values.text('client-id')
  const timeout = values.number('login-timeout', { above: 0, max: LONGEST_TIMEOUT_SECONDS })
  if (values.flag('login')) return { ...(clientId !== undefined && { clientId }), timeoutMs: (timeout ?? 300) * 1000 }
  if (clientId !== undefined || timeout !== undefined)
    throw values.error('--client-id and --login-timeout need --login')
  return undefined
}

function tokenOptions(values: Values, env: Variables): TokenOptions {
  const endpoint = values.text('endpoint')
  const agent = values.text('agent')
  const scopes = values.list('scopes')
  const source = tokenSource(values, env)
  if (source.kind === 'given' && scopes)
    throw values.error('--scopes applies to requested tokens, not to --token or AIAGENT_TOKEN')
  return {
    ...(endpoint !== undefined && { endpoint }),
    ...(agent !== undefined && { agent }),
    source,
    ...(scopes && { scopes }),
    json: values.flag('json'),
    logLevel: values.logLevel(),
  }
}

function tokenSource(values: Values, env: Variables): TokenSource {
  const token = values.text('token')
  const clientId = values.text('client-id')
  const file = values.text('client-secret-file')
  const tokenUrl = values.text('token-url')
  if (clientId === undefined && file === undefined && tokenUrl === undefined) {
    const given = token ?? (env.AIAGENT_TOKEN || undefined)
    if (given === undefined) return { kind: 'anonymous' }
    return { kind: 'given', ...(given !== '-' && { token: given }) }
  }
  if (token !== undefined) throw values.error('Use either --token or client credentials')
  if (clientId === undefined) throw values.error('--client-id is missing. Client credentials need it')
  if (tokenUrl === undefined) throw values.error('--token-url is missing. Client credentials need it')
  if (!URL.canParse(tokenUrl)) throw values.error(`--token-url must be an address, not "${shown(tokenUrl)}"`)
  const text = env.AIAGENT_CLIENT_SECRET
  if (file !== undefined) return { kind: 'client-credentials', clientId, tokenUrl, secret: { file } }
  if (text) return { kind: 'client-credentials', clientId, tokenUrl, secret: { text } }
  throw values.error('The client secret is missing. Use --client-secret-file or set AIAGENT_CLIENT_SECRET')
}

const CAPABILITIES = Object.values(CAPABILITY)

function emulateOptions(values: Values): EmulateOptions {
  const knowledge = values.text('knowledge')
  const seed = values.number('seed', { whole: true })
  const tokenLifeSeconds = values.number('token-life', { above: 0 })
  const faults = values.text('faults')
  const chatHost = values.text('chat-host')
  if (chatHost !== undefined && !/^chat\.[a-z\d.-]+$/i.test(chatHost))
    throw values.error(`--chat-host must begin with "chat." and have no port, not "${shown(chatHost)}"`)
  const data = values.text('data')
  const capabilities = values.list('capabilities')?.map(name => {
    const known = CAPABILITIES.find(capability => capability === name)
    if (known) return known
    throw values.error(`--capabilities takes ${CAPABILITIES.join(', ')}, not "${shown(name)}"`)
  })
  const playground = playgroundOptions(values)
  const replyDelayMs = values.number('reply-delay', { min: 0, max: LONGEST_TIMEOUT_SECONDS * 1000 })
  return {
    port: values.number('port', { whole: true, min: 0, max: 65_535 }) ?? 8600,
    host: values.text('host') ?? '127.0.0.1',
    tls: values.flag('tls'),
    ...(chatHost !== undefined && { chatHost }),
    ...(knowledge !== undefined && { knowledge }),
    ...(seed !== undefined && { seed }),
    ...(tokenLifeSeconds !== undefined && { tokenLifeSeconds }),
    ...(replyDelayMs !== undefined && { replyDelayMs }),
    ...(capabilities && { capabilities }),
    ...(data !== undefined && { data }),
    ...(faults !== undefined && { faults }),
    ...(playground && { playground }),
    logLevel: values.logLevel(),
  }
}

function playgroundOptions(values: Values): PlaygroundOptions | undefined {
  const endpoint = values.text('endpoint')
  const agent = values.text('agent')
  const open = values.flag('open')
  if (agent !== undefined && endpoint === undefined) throw values.error('--agent needs --endpoint')
  if (values.flag('playground')) return { ...(endpoint !== undefined && { endpoint }), agent: agent ?? 'help', open }
  if (endpoint !== undefined || open) throw values.error(`--${open ? 'open' : 'endpoint'} needs --playground`)
  return undefined
}

function replayOptions(values: Values, trace: string | undefined): ReplayOptions {
  if (trace === undefined) throw values.error('The file with the recording is missing: aiagent replay <file>')
  const emitTest = values.text('emit-test')
  return { trace, ...(emitTest !== undefined && { emitTest }), logLevel: values.logLevel() }
}
