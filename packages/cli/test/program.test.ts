import { existsSync } from 'node:fs'
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type EmulatorServer, serveEmulator } from '@aiagent/emulator/node'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { LoginVisitor, loginAddressIn } from './login-visitor.ts'
import { type Program, startProgram, startProgramInto } from './program.ts'

describe('the program', { timeout: 30_000 }, () => {
  const programs: Program[] = []
  const servers: EmulatorServer[] = []
  const folders: string[] = []

  const run = (args: readonly string[], input?: string, env?: Record<string, string>) => {
    const program = startProgram(args, input, env)
    programs.push(program)
    return program
  }
  const folder = async (files: Record<string, string>) => {
    const path = await mkdtemp(join(tmpdir(), 'aiagent-cli-'))
    folders.push(path)
    for (const [name, text] of Object.entries(files)) await writeFile(join(path, name), text)
    return path
  }

  afterEach(async () => {
    for (const { process, ended } of programs.splice(0)) {
      if (process.exitCode === null && process.signalCode === null) process.kill('SIGKILL')
      await ended
    }
    for (const server of servers.splice(0)) await server.close()
    for (const path of folders.splice(0)) await rm(path, { recursive: true })
  })

  it('answers a question from an article with its source, escalates to a human, and ends', async () => {
    const program = run(['chat'], 'How do I reset my router?\nI want to talk to a human\n')
    expect(await program.ended).toBe(0)
    expect(program.out()).toMatch(
      /^> How do I reset my router\?\n[\s\S]*ten seconds[\s\S]*\[1\] How to reset your router – https:[\s\S]*\n> I want to talk to a human\n[\s\S]*A human takes over at https:/,
    )
    expect(program.out()).not.toContain('\u001b')
    expect(program.err()).toBe('')
  })

  it.runIf(existsSync('/dev/full')).each([
    ['a chat', ['chat']],
    ['help', ['--help']],
  ])('says in one line that the output of %s cannot be written', async (_what, args) => {
    const program = startProgramInto('/dev/full', args, 'How do I reset my router?\n')
    programs.push(program)
    expect(await program.ended).toBe(1)
    expect(program.err()).toMatch(/^aiagent: Cannot write the output: .*ENOSPC.*\n$/)
  })

  it('answers from the folder of articles it is given, and cites it', async () => {
    const knowledge = await folder({ 'lamp.md': '# The zorbo lamp\n\nThe zorbo lamp glows violet at dusk.\n' })
    const program = run(['chat', '--knowledge', knowledge], 'When does the zorbo lamp glow?')
    expect(await program.ended).toBe(0)
    expect(program.out()).toMatch(/glows violet at dusk[\s\S]*\[1\] The zorbo lamp/)
  })

  it('selects portal and profile of a contact-center agent, with the demonstration call', async () => {
    const args = ['chat', '--agent', 'desk', '--platform', 'test', '--init-param', 'callId=call-7']
    const temporary = await folder({})
    const program = run(args, '3\nPrivate\nHow do I reset my router?\n', { TMPDIR: temporary, TEMP: temporary })
    expect(await program.ended).toBe(0)
    expect(program.err()).toMatch(
      /^The call has the id call-7\.\nCaller: Customer, [\s\S]* {2}→ Invoices\n[\s\S]* {2}→ Private\nPortal Invoices, profile Private\.\n$/,
    )
    expect(program.out()).toMatch(/^> How do I reset my router\?\nDesk Assistant: [\s\S]*ten seconds/)
    expect((await readdir(temporary)).filter(name => name.startsWith('aiagent-connector-'))).toEqual([])
  })

  it('ends with 0 when nothing is piped in', async () => {
    const program = run(['chat'], '')
    expect(await program.ended).toBe(0)
    expect(program.out() + program.err()).toBe('')
  })

  it('ends with 1 and names the line when an answer does not come in time', async () => {
    const server = await serveEmulator({ reply: () => new Promise(() => {}) })
    servers.push(server)
    const program = run(['chat', '--endpoint', server.url, '--answer-timeout', '0.3'], 'Anybody there?\nHello?\n')
    expect(await program.ended).toBe(1)
    expect(program.out()).toBe('> Anybody there?\n')
    expect(program.err()).toMatch(
      /^aiagent: No answer to "Anybody there\?" within 0\.3 s.*--answer-timeout to wait longer\.\n$/,
    )
  })

  it('ends with 1 and one sentence when nothing answers at the endpoint', async () => {
    const server = await serveEmulator()
    await server.close()
    const program = run(['chat', '--endpoint', server.url], 'Hello\n')
    expect(await program.ended).toBe(1)
    expect(program.err()).toBe(
      `aiagent: No service answers at ${server.url} (ECONNREFUSED). Check the address; "aiagent emulate" starts a service on this machine.\n`,
    )
  })

  it('shows where a failure came from at log level debug only', async () => {
    const program = run(['chat', '--knowledge', '/no/such/folder', '--log-level', 'debug'], 'Hello\n')
    expect(await program.ended).toBe(1)
    expect(program.err()).toMatch(/^aiagent: The folder of articles cannot be read: [\s\S]*\n {4}at /)
  })

  it('says that a port is taken', async () => {
    const server = await serveEmulator()
    servers.push(server)
    const program = run(['emulate', '--port', new URL(server.url).port])
    expect(await program.ended).toBe(1)
    expect(program.err()).toMatch(/^aiagent: Cannot listen on 127\.0\.0\.1, port \d+: it is taken\..*\n$/)
  })

  it('runs the emulator until Ctrl-C and ends with 0', async () => {
    const emulator = run(['emulate', '--port', '0'])
    const [, url = ''] = await emulator.until(/Try it: aiagent chat --endpoint (\S+)\n/)
    const program = run(['chat', '--endpoint', url], 'Hello\n')
    expect(await program.ended).toBe(0)
    expect(program.out()).toContain('> Hello\nHelp Centre: ')
    emulator.process.kill('SIGINT')
    expect(await emulator.ended).toBe(0)
    expect(emulator.out()).toContain(
      `Login for customers: ${url}/acme/customer-sign-in, client id app-ext, users customer,`,
    )
    expect(emulator.out()).toContain('Scope prefix: api://acme/')
    expect(emulator.out()).toContain(`Desk: ${url}/desk (`)
    expect(emulator.out()).toContain('Agents: help (Help Centre), account (Account Desk, for signed-in users)')
  })

  it('[VIEW-51] applies the faults of a schedule, also behind a byte order mark, and names the error of an invalid one', async () => {
    const files = await folder({
      'faults.json': '\uFEFF[{ "afterMs": 0, "fault": { "kind": "answer", "status": 503 } }]',
      'mistake.json': '[{ "afterMs": 0, "fault": { "kind": "answer" } }]',
    })
    const emulator = run(['emulate', '--port', '0', '--faults', join(files, 'faults.json')])
    const [, url = ''] = await emulator.until(/Try it: aiagent chat --endpoint (\S+)\n/)
    await vi.waitFor(async () => expect((await fetch(url)).status).toBe(503))
    const mistaken = run(['emulate', '--port', '0', '--faults', join(files, 'mistake.json')])
    expect(await mistaken.ended).toBe(1)
    expect(mistaken.err()).toBe(
      `aiagent: ${join(files, 'mistake.json')}, entry 1: the fault cannot be understood: "status" is missing.\n`,
    )
    emulator.process.kill('SIGINT')
    expect(await emulator.ended).toBe(0)
  })

  it('ends without an error when its output is closed', async () => {
    const program = run(['chat'])
    program.process.stdin?.write('Hello\n')
    await program.until(/Help Centre: /)
    program.process.stdout?.destroy()
    program.process.stdin?.write('How do I reset my router?\n')
    expect(await program.ended).toBe(0)
    expect(program.err()).toBe('')
  })

  it('ends a piped conversation with 130 on Ctrl-C, although its input is still open', async () => {
    const program = run(['chat'])
    program.process.stdin?.write('Hello\n')
    await program.until(/Help Centre: /)
    program.process.kill('SIGINT')
    expect(await program.ended).toBe(130)
  })

  it('shows an anonymous token of an emulator that it starts', async () => {
    const program = run(['token', '--json'], '')
    expect(await program.ended).toBe(0)
    expect(JSON.parse(program.out())).toMatchObject({ source: 'anonymous', claims: { sub: 'anonymous' } })
    expect(program.err()).toBe('')
  })

  it('signs a user in at an emulator that it starts, in the browser of BROWSER, and exits', async () => {
    const path = await folder({ browser: '#!/bin/sh\nprintf %s "$1" > "$0.tmp" && mv "$0.tmp" "$0.shown"\n' })
    const browser = join(path, 'browser')
    await chmod(browser, 0o755)
    const program = run(['chat', '--login'], 'Hello\n', { BROWSER: browser })
    const address = await vi.waitFor(() => readFile(`${browser}.shown`, 'utf8'), { timeout: 20_000 })
    expect(loginAddressIn(program.err())).toBe(address)
    expect((await new LoginVisitor().signIn(address, 'customer')).text).toContain('You can close this window.')
    expect(await program.ended).toBe(0)
    expect(program.out()).toMatch(/^> Hello\nAccount Desk: /)
    expect(program.err()).toMatch(/Signed in as Customer\.\n$/)
  })

  it('cancels a login on Ctrl-C with 130', async () => {
    const program = run(['chat', '--login'], undefined, { BROWSER: 'true' })
    await vi.waitFor(() => expect(program.err()).toContain('Press Ctrl-C to cancel.'), { timeout: 20_000 })
    program.process.kill('SIGINT')
    expect(await program.ended).toBe(130)
  })

  it('ends with 2 when the command line cannot be understood', async () => {
    const program = run(['chat', '--colour'], '')
    expect(await program.ended).toBe(2)
    expect(program.err()).toBe('aiagent: Unknown option --colour.\nSee aiagent chat --help.\n')
  })
})
