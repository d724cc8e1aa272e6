import { paths } from '@aiagent/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { LoginCaller } from '../../test/login-caller.ts'
import { createEmulator } from '../emulator.ts'
import { type EmulatorServer, serveEmulator } from '../node/serve.ts'

let server: EmulatorServer
afterEach(() => server?.close())

describe('pkceConfig', () => {
  it.each([
    ['customer', 'customer', 'account'],
    ['agent', 'desk-agent', 'desk'],
  ] as const)('[REL-42] configures a login whose token opens a session: %s', async (userType, user, agentId) => {
    server = await serveEmulator()
    server.emulator.settings.checkScopes = true
    const redirectUri = 'http://localhost:5173/callback.html'
    const config = server.emulator.pkceConfig({ redirectUri, userType })
    expect(config.knownAuthorities).toEqual([new URL(config.authorizationUrl).host])
    const caller = new LoginCaller(config.authorizationUrl, config.clientId, new Map(), redirectUri)
    const { access_token } = await caller.signIn(user, { scope: config.scopes.join(' ') })
    const headers = { authorization: `Bearer ${access_token}` }
    expect((await fetch(server.url + paths.session(agentId), { method: 'POST', headers })).status).toBe(200)
  })

  it('[REL-42] accepts every tenant, and rejects one without a login', async () => {
    server = await serveEmulator()
    const redirectUri = 'http://localhost:5173/'
    const { authorizationUrl, clientId } = server.emulator.pkceConfig({ redirectUri, tenantId: 'TEN0002' })
    expect([authorizationUrl, clientId]).toEqual([`${server.url}/northwind/customer-sign-in`, 'northwind-ext'])
    expect(() => server.emulator.pkceConfig({ redirectUri, tenantId: 'TEN9' })).toThrow(/TEN9.*TEN0001, TEN0002/)
    expect(() => createEmulator().pkceConfig({ redirectUri })).toThrow(/serveEmulator/)
  })
})

describe('await using', () => {
  it('[REL-44] closes a served emulator at the end of its block', async () => {
    let url = ''
    {
      await using served = await serveEmulator()
      url = served.url
      expect((await fetch(url + paths.deploymentInfo())).status).toBe(200)
    }
    await expect(fetch(url + paths.deploymentInfo())).rejects.toThrow()
  })

  it('[REL-44] closes an emulator in process at the end of its block', async () => {
    let call = async (): Promise<unknown> => undefined
    {
      await using emulator = createEmulator()
      call = () => emulator.fetch(emulator.origin + paths.deploymentInfo())
      await call()
    }
    await expect(call()).rejects.toThrow(TypeError)
  })
})
