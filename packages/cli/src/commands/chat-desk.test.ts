import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CONNECTOR_SCRIPT } from '@aiagent/emulator'
import type { EmulatorServer } from '@aiagent/emulator/node'
import { afterEach, describe, expect, it } from 'vitest'
import type { FakeIoOptions } from '../../test/fake-io.ts'
import { endChats, serve, startChat } from '../../test/served-chat.ts'

const PORTALS = [
  'Choose a portal, by number or name:',
  '  1) Support – Questions about devices at home',
  '  2) Installation – Appointments and first steps',
  '  3) Invoices – Amounts, due dates, reminders',
]
const folders: string[] = []

endChats()
afterEach(async () => {
  for (const path of folders.splice(0)) await rm(path, { recursive: true })
})

function start(io: FakeIoOptions, ...args: string[]) {
  const { fake, ended } = startChat(io, ['--agent', 'desk', ...args])
  return { fake, ended, type: (keys: string) => void fake.stdin.emit('data', Buffer.from(keys)) }
}

/** A chat with a served emulator, with the token of somebody. */
function startAt({ url, emulator }: EmulatorServer, io: FakeIoOptions, ...args: string[]) {
  const token = emulator.control.issueToken({ subject: 'desk-agent' })
  return start(io, '--endpoint', url, '--token', token, ...args)
}

const terminal = { columns: 200, env: { NO_COLOR: '1' } }

async function connectorFile(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'aiagent-cli-'))
  folders.push(folder)
  const file = join(folder, 'connector.mjs')
  await writeFile(file, CONNECTOR_SCRIPT)
  return file
}

describe('chat with a contact-center agent, piped', () => {
  it.each([
    ['a number', '2'],
    ['a name', 'installation'],
    ['an id', '1002'],
    ['the beginning of a name', '\n  Inst '],
  ])('takes the next line for the choice, here %s', async (_what, line) => {
    const { fake, ended } = startAt(await serve(), { input: `${line}\none\n` })
    expect(await ended).toBe(0)
    expect(fake.out()).toBe('> one\nDesk Assistant: You said one.\n')
    expect(fake.err()).toBe([...PORTALS, '  → Installation', 'Portal Installation, profile Technician.', ''].join('\n'))
  })

  it('leads through portal, agent and profile', async () => {
    const server = await serve()
    const input = 'Support\nOrder Assistant\none\n'
    const { fake, ended } = startAt(server, { input }, '--init-param', 'isDefaultAgent=true')
    expect(await ended).toBe(0)
    expect(fake.out()).toMatch(/^> one\n.*You said one\.\n$/)
    expect([...server.emulator.world.sessions.values()].map(({ agent }) => agent.details.agentId)).toEqual([
      'desk-orders',
    ])
    expect(fake.err()).toContain('Choose an agent, by number or name:\n  1) Desk Assistant – Listens in')
    const again = startAt(server, { input: 'Invoices\nbusiness\ntwo\n' })
    expect(await again.ended).toBe(0)
    expect(again.fake.err()).toMatch(
      /Choose a profile, .*\n {2}1\) Private\n {2}2\) Business\n {2}→ Business\nPortal Invoices, profile Business\.\n$/,
    )
  })

  it.each([
    [
      'is not in the list',
      'Nowhere\n',
      /There is no portal "Nowhere" in the list\. Choose one of: 1\) Support, 2\) Install/,
    ],
    ['fits several', 'In\n', /"In" matches more than one portal\. Type the number\. Choose one of: /],
    ['is missing', '', /No portal was chosen: the input has no more lines\. Choose one of: /],
  ])('ends with 1 when a choice %s', async (_what, input, text) => {
    const server = await serve()
    const { fake, ended } = startAt(server, { input })
    expect(await ended).toBe(1)
    expect(fake.err().split('\n').at(-2)).toMatch(text)
    expect(server.emulator.world.sessions.size).toBe(0)
  })

  it.each([
    ['portals of people', ['--init-param', 'portalIds=1004'], /You have no access to the portal 1004/],
    ['a user of another tenant', ['--agent', 'field-desk', '--as', 'desk-agent'], /issued for another tenant/],
    ['nobody of that role', ['--as', 'pilot'], /has no user "pilot"\. The users are: desk-agent, desk-supervisor, /],
    ['a connector without a file', ['--platform', 'genesys'], /Node loads connectors from files only.*--connector/],
    [
      'a connector that is not there',
      ['--platform', 'a', '--connector', '/nowhere.mjs'],
      /nowhere\.mjs could not be imported/,
    ],
  ])('says in one sentence what is wrong: %s', async (_what, args, text) => {
    const { fake, ended } = start({ input: 'one\n' }, ...args)
    expect(await ended).toBe(1)
    expect(fake.err()).toMatch(text)
    expect(fake.err().trim().split('\n')).toHaveLength(1)
  })

  it('gets the token of a desk agent from its own emulator, and shows the call of its connector', async () => {
    const { fake, ended } = start({ input: 'Installation\n' }, '--platform', 'test', '--init-param', 'callId=call-7')
    expect(await ended).toBe(0)
    expect(fake.err()).toBe(
      [
        'The call has the id call-7.',
        'Caller: Customer, +1 202 555 0143, customer@people.example',
        'Call transcript, agent: Good day, this is the service desk. How can I help?',
        'Call transcript, customer: Since the update my router has lost its connection.',
        'Call transcript, agent: Let me look that up for you.',
        ...PORTALS,
        '  → Installation',
        'Portal Installation, profile Technician.',
        '',
      ].join('\n'),
    )
  })

  it('signs in as another user of the emulator with --as', async () => {
    const { fake, ended } = start({ input: 'Support\n' }, '--as', 'desk-supervisor')
    expect(await ended).toBe(0)
    expect(fake.err()).toContain('Portal Support, profile Business.')
  })

  it('loads a connector from a file, and the chat carries the id of its call', async () => {
    const server = await serve()
    const { ended } = startAt(
      server,
      { input: 'one\n' },
      ...['--platform', 'standalone', '--connector', await connectorFile(), '--init-param', 'defaultPortal=1002'],
    )
    expect(await ended).toBe(0)
    const upgrade = server.emulator.control.requests().find(({ status }) => status === 101)
    expect(upgrade?.query).toMatchObject({ externalCallId: 'call-1001' })
  })
})

