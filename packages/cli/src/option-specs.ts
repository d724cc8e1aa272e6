import { CONFORM_SPEC } from './conform-options.ts'
import { DOCTOR_SPEC } from './doctor-options.ts'
import { COMMON, type CommandSpec, ENDPOINT, type OptionSpec } from './option-parts.ts'
import { TEST_SPEC } from './test-options.ts'

const OPEN = {
  type: 'boolean',
  help: 'open the playground in the browser',
} as const satisfies OptionSpec

const KNOWLEDGE = {
  type: 'string',
  value: '<dir>',
  help: 'folder of Markdown articles for the emulated agent (default: a help centre)',
} as const satisfies OptionSpec

const CHAT_SPEC = {
  summary: 'Talk to an agent in the terminal',
  description: [
    'In a terminal, type messages. Piped input is sent line by line, each line after the answer to the previous one.',
    'If there are portals, agents or profiles to choose from, the command asks; with piped input the next line is the choice.',
    'Exits with 0, or with 1 after an error or a line without an answer.',
  ],
  options: {
    endpoint: ENDPOINT,
    agent: { type: 'string', value: '<id>', help: 'id of the agent (default: help; with --login: account)' },
    token: {
      type: 'string',
      value: '<token>',
      help: 'access token; prefer the variable AIAGENT_TOKEN, which other users cannot see',
    },
    login: { type: 'boolean', help: 'sign in with your browser first; the token stays in memory' },
    'client-id': {
      type: 'string',
      value: '<id>',
      help: 'with --login: client id at the identity provider (default: from the deployment)',
    },
    'login-timeout': {
      type: 'string',
      value: '<seconds>',
      help: 'with --login: time limit for the login (default: 300)',
    },
    as: {
      type: 'string',
      value: '<user>',
      help: 'user of the emulator to sign in as, such as desk-agent or customer',
    },
    session: { type: 'string', value: '<id>', help: 'continue an existing session' },
    context: {
      type: 'string',
      multiple: true,
      value: '<name=value>',
      help: 'context attribute; can be repeated',
    },
    'init-param': {
      type: 'string',
      multiple: true,
      value: '<name=value>',
      help: 'init parameter, such as portalIds=1001,1002; can be repeated',
    },
    platform: {
      type: 'string',
      value: '<name>',
      help: 'platform of the contact center, whose connector is loaded; test with the emulator',
    },
    connector: {
      type: 'string',
      value: '<file>',
      help: "script of the platform's connector (default: the emulator's)",
    },
    knowledge: KNOWLEDGE,
    'answer-timeout': {
      type: 'string',
      value: '<seconds>',
      help: 'time limit for the answer to a piped line (default: 30)',
    },
    open: OPEN,
    'no-color': { type: 'boolean', help: 'disable colours, as NO_COLOR=1 does' },
    ...COMMON,
  },
  examples: [
    ['aiagent chat', 'talk to an emulated agent'],
    ['aiagent chat --endpoint https://agents.example.com --agent help', 'talk to an agent of a deployment'],
    ["printf 'How long is the warranty?\\n' | aiagent chat", 'send piped input'],
  ],
} as const satisfies CommandSpec

const TOKEN_SPEC = {
  summary: 'Show claims, scopes and remaining life of an access token',
  description: [
    'Requests an anonymous token, requests one with client credentials, or reads an existing token.',
    'Never prints the token or its signature.',
  ],
  options: {
    endpoint: ENDPOINT,
    agent: {
      type: 'string',
      value: '<id>',
      help: 'agent to request the anonymous token for; it may need further scopes',
    },
    token: {
      type: 'string',
      value: '<token>',
      help: 'token to read, or - for the input (default: the variable AIAGENT_TOKEN)',
    },
    'client-id': { type: 'string', value: '<id>', help: 'client id, for client credentials' },
    'client-secret-file': {
      type: 'string',
      value: '<file>',
      help: 'file with the client secret (default: the variable AIAGENT_CLIENT_SECRET)',
    },
    'token-url': { type: 'string', value: '<url>', help: 'token endpoint, for client credentials' },
    scopes: {
      type: 'string',
      value: '<a,b>',
      help: 'scopes to request, separated by commas (default: the scopes that the agent needs)',
    },
    json: { type: 'boolean', help: 'print JSON' },
    ...COMMON,
  },
  examples: [
    ['aiagent token --endpoint https://agents.example.com', 'request an anonymous token'],
    ['aiagent token --token -', 'read a token from the input'],
  ],
} as const satisfies CommandSpec

