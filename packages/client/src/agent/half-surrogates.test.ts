import { paths } from '@aiagent/protocol'
import { describe, expect, it } from 'vitest'
import { rejection, setUp } from '../../test/agent-harness.ts'
import { FakeService, fakeToken } from '../../test/fake-service.ts'
import { ApiHelper } from '../rest/api-helper.ts'

const HALF = '\ud83d'

describe('half of a surrogate pair', () => {
  it('[SEC-71] in the subject and the issuer of a token, and in an id, does not keep an agent from starting', async () => {
    const exp = Math.floor(Date.now() / 1000) + 36_000
    const service = new FakeService()
      .on(`GET ${paths.deploymentInfo()}`, { apiDomain: 'https://api.test' })
      .on(`GET ${paths.agentDetails(`help${HALF}`)}`, {
        agentId: `help${HALF}`,
        name: 'Help',
        webSocketDomain: 'chat.test',
      })
      .on(`POST ${paths.session(`help${HALF}`)}`, { sessionId: 's-1' })
    for (const claims of [{ sub: `ada${HALF}` }, { sub: 'ada', iss: HALF }]) {
      const { make } = setUp({}, { fetch: service.fetch })
      const auth = { type: 'pre-auth', accessToken: fakeToken({ ...claims, exp }) } as const
      const more = { resume: true, persistQueueMs: 60_000 }
      const { agent } = make({ id: `help${HALF}`, endpoint: 'https://deployment.test', auth, ...more })
      await agent.initialize()
      expect(agent.getIsInitialized()).toBe(true)
      await agent.logout()
      await agent.destroy()
    }
  })

  it('[SEC-71] in a session id of the service or the host is refused', async () => {
    const service = new FakeService().on(`POST ${paths.session('7')}`, { sessionId: `S1${HALF}` })
    const config = { apiDomain: 'api.test', getToken: () => 'a.b.c' }
    const api = new ApiHelper(config, service.environment())
    expect(await rejection(api.getAiAgentSession({ agentId: '7' }))).toMatchObject({ code: 'SESSION_ID_INVALID' })
    const { agent } = setUp().make()
    expect(() => agent.setSessionId(`S1${HALF}`)).toThrow(expect.objectContaining({ code: 'SESSION_ID_INVALID' }))
    await agent.destroy()
  })

  it('[SEC-71] in a parameter of a call reaches the service as U+FFFD', async () => {
    const service = new FakeService()
    const api = new ApiHelper({ apiDomain: 'api.test', getToken: () => 'a.b.c' }, service.environment())
    const calls = [
      api.getConnectedApps({ tenantId: HALF, agentId: HALF }),
      api.getAgentsByPortal({ departmentId: HALF, portalId: HALF }),
      api.getUserProfiles({ portalId: HALF }),
      api.getMaskingPatterns({ departmentId: HALF }),
    ]
    for (const call of calls) expect(await rejection(call)).toMatchObject({ name: 'ApiError', status: 404 })
    expect(service.seen.map(({ url }) => decodeURIComponent(url)).join()).toMatch(/\ufffd/)
  })
})
