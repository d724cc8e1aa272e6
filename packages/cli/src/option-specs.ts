/** One option of a command: what parses it and what its help says. */
export interface OptionSpec {
  readonly type: 'string' | 'boolean'
  readonly multiple?: boolean
  /** Stands for the value in the help. */
  readonly value?: string
  readonly help: string
}

export interface CommandSpec {
  readonly summary: string
  readonly description: readonly string[]
  readonly options: Readonly<Record<string, OptionSpec>>
}

const COMMON = {
  'log-level': {
    type: 'string',
    value: 'LEVEL',
    help: 'trace, debug, info, warn, error or silent; debug and trace also show stack traces (silent)',
  },
  help: { type: 'boolean', help: 'show this help' },
} as const satisfies CommandSpec['options']

const KNOWLEDGE = {
  type: 'string',
  value: 'DIR',
  help: 'folder of Markdown articles that the emulated agent answers from (a help centre of its own)',
} as const satisfies OptionSpec

const CHAT_SPEC = {
  summary: 'hold a conversation with an agent in the terminal',
  description: [
    'Without --endpoint an emulator is started for this conversation, on a free port of this machine.',
    'In a terminal you type; piped input is sent line by line, each once the line before is answered.',
    'Where there is a portal, an agent or a profile to choose, you are asked; of piped input the next line is the choice.',
    'The exit code is 0, or 1 when a line went unanswered or something failed.',
  ],
  options: {
    endpoint: { type: 'string', value: 'URL', help: 'address of the deployment' },
    agent: { type: 'string', value: 'ID', help: 'id of the agent (help; with --login account)' },
    token: {
      type: 'string',
      value: 'TOKEN',
      help: 'access token; also taken from AIAGENT_TOKEN, out of sight of others',
    },
    login: {
      type: 'boolean',
      help: 'sign in with your browser first; the token stays in memory and is renewed while the chat is open',
    },
    'client-id': {
      type: 'string',
      value: 'ID',
      help: 'with --login: client id of this command at the identity provider (what the deployment names)',
    },
    'login-timeout': { type: 'string', value: 'SECONDS', help: 'with --login: longest wait for you to sign in (300)' },
    as: {
      type: 'string',
      value: 'ROLE',
      help: 'who you are to the emulator: desk-agent, desk-supervisor, customer, … (a desk agent where the agent is for staff)',
    },
    session: { type: 'string', value: 'ID', help: 'go on with a session that exists' },
    context: {
      type: 'string',
      multiple: true,
      value: 'NAME=VALUE',
      help: 'attribute the conversation starts with; can be repeated',
    },
    'init-param': {
      type: 'string',
      multiple: true,
      value: 'NAME=VALUE',
      help: 'parameter that a host application would hand through, such as portalIds=1001,1002; can be repeated',
    },
    platform: {
      type: 'string',
      value: 'NAME',
      help: "the desk's platform, whose connector is loaded; test with the emulator",
    },
    connector: { type: 'string', value: 'FILE', help: "script of the platform's connector (the emulator's own)" },
    knowledge: KNOWLEDGE,
    'answer-timeout': { type: 'string', value: 'SECONDS', help: 'longest wait for an answer to a piped line (30)' },
    'no-color': { type: 'boolean', help: 'no colours; NO_COLOR=1 does the same' },
    ...COMMON,
  },
} as const satisfies CommandSpec

const TOKEN_SPEC = {
  summary: 'show what an access token is good for, and for how long',
  description: [
    'Asks for an anonymous token, or for one by client credentials, or reads one that exists. Without --endpoint the',
    'anonymous token is asked of an emulator. Shows claims, scopes and remaining life; never the token, nor its signature.',
  ],
  options: {
    endpoint: { type: 'string', value: 'URL', help: 'address of the deployment' },
    agent: { type: 'string', value: 'ID', help: 'agent that the anonymous token is for: it may need further scopes' },
    token: {
      type: 'string',
      value: 'TOKEN',
      help: 'a token to read; - reads it from the input. Also taken from AIAGENT_TOKEN',
    },
    'client-id': { type: 'string', value: 'ID', help: 'client id, for a token by client credentials' },
    'client-secret-file': {
      type: 'string',
      value: 'FILE',
      help: 'file with the client secret; AIAGENT_CLIENT_SECRET does without one',
    },
    'token-url': { type: 'string', value: 'URL', help: 'address of the token endpoint, for client credentials' },
    scopes: { type: 'string', value: 'A,B', help: 'what to ask for, separated by commas (what the agent needs)' },
    json: { type: 'boolean', help: 'print it as JSON' },
    ...COMMON,
  },
} as const satisfies CommandSpec

const EMULATE_SPEC = {
  summary: 'run the emulator: the hosted service, on this machine',
  description: ['Runs until Ctrl-C.'],
  options: {
    port: { type: 'string', value: 'PORT', help: 'port to listen on; 0 takes a free one (8600)' },
    host: { type: 'string', value: 'HOST', help: 'name or address to listen on (127.0.0.1)' },
    tls: { type: 'boolean', help: 'serve https and wss with a development certificate of its own making' },
    'chat-host': {
      type: 'string',
      value: 'NAME',
      help: 'name of the chat host, for clients that know aiAgentDomain only (chat.localhost)',
    },
    knowledge: KNOWLEDGE,
    seed: {
      type: 'string',
      value: 'N',
      help: 'where everything random starts from; the same seed gives the same ids (1)',
    },
    'token-life': { type: 'string', value: 'SECONDS', help: 'life of the tokens it issues (3600)' },
    'reply-delay': { type: 'string', value: 'MS', help: 'time the agent takes before it answers (0)' },
    faults: {
      type: 'string',
      value: 'FILE',
      help: 'JSON file with what goes wrong and when: [{ "afterMs": 5000, "fault": { "kind": "drop" } }]',
    },
    ...COMMON,
  },
} as const satisfies CommandSpec

export const COMMANDS = {
  chat: CHAT_SPEC,
  token: TOKEN_SPEC,
  emulate: EMULATE_SPEC,
} as const satisfies Record<string, CommandSpec>
export type CommandName = keyof typeof COMMANDS

/** What `aiagent --help` prints. */
export function programHelp(): string {
  return [
    'Usage: aiagent COMMAND [OPTIONS]',
    '',
    ...columns(Object.entries(COMMANDS).map(([name, { summary }]) => [name, summary])),
    '',
    ...columns([
      ['--help', 'show this help; aiagent COMMAND --help shows that of a command'],
      ['--version', 'show the version'],
    ]),
    '',
  ].join('\n')
}

/** What `aiagent COMMAND --help` prints. */
export function commandHelp(name: CommandName): string {
  const { summary, description, options }: CommandSpec = COMMANDS[name]
  return [
    `Usage: aiagent ${name} [OPTIONS]`,
    '',
    `${summary[0]?.toUpperCase()}${summary.slice(1)}.`,
    ...description,
    '',
    ...columns(
      Object.entries(options).map(([option, { value, help }]) => [`--${option}${value ? ` ${value}` : ''}`, help]),
    ),
    '',
  ].join('\n')
}

function columns(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([left]) => left.length))
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`)
}