const EMULATE_SPEC = {
  summary: 'Run the emulator of the hosted service',
  description: [
    'Runs until Ctrl-C.',
    'On the page /desk you answer as the colleague to whom the agent hands over.',
    'The playground is a page with a chat, with everything that happens underneath, and with buttons that break it.',
  ],
  options: {
    port: { type: 'string', value: '<port>', help: 'port to listen on, or 0 for a free one (default: 8600)' },
    host: { type: 'string', value: '<host>', help: 'name or address to listen on (default: 127.0.0.1)' },
    tls: { type: 'boolean', help: 'serve https and wss with a development certificate' },
    'chat-host': {
      type: 'string',
      value: '<name>',
      help: 'name of the chat host, for clients that know aiAgentDomain only (default: chat.localhost)',
    },
    knowledge: KNOWLEDGE,
    seed: {
      type: 'string',
      value: '<number>',
      help: 'seed of all random values; the same seed gives the same ids (default: values that cannot be guessed)',
    },
    'token-life': { type: 'string', value: '<seconds>', help: 'life of issued tokens (default: 3600)' },
    'reply-delay': { type: 'string', value: '<ms>', help: 'delay of the answers of the agent (default: 0)' },
    data: {
      type: 'string',
      value: '<dir>',
      help: 'folder that keeps sessions, tokens and logins over a restart (default: none)',
    },
    capabilities: {
      type: 'string',
      value: '<a,b>',
      help: 'extensions of the wire to announce: receipts, resume, fencing (default: none)',
    },
    playground: { type: 'boolean', help: 'serve the playground, too' },
    open: OPEN,
    endpoint: {
      type: 'string',
      value: '<url>',
      help: 'with --playground: address of a deployment to talk to, instead of an emulator',
    },
    agent: { type: 'string', value: '<id>', help: 'with --endpoint: id of the agent (default: help)' },
    faults: {
      type: 'string',
      value: '<file>',
      help: 'JSON file of faults and their times: [{ "afterMs": 5000, "fault": { "kind": "drop" } }]',
    },
    ...COMMON,
  },
  examples: [
    ['aiagent emulate', 'serve on http://127.0.0.1:8600'],
    ['aiagent emulate --tls --port 8443', 'serve over TLS'],
    ['aiagent emulate --playground --open', 'open a page with a chat that can be broken'],
  ],
} as const satisfies CommandSpec

const COMPLETIONS_SPEC = {
  summary: 'Print the completions of a shell',
  description: ['Takes the shell first: aiagent completions bash, or zsh.'],
  words: ['bash', 'zsh'],
  options: { help: COMMON.help },
  examples: [
    ['source <(aiagent completions bash)', 'complete in this shell; put it into ~/.bashrc to keep it'],
    ['source <(aiagent completions zsh)', 'the same for zsh, in ~/.zshrc after compinit'],
  ],
} as const satisfies CommandSpec

const REPLAY_SPEC = {
  summary: 'Replay the recording of an agent',
  description: [
    'Takes the file with the recording first: aiagent replay trace.json. recorder.exportTrace() writes one.',
    'Names what the recording, and the client of today with the same frames, violates. Exits with 1 if the client does.',
  ],
  takesFiles: true,
  options: {
    'emit-test': { type: 'string', value: '<file>', help: 'write a vitest file that replays the recording' },
    ...COMMON,
  },
  examples: [['aiagent replay trace.json --emit-test trace.test.ts', 'replay, and write a test']],
} as const satisfies CommandSpec

export const COMMANDS = {
  chat: CHAT_SPEC,
  token: TOKEN_SPEC,
  emulate: EMULATE_SPEC,
  replay: REPLAY_SPEC,
  doctor: DOCTOR_SPEC,
  conform: CONFORM_SPEC,
  test: TEST_SPEC,
  completions: COMPLETIONS_SPEC,
} as const satisfies Record<string, CommandSpec>
export type CommandName = keyof typeof COMMANDS

/** The output of `aiagent --help`. */
export function programHelp(): string {
  return [
    'Usage: aiagent <command> [options]',
    '',
    'Talk to hosted AI agents, examine deployments, and run the emulator of the service.',
    '',
    'Commands:',
    ...columns(Object.entries(COMMANDS).map(([name, { summary }]) => [name, summary])),
    '',
    'Options:',
    ...columns([
      ['-h, --help', 'show this help'],
      ['-v, --version', 'show the version'],
    ]),
    '',
    'Run "aiagent <command> --help" for the options of a command.',
    '',
  ].join('\n')
}

/** The output of `aiagent <command> --help`. */
export function commandHelp(name: CommandName): string {
  const { summary, description, options, examples }: CommandSpec = COMMANDS[name]
  return [
    `Usage: aiagent ${name} [options]`,
    '',
    `${summary}.`,
    ...description,
    '',
    'Options:',
    ...columns(
      Object.entries(options).map(([option, { value, help }]) => [`--${option}${value ? ` ${value}` : ''}`, help]),
    ),
    '',
    'Examples:',
    ...columns(examples),
    '',
  ].join('\n')
}

function columns(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([left]) => left.length))
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`)
}
