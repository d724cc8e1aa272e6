import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { EmulatorServer } from '@aiagent/emulator/node'
import { describe, expect, it } from 'vitest'
import type { FakeIoOptions } from '../../test/fake-io.ts'
import { type Chat, endChats, serve, startChat } from '../../test/served-chat.ts'
import { terminalPicture } from '../../test/terminal-picture.ts'

const COLUMNS = 200
const OPTIONS = 'follow up question agent'
endChats()

const chat = (server: EmulatorServer, io: FakeIoOptions, ...args: string[]): Chat =>
  startChat(io, ['--endpoint', server.url, ...args])

/** A chat in a terminal, with its prompt there. */
async function openTerminal(server: EmulatorServer, ...args: string[]) {
  const { fake, ended } = chat(server, { columns: COLUMNS, env: { NO_COLOR: '1' } }, ...args)
  await fake.outHas('Playground: ')
  return {
    fake,
    ended,
    type: (keys: string) => void fake.stdin.emit('data', Buffer.from(keys)),
    picture: () => terminalPicture(fake.out(), COLUMNS),
  }
}

const sessionOf = ({ emulator }: EmulatorServer) => [...emulator.world.sessions.keys()].at(-1) ?? ''

describe('chat with piped input', () => {
  it('sends each line once the one before is answered, and options stay with their line', async () => {
    const texts: string[] = []
    const server = await serve({
      reply: ({ text, history }) => {
        texts.push(`${text} after ${history.length}`)
        return [
          { content: `Answer to ${text}.` },
          { content: 'More?', role: OPTIONS, messageData: { options: [`${text}!`] } },
        ]
      },
    })
    const { fake, ended } = chat(server, { input: 'one\n\n  two  \nthree' })
    expect(await ended).toBe(0)
    expect(texts).toEqual(['one after 0', 'two after 3', 'three after 6'])
    expect(fake.out()).toBe(
      ['one', 'two', 'three']
        .map(text => `> ${text}\nHelp Centre: Answer to ${text}.\nHelp Centre: More?\n  1) ${text}!\n`)
        .join(''),
    )
    expect(fake.err()).toBe('')
  })

  it('[FLOW-19] shows what is sent instead of a masked line', async () => {
    const server = await serve({ reply: ({ text }) => ({ content: `You said: ${text}` }) })
    const { fake, ended } = chat(server, { input: 'Card 4111 1111 1111 1111\nthanks\n' }, '--agent', 'billing')
    expect(await ended).toBe(0)
    expect(fake.out()).toBe(
      [
        '> Card 4111 1111 1111 1111',
        '  Sent as: Card ***************1111',
        'Billing Help: You said: Card ***************1111',
        '> thanks',
        'Billing Help: You said: thanks\n',
      ].join('\n'),
    )
  })

  it('continues after an error of the service, and ends with 1', async () => {
    const server = await serve({
      reply: ({ text }) => {
        if (text === 'one') throw new Error('Out of order')
        return { content: 'Fine.' }
      },
    })
    const { fake, ended } = chat(server, { input: 'one\ntwo\n' })
    expect(await ended).toBe(1)
    expect(fake.out()).toBe('> one\n> two\nHelp Centre: Fine.\n')
    expect(fake.err()).toMatch(/The service reports an error: .*Out of order.*\n.*One line was not answered/)
  })

  it('ends with 1 when the service closes the conversation before an answer', async () => {
    const server = await serve({ reply: () => new Promise(() => {}), settings: { heartbeatBeforeReply: false } })
    const { fake, ended } = chat(server, { input: 'one\ntwo\n' })
    await eventuallyReceived(server, 'one')
    server.emulator.control.dropSockets(1000)
    expect(await ended).toBe(1)
    expect(fake.err()).toMatch(/closed the conversation \(code 1000.*\n.*ended without an answer to "one"/)
  })

  it('waits for what the service still says until it has closed, and for no longer when it does not close', async () => {
    const server = await serve()
    const { fake, ended } = chat(server, { input: 'one\n' })
    expect(await ended).toBe(0)
    const frames = server.emulator.control.frames(sessionOf(server)).map(({ message }) => message?.role)
    expect(frames).toEqual(['human', 'graceful disconnect'])
    expect(fake.err()).toBe('')
  })

  it('names the context attributes that the service rejected', async () => {
    const server = await serve({ settings: { contextValueLimit: 5 } })
    const { fake, ended } = chat(
      server,
      { input: 'one\n' },
      '--context',
      'plan=gold',
      '--context',
      'story=too long a story',
    )
    expect(await ended).toBe(0)
    expect(fake.err()).toMatch(/^The service rejected context attributes: story \(/)
    expect([...server.emulator.world.sessions.values()].at(-1)?.context).toEqual({ plan: 'gold' })
  })

  it('shows the previous messages of a resumed session', async () => {
    const server = await serve()
    await chat(server, { input: 'one\n' }).ended
    const { fake, ended } = chat(server, { input: 'two\n' }, '--session', sessionOf(server))
    expect(await ended).toBe(0)
    expect(fake.err()).toBe('Earlier in this conversation:\nYou: one\nHelp Centre: You said one.\n')
  })

  it('talks to an agent for signed-in people with a token', async () => {
    const server = await serve()
    const token = await server.emulator.control.issueToken()
    const { fake, ended } = chat(server, { input: 'one\n' }, '--agent', 'account', '--token', token)
    expect(await ended).toBe(0)
    expect(fake.out()).toBe('> one\nAccount Desk: You said one.\n')
  })

  it.each([
    ['an agent it does not know', ['--agent', 'nobody'], /has no agent "nobody"\. Check --agent; .*help, account/],
    [
      'signed-in people only',
      ['--agent', 'account'],
      /requires a signed-in user\. Sign in with --login, or pass an access token with --token/,
    ],
    ['a token it refuses', ['--agent', 'account', '--token', 'abc'], /denies access.*--token/],
    ['a session it does not know', ['--session', 'nobody'], /session is unknown.*Omit --session/],
  ])('ends with 1 and one sentence for %s', async (_what, args, text) => {
    const { fake, ended } = chat(await serve(), { input: 'one\n' }, ...args)
    expect(await ended).toBe(1)
    expect(fake.err()).toMatch(text)
    expect(fake.err().trim().split('\n')).toHaveLength(1)
    expect(fake.out()).toBe('')
  })
})

describe('chat in a terminal', () => {
  it('shows what the agent says above the line that is being typed, and that it is typing', async () => {
    const answers: ((content: string) => void)[] = []
    const server = await serve({
      reply: () => new Promise(resolve => answers.push(content => resolve({ content }))),
    })
    const { fake, ended, type, picture } = await openTerminal(server)
    type('How?\r')
    await fake.outHas('Help Centre is typing…')
    type('and anoth')
    expect(picture().slice(2)).toEqual(['> How?', 'Help Centre is typing…', '> and anoth'])
    answers[0]?.('Like this.')
    await fake.outHas('Like this.')
    expect(picture().slice(2)).toEqual(['> How?', 'Help Centre: Like this.', '> and anoth'])
    // The first one clears the line.
    type('\u0004\u0003\u0003')
    expect(await ended).toBe(0)
  })

  it('sends the text of an option when its number is typed', async () => {
    const server = await serve({
      reply: ({ text }) => [
        { content: `You said ${text}.` },
        { content: 'Which?', role: OPTIONS, messageData: { options: ['The first', 'The second'] } },
      ],
    })
    const { fake, ended, type } = await openTerminal(server)
    type('Hello\r')
    await fake.outHas('2) The second')
    type('2\r')
    await fake.outHas('You said The second.')
    type('/quit\r')
    expect(await ended).toBe(0)
    const said = () => server.emulator.control.frames(sessionOf(server)).map(({ message }) => message?.content)
    // The last frame, of the end, may arrive when the command has ended.
    await expect.poll(said).toEqual(['Hello', 'The second', undefined])
  })

  it('[PLAY-07] serves the playground beside the chat, from when it is connected to its end', async () => {
    const server = await serve()
    const { type, picture, ended } = await openTerminal(server)
    expect(picture()[0]).toContain('Ask a question')
    const [, url = ''] = /^Playground: (http:\/\/127\.0\.0\.1:\d+\/)$/.exec(picture()[1] ?? '') ?? []
    expect((await fetch(`${url}no-such-folder/..%2f`)).status).toBe(404)
    type('\u0004')
    expect(await ended).toBe(0)
    await expect(fetch(url)).rejects.toThrow('fetch failed')
    const piped = chat(server, { input: 'one\n' })
    expect(await piped.ended).toBe(0)
    expect(piped.fake.out() + piped.fake.err()).not.toContain('Playground')
  })

  it('[PLAY-09] opens the playground in the browser with --open, and not without', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'browser-'))
    const opened = join(folder, 'opened')
    const script = join(folder, 'browser.mjs')
    writeFileSync(
      script,
      `import { appendFileSync } from 'node:fs'\nappendFileSync(${JSON.stringify(opened)}, process.argv[2])`,
    )
    const env = { NO_COLOR: '1', BROWSER: `${process.execPath} ${script} %s` }
    const start = async (...args: string[]) => {
      const { fake } = chat(await serve(), { columns: COLUMNS, env }, ...args)
      await fake.outHas('Playground: ')
      await fake.outHas('> ')
      return /Playground: (\S+)/.exec(fake.out())?.[1]
    }
    try {
      await start()
      const url = await start('--open')
      await expect.poll(() => existsSync(opened) && readFileSync(opened, 'utf8'), { timeout: 20_000 }).toBe(url)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })

  it('reports a lost connection with the delay, and the restored one', async () => {
    const server = await serve()
    const { fake, type, picture, ended } = await openTerminal(server)
    type('half a li')
    server.emulator.control.dropSockets(1012)
    const [, wait = ''] = /Retrying in ([\d.]+) s\./.exec(await fake.outHas(' s.')) ?? []
    expect(Number(wait)).toBeGreaterThanOrEqual(1)
    expect(Number(wait)).toBeLessThanOrEqual(2)
    await fake.outHas('Connected again.')
    expect(picture().slice(2)).toEqual([
      `Connection lost (code 1012: Dropped). Retrying in ${wait} s.`,
      'Connected again.',
      '> half a li',
    ])
    type('ne\r')
    await fake.outHas('You said half a line.')
    type('\u0004')
    expect(await ended).toBe(0)
  })

  it('opens a conversation again that the service closed', async () => {
    const server = await serve()
    const { fake, type, ended } = await openTerminal(server)
    server.emulator.control.dropSockets(1000)
    await fake.outHas('closed the conversation (code 1000')
    type('Hello\r')
    await fake.outHas('Not sent: the conversation is closed. Use /reconnect to open it again.')
    type('/reconnect\r')
    await fake.outHas('Connected again.')
    type('Hello\r')
    await fake.outHas('You said Hello.')
    type('/quit\r')
    expect(await ended).toBe(0)
  })

  it('has commands for help, state and transcript', async () => {
    const server = await serve()
    const { fake, type, ended, picture } = await openTerminal(server)
    type('//Hello\r')
    await fake.outHas('You said /Hello.')
    type('/help\r/state\r/transcript\r/nonsense\r')
    const out = await fake.outHas('Unknown command /nonsense.')
    expect(out).toContain('/reconnect   close the connection and open it again')
    expect(out).toContain(`Connection: connected\n  Session:    ${sessionOf(server)}\n  Waiting:    0 to be sent`)
    expect(picture().join('\n')).toContain('You: /Hello\nHelp Centre: You said /Hello.')
    type('/quit\r')
    expect(await ended).toBe(0)
  })
})

/** Resolves once the service has a message in its hands. */
async function eventuallyReceived(server: EmulatorServer, text: string): Promise<void> {
  const has = () => server.emulator.control.frames(sessionOf(server)).some(({ message }) => message?.content === text)
  while (!has()) await new Promise(resolve => setImmediate(resolve))
}
