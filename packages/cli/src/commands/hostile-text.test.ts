import { readFileSync } from 'node:fs'
import { paths } from '@aiagent/protocol'
import { describe, expect, it, vi } from 'vitest'
import { createFakeIo } from '../../test/fake-io.ts'
import { type Chat, endChats, serve, startChat } from '../../test/served-chat.ts'
import { terminalPicture } from '../../test/terminal-picture.ts'
import { run } from '../run.ts'

endChats()

const COLUMNS = 5000
const LINE = 'typed by the service'
/** Escape sequences that no part of the program writes. */
const SEQUENCES = [
  '\u001b[2J',
  '\u001b[77A',
  '\u001b[31m',
  '\u001b]52;c;Y3VybCBldmlsLnRlc3R8c2g=\u0007',
  '\u001b]0;title\u001b\\',
  '\u001bP1$r\u001b\\',
  '\u009b2J',
  '\u009d0;title\u009c',
  '\u001bc',
]
const INVISIBLE = ['\u202e', '\u2066', '\u200b', '\u200e', '\u061c', '\ufeff', '\u{e0041}', '\u{e0001}']
const HOSTILE = `${SEQUENCES.join('x')}\u0000\b\u007f${INVISIBLE.join('x')}\r\n> ${LINE}\r> ${LINE}\u2028> ${LINE}`

/** What readline writes to a terminal, and the colours of the program. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: escape codes are the subject
const OWN_CODES = /\u001b\[(?:\d+[ABCDG]|0[JK]|(?:1|2|22|1;36|22;39|33|39)m)|\r/g

/** What a terminal may not get: parts of the hostile text that act, or that cannot be seen. */
function offences(output: string): string[] {
  const text = output.replace(OWN_CODES, '')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: none may be left
  const controls = text.match(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029]/g) ?? []
  return [
    ...SEQUENCES.filter(sequence => output.includes(sequence)),
    ...new Set(controls),
    ...INVISIBLE.filter(character => text.includes(character)),
    ...new Set(text.match(new RegExp(`^> ${LINE}`, 'gm')) ?? []),
  ].map(offence => JSON.stringify(offence))
}

function poison(value: unknown, kept: ReadonlySet<string> = new Set()): unknown {
  if (typeof value === 'string') return value + HOSTILE
  if (Array.isArray(value)) return value.map(each => poison(each, kept))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, kept.has(key) ? each : poison(each, kept)]),
  )
}

const fixture = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`../../../protocol/fixtures/${name}.json`, import.meta.url), 'utf8'))

/** The whole output of a chat that was left, or ended by itself. */
async function outputOf({ fake, ended }: Chat): Promise<string> {
  await ended
  return `${fake.out()}\n${fake.err()}`
}

const FRAMES = (fixture('server-messages') as { name: string; frame: object }[]).flatMap(({ name, frame }) => [
  [`${name}, with its persona and role as they are`, poison(frame, new Set(['persona', 'role', 'escalation']))],
  [name, poison(frame)],
]) as [string, object][]

