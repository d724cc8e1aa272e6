import { paths } from '@aiagent/protocol'
import { describe, expect, it } from 'vitest'
import { rejection, setUp } from '../../test/agent-harness.ts'
import { FakeService, fakeToken } from '../../test/fake-service.ts'
import type { AuthenticationInput } from '../auth/auth-input.ts'

/** A deployment whose API is on this machine, as behind a gateway or a proxy. */
const API = 'http://127.0.0.1:8600'

function deployment({ tokenUrl = `${API}/token`, webSocketDomain = 'chat.test' }) {
  const exp = Math.floor(Date.now() / 1000) + 3600
  return new FakeService()
    .on(`GET ${paths.deploymentInfo()}`, { apiDomain: API, tenantId: 'T' })
    .on(`GET ${paths.metadataOfDeployment()}`, {
      authenticationDetails: { oAuthAnonymousCustomer: [{ accessTokenURL: tokenUrl }] },
    })
    .on('POST /token', { access_token: fakeToken({ exp }), expires_in: 3600 })
    .on(`GET ${paths.agentDetails('help')}`, { agentId: 'help', name: 'Help', webSocketDomain })
    .on(`POST ${paths.session('help')}`, { sessionId: 's-1' })
}

const ANONYMOUS: AuthenticationInput = { type: 'anonymous', config: { cache: { enabled: false } } }

function agentOf(service: FakeService, endpoint: string, auth = ANONYMOUS) {
  const { make } = setUp({}, { fetch: service.fetch })
  return make({ endpoint, cache: { enabled: false }, auth }).agent
}

describe('a deployment over https with its API on this machine', () => {
  it('[SEC-33] requests no token over plain http from another machine', async () => {
    const service = deployment({ tokenUrl: 'http://login.test/token' })
    const agent = agentOf(service, 'https://deployment.test')
    expect(await rejection(agent.initialize())).toMatchObject({ name: 'AuthError', reason: 'token_request_failed' })
    expect(service.seen.filter(({ method }) => method === 'POST')).toEqual([])
    await agent.destroy()
  })

  it('[SEC-33] sends no client secret over plain http to another machine', async () => {
    const service = deployment({})
    const config = { tokenUrl: 'http://login.test/token', clientId: 'me', clientSecret: 'secret' }
    const agent = agentOf(service, 'https://deployment.test', { type: 'client-credentials', config })
    expect(await rejection(agent.initialize())).toMatchObject({ name: 'AuthError', reason: 'token_request_failed' })
    expect(service.seen.filter(({ method }) => method === 'POST')).toEqual([])
    await agent.destroy()
  })

  it('[SEC-33] names no chat over plain ws on another machine', async () => {
    const service = deployment({ webSocketDomain: 'ws://chat.test' })
    const agent = agentOf(service, 'https://deployment.test')
    expect(await rejection(agent.initialize())).toMatchObject({
      reason: 'body',
      message: expect.stringContaining('webSocketDomain'),
    })
    await agent.destroy()
  })

  it.each([
    ['https://deployment.test', {}],
    ['https://deployment.test', { webSocketDomain: 'ws://localhost:8600' }],
    ['http://deployment.test', { tokenUrl: 'http://login.test/token', webSocketDomain: 'ws://chat.test' }],
  ])(
    '[SEC-33] may name addresses on this machine, or any where the endpoint has http: at %s, %o',
    async (endpoint, more) => {
      const agent = agentOf(deployment(more), endpoint)
      await agent.initialize()
      expect(agent.getIsInitialized()).toBe(true)
      await agent.destroy()
    },
  )
})
