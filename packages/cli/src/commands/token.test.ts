import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type EmulatorServer, serveEmulator } from '@aiagent/emulator/node'
import { afterEach, describe, expect, it } from 'vitest'
import { createFakeIo, type FakeIoOptions } from '../../test/fake-io.ts'
import { run } from '../run.ts'

const servers: EmulatorServer[] = []
const folders: string[] = []

afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
  for (const path of folders.splice(0)) await rm(path, { recursive: true })
})

async function serve(): Promise<EmulatorServer> {
  const server = await serveEmulator()
  servers.push(server)
  return server
}

async function secretFile(text: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'aiagent-token-'))
  folders.push(folder)
  const file = join(folder, 'secret')
  await writeFile(file, text)
  await chmod(file, 0o600)
  return file
}

async function token(args: readonly string[], options: FakeIoOptions = {}) {
  const fake = createFakeIo({ input: '', ...options })
  const code = await run(['token', ...args], fake.io)
  return { code, out: fake.out(), err: fake.err(), json: () => JSON.parse(fake.out()) as Record<string, unknown> }
}

/** A token of the emulator, and the part of it that must never be seen. */
async function tokenWithSignature() {
  const { emulator } = await serve()
  const text = await emulator.control.issueToken({ subject: 'customer' })
  return { text, signature: text.split('.')[2] ?? '' }
}

describe('token', () => {
  it('shows an anonymous token of a deployment', async () => {
    const { url } = await serve()
    const { code, out, err } = await token(['--endpoint', url])
    expect(code).toBe(0)
    expect(out).toMatch(
      new RegExp(`^An anonymous token from ${url}\\.\nIt is valid for another (1 h|59 min \\d+ s), until`),
    )
    expect(out).toContain(
      'Scopes:\n  api://acme/knowledge.portalmgr.manage\n  api://acme/core.aiservices.read\nClaims:',
    )
    expect(out).toMatch(/ sub {4}anonymous$/m)
    expect(err).toBe('')
  })

  it('asks for what an agent needs, and says when it takes signed-in people only', async () => {
    const { url } = await serve()
    const { json, err } = await token(['--endpoint', url, '--agent', 'account', '--json'])
    expect(json()).toMatchObject({
      source: 'anonymous',
      from: url,
      form: 'jwt',
      claims: { sub: 'anonymous' },
      scopes: [
        'api://acme/knowledge.portalmgr.manage',
        'api://acme/core.aiservices.read',
        'api://acme/core.customermgr.read',
      ],
      expiresAt: expect.stringMatching(/^\d{4}-.*Z$/),
    })
    expect(err).toBe('The agent account requires a signed-in user: use aiagent chat --login.\n')
  })

  it('asks for the scopes that are named', async () => {
    const { url } = await serve()
    const { json } = await token(['--endpoint', url, '--agent', 'help', '--scopes', 'a.read,b.read', '--json'])
    expect(json()).toMatchObject({ scopes: ['api://acme/a.read', 'api://acme/b.read'] })
  })

  it('[AUTH-04] shows a token by client credentials, with the secret from a file or the environment', async () => {
    const { url } = await serve()
    const args = ['--client-id', 'demo-service', '--token-url', `${url}/oauth/TEN0001/token`, '--json']
    const file = await secretFile('demo-secret\n')
    const byFile = await token([...args, '--client-secret-file', file, '--scopes', 'core.aiservices.read'])
    expect(byFile.json()).toMatchObject({ source: 'client-credentials', scopes: ['core.aiservices.read'] })
    const byEnvironment = await token(args, { env: { AIAGENT_CLIENT_SECRET: 'demo-secret' } })
    expect(byEnvironment.json()).toMatchObject({ from: new URL(url).host, claims: { sub: 'demo-service' } })
  })

  it('reads a token from the input, as people paste it', async () => {
    const { text, signature } = await tokenWithSignature()
    const { code, out } = await token(['--token', '-'], { input: `\n"Bearer ${text}"\nmore` })
    expect(code).toBe(0)
    expect(out).toMatch(/^The given token\.\n[\s\S]*sub {2,}customer/)
    expect(out).not.toContain(signature)
  })

  it('does not show what is pasted into a terminal', async () => {
    const { text, signature } = await tokenWithSignature()
    const fake = createFakeIo({ columns: 80 })
    const ended = run(['token', '--token', '-'], fake.io)
    await fake.errHas('Access token: ')
    fake.stdin.emit('data', Buffer.from(`${text}\r`))
    expect(await ended).toBe(0)
    expect(fake.out()).toContain('The given token.')
    expect(fake.out() + fake.err()).not.toContain(signature)
  })

  it('is left by Ctrl-C in a terminal', async () => {
    const fake = createFakeIo({ columns: 80 })
    const ended = run(['token', '--token', '-'], fake.io)
    await fake.errHas('Access token: ')
    fake.stdin.emit('data', Buffer.from('abc\u0003'))
    expect(await ended).toBe(1)
    expect(fake.err()).toBe('Access token: \naiagent: Nothing was entered.\n')
  })

  it.each<[string, readonly string[], FakeIoOptions, RegExp]>([
    ['nothing on the input', ['--token', '-'], { input: ' \n\n' }, /^aiagent: The input is empty\.\n$/],
    ['text with blanks', ['--token', '-'], { input: 'a b' }, /^aiagent: The input is not an access token/],
    ['quotes around nothing', ['--token', '-'], { input: '""' }, /^aiagent: The input has no access token/],
    [
      'a file that is not there',
      ['--client-id', 'c', '--token-url', 'https://a.test', '--client-secret-file', '/no/such'],
      {},
      /^aiagent: Could not read the client secret from \/no\/such \(ENOENT\)\.\n$/,
    ],
    [
      'a token endpoint over plain http elsewhere',
      ['--client-id', 'c', '--token-url', 'http://a.test/token'],
      { env: { AIAGENT_CLIENT_SECRET: 'sentinel' } },
      /\bhttps\b/,
    ],
  ])('ends with 1 and one sentence for %s', async (_what, args, options, text) => {
    const { code, out, err } = await token(args, options)
    expect(code).toBe(1)
    expect(err).toMatch(text)
    expect(err.trim().split('\n')).toHaveLength(1)
    expect(out + err).not.toContain('sentinel')
  })

  it('ends with 1 for an empty secret, a rejected one, and an unreachable endpoint', async () => {
    const server = await serve()
    const args = ['--client-id', 'demo-service', '--token-url', `${server.url}/oauth/TEN0001/token`]
    const empty = await token([...args, '--client-secret-file', await secretFile(' \n')])
    expect(empty.err).toMatch(/the file is empty\.\n$/)
    const wrong = await token([...args, '--log-level', 'trace'], { env: { AIAGENT_CLIENT_SECRET: 'sentinel' } })
    expect(wrong.code).toBe(1)
    expect(wrong.err).toMatch(/Could not obtain an access token .* 401 \(invalid_client\)/)
    expect(wrong.err).not.toContain('sentinel')
    await server.close()
    const nobody = await token(['--endpoint', server.url])
    expect(nobody.err).toMatch(/^aiagent: No service answers at http:\/\/127\.0\.0\.1:\d+ \(ECONNREFUSED\)/)
  })
})