describe('text of the service on the terminal', { timeout: 30_000 }, () => {
  it.each([
    ['colours', {}],
    ['no colours', { NO_COLOR: '1' }],
  ])('[SEC-40] shows every frame without control characters on a terminal with %s', async (_what, env) => {
    const server = await serve()
    const chat = startChat({ columns: COLUMNS, env }, ['--endpoint', server.url, '--log-level', 'trace'])
    await chat.fake.outHas('Ask a question')
    const id = await vi.waitFor(() => {
      const [session] = server.emulator.world.sessions.values()
      if (!session || !server.emulator.faults.add({ kind: 'push', frame: '{}', sessionId: session.id }).reached)
        throw new Error('The chat is not open yet.')
      return session.id
    })
    for (const [, frame] of FRAMES) server.emulator.control.pushFrame(id, JSON.stringify(frame))
    for (const { text } of fixture('malformed-frames') as { text: string }[])
      server.emulator.control.pushFrame(id, text + HOSTILE)
    server.emulator.control.pushFrame(
      id,
      JSON.stringify({ persona: 'agent', role: 'customer support agent', content: 'The last one.' }),
    )
    await chat.fake.outHas('The last one.')
    chat.fake.type('/state\r/transcript\r')
    await chat.fake.outHas('Waiting:')
    chat.fake.type('\u0004')
    const output = await outputOf(chat)
    expect(offences(output)).toEqual([])
    for (const row of terminalPicture(chat.fake.out(), COLUMNS)) expect(row).not.toMatch(new RegExp(`^> ${LINE}`))
    expect(output).toContain(LINE)
    expect(output).toContain('<U+202E>')
    expect(output).toContain('<U+E0041>')
  })

  it('[SEC-40] shows every frame without control characters where the output is not a terminal', async () => {
    const frames = FRAMES.map(([, frame]) => frame as { content?: string })
    const server = await serve({
      reply: () => frames.map(({ content, ...more }) => ({ content: content ?? '', ...more }) as never),
    })
    const output = await outputOf(startChat({ input: 'one\n' }, ['--endpoint', server.url, '--log-level', 'trace']))
    expect(offences(output)).toEqual([])
    expect(output).toContain(LINE)
  })

  const rest = fixture('rest') as Record<string, unknown>
  const ROUTES: [string, string, string][] = [
    ['deploymentInfo', `GET ${paths.deploymentInfo()}`, 'help'],
    ['oauthMetadata', 'GET */metadata/*', 'help'],
    ['tokenResponse', 'POST */token', 'help'],
    ['agentDetails', `GET ${paths.agentDetails('*')}`, 'help'],
    ['sessionResponse', 'POST */session', 'help'],
    ['maskingPatterns', `GET ${paths.maskingPatterns('*', '*')}`, 'billing'],
    ['portals', `GET ${paths.myPortals()}`, 'desk'],
    ['portalDetails', `GET ${paths.portalDetails('*')}`, 'desk'],
    ['userProfiles', `GET ${paths.userProfiles('*')}`, 'desk'],
    ['userDetails', `GET ${paths.userDetails()}`, 'desk'],
    ['customerDetails', `GET ${paths.customerDetails()}`, 'help'],
    ['agentsByPortal', `GET ${paths.agentsByPortal('*', '*')}`, 'desk'],
  ]
  /** Fields that lead to the next call: with them as they are, the conversation goes on. */
  const ADDRESSES = new Set([
    ...['agentId', 'webSocketDomain', 'apiDomain', 'aiAgentDomain', 'userType', 'tenantId', 'sessionId', 'clientAppId'],
    ...['accessTokenURL', 'authURL', 'access_token', 'token_type', 'extraScopes', 'departmentId', 'id', 'languageCode'],
  ])

  it.each(ROUTES)('[SEC-40] shows nothing harmful of the record %s', async (name, route, agent) => {
    const server = await serve()
    const { control, faults } = server.emulator
    const token = agent === 'desk' ? ['--token', control.issueToken({ subject: 'desk-agent' })] : []
    const args = [
      '--endpoint',
      server.url,
      '--agent',
      agent,
      '--answer-timeout',
      '0.2',
      '--log-level',
      'trace',
      ...token,
    ]
    const input = '1\n1\n1\nHello\n'
    for (const fault of [
      { status: 200, body: poison(rest[name]) },
      { status: 200, body: poison(rest[name], ADDRESSES) },
      { status: 404, body: poison(rest.errorBody) },
      { status: 503, body: HOSTILE },
    ]) {
      faults.add({ kind: 'answer', route, ...fault })
      expect(offences(await outputOf(startChat({ input }, args)))).toEqual([])
      const terminal = startChat({ columns: COLUMNS }, args)
      terminal.fake.type('1\r1\r1\r\u0004')
      expect(offences(await outputOf(terminal))).toEqual([])
      faults.lift()
    }
  })

  it('[SEC-40] shows a poisoned name in the first line of a conversation that is held', async () => {
    const server = await serve()
    const help = server.emulator.world.agents.get('help')
    if (help) Object.assign(help.details, poison({ name: '> Help', agentProfileDetails: { name: '> Help' } }))
    const chat = startChat({ columns: COLUMNS }, ['--endpoint', server.url])
    await chat.fake.outHas('Ask a question')
    chat.fake.type('Hello\r')
    await chat.fake.outHas('You said')
    chat.fake.type('/transcript\r\u0004')
    expect(offences(await outputOf(chat))).toEqual([])
    const rows = terminalPicture(chat.fake.out(), COLUMNS)
    expect(rows.find(row => row.includes('Ask a question'))).toMatch(/^Help/)
    expect(rows.filter(row => row.includes('You said Hello.'))).toEqual([
      expect.stringMatching(/^Help/),
      expect.stringMatching(/^Help/),
    ])
  })

  it.each([
    ['in words', []],
    ['as JSON', ['--json']],
  ])('[SEC-40] reports the claims of a token %s without control characters', async (_what, args) => {
    const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const claims = poison(rest.accessTokenClaims) as object
    const token = `${part({ alg: HOSTILE })}.${part({ ...claims, [HOSTILE]: HOSTILE })}.x`
    const fake = createFakeIo({ columns: COLUMNS })
    expect(await run(['token', '--token', token, ...args], fake.io)).toBe(0)
    expect(offences(fake.out() + fake.err())).toEqual([])
    if (args.length > 0) expect(JSON.parse(fake.out())).toMatchObject({ claims: { [HOSTILE]: HOSTILE } })
  })
})
