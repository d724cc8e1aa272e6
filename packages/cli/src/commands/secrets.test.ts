import { type EmulatorServer, serveEmulator } from '@aiagent/emulator/node'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createFakeIo } from '../../test/fake-io.ts'
import { LoginVisitor, loginAddressIn } from '../../test/login-visitor.ts'
import { run } from '../run.ts'

/*
 * Nothing that opens a door is ever printed, whatever the log level: every secret that passed between the program and the
 * service is looked for in all that the program wrote.
 */

const servers: EmulatorServer[] = []
afterEach(async () => {
  vi.restoreAllMocks()
  for (const server of servers.splice(0)) await server.close()
})

const SECRET_FIELDS = ['access_token', 'refresh_token', 'id_token', 'code', 'code_verifier', 'client_secret']

/** Collects what travels in requests and answers of `fetch`, and in what the browser is sent to. */
function collectSecrets(): Set<string> {
  const secrets = new Set<string>()
  const collect = (entries: Iterable<[string, unknown]>) => {
    for (const [name, value] of entries)
      if (SECRET_FIELDS.includes(name) && typeof value === 'string') secrets.add(value)
  }
  const { fetch } = globalThis
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    const address = new URL(input instanceof Request ? input.url : input)
    // The redirect parameter of a login page names no secret; what comes back to the program does.
    if (address.pathname === '/callback') collect(address.searchParams)
    if (init?.body instanceof URLSearchParams) collect(init.body)
    else if (typeof init?.body === 'string') collect(new URLSearchParams(init.body))
    const bearer = /^Bearer (.+)$/.exec(new Headers(init?.headers).get('authorization') ?? '')?.[1]
    if (bearer) secrets.add(bearer)
    const response = await fetch(input, init)
    const body: unknown = await response
      .clone()
      .json()
      .catch(() => undefined)
    if (typeof body === 'object' && body !== null) collect(Object.entries(body))
    return response
  })
  return secrets
}

/** Neither whole nor in its telling parts: of a token the signature alone would be too much. */
function expectNone(secrets: ReadonlySet<string>, printed: string): void {
  for (const secret of secrets)
    for (const part of secret.split('.')) if (part.length > 8) expect(printed).not.toContain(part)
}

async function serve(): Promise<EmulatorServer> {
  const server = await serveEmulator({ reply: ({ text }) => ({ content: `You said ${text}.` }) })
  servers.push(server)
  return server
}

describe('at log level trace', () => {
  it('a whole chat with login, renewal and a renewal that is refused prints no secret', async () => {
    const secrets = collectSecrets()
    const printed = vi.spyOn(console, 'log')
    const server = await serve()
    const { io, stdin, out, err, errHas, outHas } = createFakeIo({ env: { BROWSER: 'true' } })
    const ended = run(['chat', '--endpoint', server.url, '--login', '--log-level', 'trace'], io)
    const address = loginAddressIn(await errHas('Press Ctrl-C to cancel.'))
    await new LoginVisitor().signIn(address, 'customer')
    stdin.push('one\n')
    await outHas('You said one.')
    server.emulator.control.expireTokens()
    stdin.push('two\n')
    await outHas('You said two.')
    server.emulator.settings.silentRenewal = 'fails'
    server.emulator.control.expireTokens()
    stdin.push('three\n')
    expect(await ended).toBe(1)
    expect(err()).toMatch(/^\[(TRACE|DEBUG|INFO)\]/m)
    // Two access, refresh and id tokens, the code, its verifier, and the anonymous token at the least.
    expect(secrets.size).toBeGreaterThanOrEqual(9)
    expectNone(secrets, out() + err())
    expect(printed).not.toHaveBeenCalled()
  })

  it('a token by client credentials, an anonymous and a given one print no secret', async () => {
    const secrets = collectSecrets()
    const server = await serve()
    const { io, out, err } = createFakeIo({ input: '', env: { AIAGENT_CLIENT_SECRET: 'demo-secret' } })
    const trace = ['--log-level', 'trace']
    const credentials = ['--client-id', 'demo-service', '--token-url', `${server.url}/oauth/TEN0001/token`]
    expect(await run(['token', ...credentials, ...trace], io)).toBe(0)
    const given = await server.emulator.control.issueToken()
    expect(await run(['token', '--token', given, '--json', ...trace], io)).toBe(0)
    expect(await run(['token', '--endpoint', server.url, '--agent', 'account', ...trace], io)).toBe(0)
    expect(secrets).toContain('demo-secret')
    expect(secrets.size).toBeGreaterThanOrEqual(3)
    expectNone(new Set([...secrets, given].filter(secret => secret !== 'clientSecret')), out() + err())
  })
})
