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
    'The exit code is 0, or 1 when a line went unanswered or something failed.',
  ],
  options: {
    endpoint: { type: 'string', value: 'URL', help: 'address of the deployment' },
    agent: { type: 'string', value: 'ID', help: 'id of the agent (help)' },
    token: {
      type: 'string',
      value: 'TOKEN',
      help: 'access token; also taken from AIAGENT_TOKEN, out of sight of others',
    },
    session: { type: 'string', value: 'ID', help: 'go on with a session that exists' },
    context: {
      type: 'string',
      multiple: true,
      value: 'NAME=VALUE',
      help: 'attribute the conversation starts with; can be repeated',
    },
    knowledge: KNOWLEDGE,
    'answer-timeout': { type: 'string', value: 'SECONDS', help: 'longest wait for an answer to a piped line (30)' },
    'no-color': { type: 'boolean', help: 'no colours; NO_COLOR=1 does the same' },
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

export const COMMANDS = { chat: CHAT_SPEC, emulate: EMULATE_SPEC } as const satisfies Record<string, CommandSpec>
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
