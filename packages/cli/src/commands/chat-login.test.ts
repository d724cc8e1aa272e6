import type { EmulatorServer } from '@aiagent/emulator/node'
import { describe, expect, it } from 'vitest'
import { LoginVisitor, loginAddressIn } from '../../test/login-visitor.ts'
import { endChats, serve, startChat } from '../../test/served-chat.ts'

endChats()

/** A chat whose browser does nothing: the tests go to the address by themselves. */
function chat(server: EmulatorServer, args: string[] = [], { input = 'one\n', env = {} } = {}) {
  const io = { ...(input !== '' && { input }), env: { BROWSER: 'true', ...env } }
  const { fake, ended } = startChat(io, ['--endpoint', server.url, '--login', ...args])
  return { fake, ended, address: async () => loginAddressIn(await fake.errHas('Press Ctrl-C to cancel.')) }
}

const subjectsOf = ({ emulator }: EmulatorServer) => [...emulator.world.sessions.values()].map(({ subject }) => subject)

describe('chat --login', () => {
  it('[AUTH-12] signs a user in through the browser, and opens a chat with an agent for signed-in users', async () => {
    const server = await serve()
    const { fake, ended, address } = chat(server)
    const login = new URL(await address())
    expect(login.origin).toBe(server.url)
    expect(Object.fromEntries(login.searchParams)).toMatchObject({
      client_id: 'app-ext',
      response_type: 'code',
      code_challenge_method: 'S256',
      redirect_uri: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/callback$/),
      scope:
        'openid profile offline_access api://acme/knowledge.portalmgr.manage api://acme/core.aiservices.read api://acme/core.customermgr.read',
    })
    const page = await new LoginVisitor().signIn(login.href, 'customer')
    expect(page).toMatchObject({ status: 200, text: expect.stringContaining('You can close this window.') })
    expect(await ended).toBe(0)
    expect(fake.out()).toBe('> one\nAccount Desk: You said one.\n')
    expect(fake.err()).toMatch(/^Sign in with your browser[\s\S]*Signed in as Customer\.\n$/)
    expect(subjectsOf(server)).toEqual(['customer'])
  })

  it('signs in from a terminal before there is a prompt', async () => {
    const server = await serve()
    const terminal = { columns: 1000, env: { BROWSER: 'true', NO_COLOR: '1' } }
    const { fake, ended } = startChat(terminal, ['--endpoint', server.url, '--login'])
    const before = await fake.outHas('Press Ctrl-C to cancel.')
    expect(before).not.toContain('> ')
    await new LoginVisitor().signIn(loginAddressIn(before), 'new-customer')
    await fake.outHas('Signed in as New customer.\nAccount Desk at ')
    await fake.outHas('> ')
    fake.stdin.emit('data', Buffer.from('one\r'))
    await fake.outHas('Account Desk: You said one.')
    fake.stdin.emit('data', Buffer.from('/quit\r'))
    expect(await ended).toBe(0)
    expect(fake.err()).toBe('')
  })

  it('signs staff in at their own login', async () => {
    const server = await serve()
    Object.assign(server.emulator.world.agents.get('account')?.details ?? {}, { userType: 'agent' })
    const { fake, ended, address } = chat(server)
    const login = await address()
    expect(login).toMatch(/\/acme\/staff-sign-in\/.*client_id=app-int&/)
    await new LoginVisitor().signIn(login, 'desk-agent')
    expect(await ended).toBe(0)
    expect(fake.err()).toContain('Signed in as Desk agent.')
    expect(subjectsOf(server)).toEqual(['desk-agent'])
  })

  it('renews the token with the refresh token while the chat is open', async () => {
    const server = await serve()
    const { fake, ended, address } = chat(server, [], { input: '' })
    await new LoginVisitor().signIn(await address(), 'customer')
    fake.stdin.push('one\n')
    await fake.outHas('You said one.')
    server.emulator.control.expireTokens()
    fake.stdin.push('two\n')
    await fake.outHas('You said two.')
    server.emulator.control.expireTokens()
    fake.stdin.push('three\n')
    await fake.outHas('You said three.')
    fake.stdin.push(null)
    expect(await ended).toBe(0)
    const asked = server.emulator.control.requests().filter(({ path }) => path.endsWith('/oauth2/v2.0/token'))
    expect(asked.map(({ body }) => new URLSearchParams(body).get('grant_type'))).toEqual([
      'authorization_code',
      'refresh_token',
      'refresh_token',
    ])
  })

  it('names the remedy when the token cannot be renewed', async () => {
    const server = await serve()
    const { fake, ended, address } = chat(server, [], { input: '' })
    await new LoginVisitor().signIn(await address(), 'customer')
    fake.stdin.push('one\n')
    await fake.outHas('You said one.')
    server.emulator.settings.silentRenewal = 'fails'
    server.emulator.control.expireTokens()
    fake.stdin.push('two\n')
    expect(await ended).toBe(1)
    expect(fake.err()).toContain(
      'is no longer valid. Start again with --login, and with --session to continue this session.',
    )
  })

  it('uses the client id that it is given', async () => {
    const { address } = chat(await serve(), ['--client-id', 'app-any'])
    expect(new URL(await address()).searchParams.get('client_id')).toBe('app-any')
  })

  it('talks without a login to an agent that is open to everybody', async () => {
    const { fake, ended } = chat(await serve(), ['--agent', 'help'])
    expect(await ended).toBe(0)
    expect(fake.out()).toBe('> one\nHelp Centre: You said one.\n')
    expect(fake.err()).toBe('Help Centre is open to everybody, so no login is needed.\n')
  })

  it('reports that the user cancelled', async () => {
    const { fake, ended, address } = chat(await serve())
    const page = await new LoginVisitor().cancel(await address())
    expect(page.text).toContain('Not signed in')
    expect(await ended).toBe(1)
    expect(fake.err()).toContain('aiagent: Nobody was signed in: the login was cancelled or refused (access_denied).\n')
    expect(fake.out()).toBe('')
  })

  it('reports that the user did not sign in within the time limit', async () => {
    const { fake, ended } = chat(await serve(), ['--login-timeout', '0.2'])
    expect(await ended).toBe(1)
    expect(fake.err()).toContain('aiagent: No login within 0.2 s. Start again; use --login-timeout to wait longer.\n')
  })

  it('ends on Ctrl-C while it waits for the user', async () => {
    const { fake, ended, address } = chat(await serve())
    await address()
    fake.interrupt()
    expect(await ended).toBe(130)
  })

  it('reports a deployment without a login', async () => {
    const { fake, ended } = chat(await serve({ offersLogin: false }))
    expect(await ended).toBe(1)
    expect(fake.err()).toMatch(/^aiagent: The deployment has no login for this agent\. .*oAuthCustomer\[0\]\.authURL/)
  })

  it('is not led astray by answers that belong to another login', async () => {
    const server = await serve()
    const { ended, address } = chat(server)
    const login = new URL(await address())
    const callback = login.searchParams.get('redirect_uri') ?? ''
    const state = login.searchParams.get('state') ?? ''
    expect((await fetch(`${callback}?code=forged&state=other`)).status).toBe(400)
    expect((await fetch(`${callback}?error=access_denied`)).status).toBe(400)
    expect((await fetch(callback.replace('/callback', '/favicon.ico'))).status).toBe(404)
    expect((await fetch(`${callback}?code=forged&state=${state}`, { method: 'POST' })).status).toBe(404)
    await new LoginVisitor().signIn(login.href, 'customer')
    expect(await ended).toBe(0)
  })

  it('refuses a code that the provider did not give', async () => {
    const { fake, ended, address } = chat(await serve())
    const login = new URL(await address())
    const issuer = `${login.origin}/tfp/acme/customer-sign-in/v2.0/`
    const answer = new URLSearchParams({ code: 'forged', state: login.searchParams.get('state') ?? '', iss: issuer })
    await fetch(`${login.searchParams.get('redirect_uri')}?${answer}`)
    expect(await ended).toBe(1)
    expect(fake.err()).toMatch(/aiagent: The login of 127\.0\.0\.1:\d+ refuses: invalid_grant.*Start again/)
  })
})
