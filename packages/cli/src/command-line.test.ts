import { describe, expect, it } from 'vitest'
import { parseCommandLine } from './command-line.ts'
import { COMMANDS, type CommandName } from './option-specs.ts'
import { UsageError } from './option-values.ts'

const problem = (args: string[]) => {
  try {
    parseCommandLine(args)
  } catch (error) {
    if (error instanceof UsageError) return `${error.message} ${error.hint}`
    throw error
  }
  return 'understood'
}

describe('parseCommandLine', () => {
  it('fills in what a chat has by default', () => {
    expect(parseCommandLine(['chat'])).toEqual({
      command: 'chat',
      options: {
        agent: 'help',
        context: {},
        initParams: {},
        answerTimeoutMs: 30_000,
        open: false,
        color: true,
        logLevel: { name: 'silent', showsStacks: false },
      },
    })
  })

  it('reads every option of a chat', () => {
    const args =
      'chat --endpoint wss://a.test --agent a1 --token t --session 7 --context plan=gold=plus --context vip= --answer-timeout 2.5 --open --no-color --log-level DEBUG'
    expect(parseCommandLine(args.split(' '))).toEqual({
      command: 'chat',
      options: {
        endpoint: 'wss://a.test',
        agent: 'a1',
        token: 't',
        session: '7',
        context: { plan: 'gold=plus', vip: '' },
        initParams: {},
        answerTimeoutMs: 2500,
        open: true,
        color: false,
        logLevel: { name: 'debug', showsStacks: true },
      },
    })
  })

  it('reads a login, which leads to an agent for signed-in people unless another is named', () => {
    const optionsOf = (text: string, env = {}) => {
      const line = parseCommandLine(['chat', ...text.split(' ')], env)
      return line.command === 'chat' ? line.options : undefined
    }
    expect(optionsOf('--login')).toMatchObject({ agent: 'account', login: { timeoutMs: 300_000 } })
    expect(optionsOf('--login --agent desk --client-id app --login-timeout 9')).toMatchObject({
      agent: 'desk',
      login: { clientId: 'app', timeoutMs: 9000 },
    })
    expect(optionsOf('--login', { AIAGENT_TOKEN: 't' })).not.toHaveProperty('token')
  })

  it('reads what a contact center needs', () => {
    const args =
      'chat --agent desk --as customer --init-param env=qa --platform test --connector c.mjs --init-param a=b=c'
    const line = parseCommandLine(args.split(' '), { AIAGENT_TOKEN: 't' })
    const options = line.command === 'chat' ? line.options : undefined
    const initParams = { env: 'qa', a: 'b=c', platform: 'test' }
    expect(options).toMatchObject({ agent: 'desk', as: 'customer', initParams, connector: 'c.mjs' })
    expect(options).not.toHaveProperty('token')
  })

  describe('for a token', () => {
    const optionsOf = (text: string, env = {}) => {
      const line = parseCommandLine(['token', ...text.split(' ').filter(Boolean)], env)
      return line.command === 'token' ? line.options : undefined
    }
    const credentials = '--client-id c --token-url https://login.test/token'

    it('fills in what is not given', () => {
      expect(optionsOf('')).toEqual({
        source: { kind: 'anonymous' },
        json: false,
        logLevel: { name: 'silent', showsStacks: false },
      })
    })

    it('reads what decides on an anonymous one', () => {
      expect(optionsOf('--endpoint a.test --agent a1 --scopes a,,b --json --log-level trace')).toEqual({
        endpoint: 'a.test',
        agent: 'a1',
        source: { kind: 'anonymous' },
        scopes: ['a', 'b'],
        json: true,
        logLevel: { name: 'trace', showsStacks: true },
      })
    })

    it.each([
      ['--token t', {}, { kind: 'given', token: 't' }],
      ['--token -', { AIAGENT_TOKEN: 'e' }, { kind: 'given' }],
      ['', { AIAGENT_TOKEN: 'e' }, { kind: 'given', token: 'e' }],
      ['', { AIAGENT_TOKEN: '' }, { kind: 'anonymous' }],
      [
        `${credentials} --client-secret-file f`,
        { AIAGENT_TOKEN: 'e', AIAGENT_CLIENT_SECRET: 's' },
        { kind: 'client-credentials', clientId: 'c', tokenUrl: 'https://login.test/token', secret: { file: 'f' } },
      ],
      [
        credentials,
        { AIAGENT_CLIENT_SECRET: 's' },
        { kind: 'client-credentials', clientId: 'c', tokenUrl: 'https://login.test/token', secret: { text: 's' } },
      ],
    ])('finds its source in "%s" with %j', (text, env, source) => {
      expect(optionsOf(text, env)?.source).toEqual(source)
    })
  })

  it('does not repeat what may be a token', () => {
    const token = `ey${'J'.repeat(40)}.sentinel`
    for (const args of [
      [token],
      ['token', token],
      ['chat', token],
      ['token', `--${token}`],
      ['token', '--token-url', token],
    ]) {
      const text = problem(args.includes('--token-url') ? [...args, '--client-id', 'c'] : args)
      expect(text).toContain('…')
      expect(text).not.toContain('sentinel')
    }
  })

  it('reads every option of the emulator', () => {
    const args =
      'emulate --port 0 --host ::1 --tls --chat-host chat.a.test --knowledge docs --seed 7 --token-life 60 --reply-delay 250 --capabilities receipts,resume --data state --playground --open --faults f.json --log-level warn'
    expect(parseCommandLine(args.split(' '))).toEqual({
      command: 'emulate',
      options: {
        port: 0,
        host: '::1',
        tls: true,
        chatHost: 'chat.a.test',
        knowledge: 'docs',
        seed: 7,
        tokenLifeSeconds: 60,
        replyDelayMs: 250,
        capabilities: ['receipts', 'resume'],
        data: 'state',
        playground: { agent: 'help', open: true },
        faults: 'f.json',
        logLevel: { name: 'warn', showsStacks: false },
      },
    })
  })

  it('takes the token from the environment, unless the command line has one', () => {
    const tokenOf = (args: string[]) => parseCommandLine(['chat', ...args], { AIAGENT_TOKEN: 'secret' })
    expect(tokenOf([])).toMatchObject({ options: { token: 'secret' } })
    expect(tokenOf(['--token', 'other'])).toMatchObject({ options: { token: 'other' } })
  })

  it('honours NO_COLOR when it is not empty', () => {
    expect(parseCommandLine(['chat'], { NO_COLOR: '1' })).toMatchObject({ options: { color: false } })
    expect(parseCommandLine(['chat'], { NO_COLOR: '' })).toMatchObject({ options: { color: true } })
  })

  it.each([
    [
      [],
      'A command is missing: chat, token, emulate, replay, doctor, conform, test or completions. See aiagent --help.',
    ],
    [
      ['talk'],
      'Unknown command "talk". The commands are chat, token, emulate, replay, doctor, conform, test and completions. See aiagent --help.',
    ],
    [
      ['toString'],
      'Unknown command "toString". The commands are chat, token, emulate, replay, doctor, conform, test and completions. See aiagent --help.',
    ],
    [['--port', '1'], 'Unknown option --port; put options after the command. See aiagent --help.'],
    [['chat', '--port', '1'], 'Unknown option --port. See aiagent chat --help.'],
    [['chat', 'hello'], 'Unexpected argument hello. See aiagent chat --help.'],
    [['chat', '--endpoint'], '--endpoint needs a value. See aiagent chat --help.'],
    [['chat', '--endpoint', '--agent', 'a'], '--endpoint needs a value. See aiagent chat --help.'],
    [['chat', '--agent', ' '], '--agent is empty. See aiagent chat --help.'],
    [['chat', '--no-color=yes'], '--no-color takes no value. See aiagent chat --help.'],
    [['chat', '--context', 'plan'], '--context takes <name=value>, not "plan". See aiagent chat --help.'],
    [
      ['chat', '--answer-timeout', '0'],
      '--answer-timeout must be a number above 0 and up to 2000000, not "0". See aiagent chat --help.',
    ],
    [['emulate', '--token-life=-1'], '--token-life must be a number above 0, not "-1". See aiagent emulate --help.'],
    [
      ['chat', '--endpoint', 'a.test', '--knowledge', 'docs'],
      '--knowledge applies to the emulator. Use either --knowledge or --endpoint. See aiagent chat --help.',
    ],
    [
      ['chat', '--log-level', 'loud'],
      '--log-level must be one of trace, debug, info, warn, error, silent, not "loud". See aiagent chat --help.',
    ],
    [
      ['emulate', '--chat-host', 'a.test'],
      '--chat-host must begin with "chat." and have no port, not "a.test". See aiagent emulate --help.',
    ],
    [
      ['emulate', '--port', '65536'],
      '--port must be a whole number from 0 to 65535, not "65536". See aiagent emulate --help.',
    ],
    [
      ['emulate', '--port', '80.5'],
      '--port must be a whole number from 0 to 65535, not "80.5". See aiagent emulate --help.',
    ],
    [['chat', '--login', '--token', 't'], 'Use either --login or --token. See aiagent chat --help.'],
    [
      ['chat', '--token', '-'],
      '--token - works with "aiagent token" only: here the input is the conversation. See aiagent chat --help.',
    ],
    [['chat', '--login-timeout', '5'], '--client-id and --login-timeout need --login. See aiagent chat --help.'],
    [
      ['chat', '--as', 'customer', '--endpoint', 'a.test'],
      '--as applies to the emulator. Use either --as or --endpoint. See aiagent chat --help.',
    ],
    [['chat', '--as', 'customer', '--token', 't'], 'Use either --as or --token. See aiagent chat --help.'],
    [['chat', '--init-param', 'a'], '--init-param takes <name=value>, not "a". See aiagent chat --help.'],
    [
      ['chat', '--connector', 'c.mjs', '--init-param', 'platform= '],
      '--connector needs --platform. See aiagent chat --help.',
    ],
    [['token', '--scopes', ','], '--scopes is empty. See aiagent token --help.'],
    [
      ['token', '--token', 't', '--scopes', 'a'],
      '--scopes applies to requested tokens, not to --token or AIAGENT_TOKEN. See aiagent token --help.',
    ],
    [
      ['token', '--token', 't', '--client-id', 'c'],
      'Use either --token or client credentials. See aiagent token --help.',
    ],
    [
      ['token', '--token-url', 'https://a.test'],
      '--client-id is missing. Client credentials need it. See aiagent token --help.',
    ],
    [['token', '--client-id', 'c'], '--token-url is missing. Client credentials need it. See aiagent token --help.'],
    [
      ['token', '--client-id', 'c', '--token-url', 'a.test'],
      '--token-url must be an address, not "a.test". See aiagent token --help.',
    ],
    [
      ['token', '--client-id', 'c', '--token-url', 'https://a.test'],
      'The client secret is missing. Use --client-secret-file or set AIAGENT_CLIENT_SECRET. See aiagent token --help.',
    ],
    [
      ['emulate', '--capabilities', 'receipts,resumes'],
      '--capabilities takes receipts, resume, fencing, not "resumes". See aiagent emulate --help.',
    ],
    [['emulate', '--open'], '--open needs --playground. See aiagent emulate --help.'],
    [['emulate', '--endpoint', 'https://a.test'], '--endpoint needs --playground. See aiagent emulate --help.'],
    [['emulate', '--playground', '--agent', 'a'], '--agent needs --endpoint. See aiagent emulate --help.'],
    [['emulate', '--seed', 'x'], '--seed must be a whole number, not "x". See aiagent emulate --help.'],
  ])('says what is wrong with %j', (args, message) => {
    expect(problem(args)).toBe(message)
  })

  it.each(Object.keys(COMMANDS) as CommandName[])('has help for %s that names each of its options', name => {
    const help = parseCommandLine([name, '--help'])
    expect(help.command).toBe('help')
    const text = help.command === 'help' ? help.text : ''
    for (const option of Object.keys(COMMANDS[name].options)) expect(text).toContain(`\n  --${option}`)
    expect(parseCommandLine(['help', name])).toEqual(help)
  })

  it('has help that names every command, and a version', () => {
    const help = parseCommandLine(['--help'])
    for (const name of Object.keys(COMMANDS))
      expect(help).toMatchObject({ text: expect.stringContaining(`  ${name} `) })
    expect(parseCommandLine(['--version'])).toEqual({ command: 'version' })
  })
})