describe('chat with a contact-center agent, in a terminal', () => {
  it('asks until something is chosen that can be entered, and then holds the conversation', async () => {
    const server = await serve()
    const { fake, ended, type } = startAt(server, terminal)
    await fake.outHas(`${PORTALS.join('\n')}\n`)
    type('9\r')
    await fake.outHas('There is no portal "9" in the list.')
    server.emulator.faults.add({ kind: 'answer', route: 'GET */internal/portals/*', status: 403, times: 1 })
    type('Invoices\r')
    await fake.outHas('You have no access to the portal Invoices.')
    // The second line is typed ahead of the list that it is for, the third ahead of the chat.
    type('3\rPrivate\rone\r')
    const out = await fake.outHas('You said one.')
    expect(out).toContain('Portal Invoices, profile Private.\n')
    type('\u0004')
    expect(await ended).toBe(0)
    expect(out.split(PORTALS[0] ?? '')).toHaveLength(2)
  })

  it.each([
    ['Ctrl-D', '\u0004', 0],
    ['/quit', '/quit\r', 0],
  ])('leaves at a choice with %s', async (_name, keys, code) => {
    const server = await serve()
    const { fake, ended, type } = startAt(server, terminal)
    await fake.outHas('> ')
    type(keys)
    expect(await ended).toBe(code)
    expect(server.emulator.world.sessions.size).toBe(0)
  })

  it('ends when it is interrupted at a choice', async () => {
    const { fake, ended } = startAt(await serve(), terminal)
    await fake.outHas('> ')
    fake.interrupt()
    expect(await ended).toBe(130)
  })
})
