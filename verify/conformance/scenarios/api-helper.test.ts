import { ApiHelper } from '@aiagent/client'
import { paths } from '@aiagent/protocol'
import { eventually } from '@aiagent/test-support'
import { expect } from 'vitest'
import { idsOf, persisted } from '../desk.ts'
import { Journal } from '../journal.ts'
import { verifies } from '../verifies.ts'
import { differsIn, WITH_REFUSED_CHATS } from '../weathers.ts'
import type { Service } from '../wire.ts'

/** A helper without an agent, with a user's token. */
function helperOf(service: Service, subject = 'desk-agent'): ApiHelper {
  const getToken = () => service.control.issueToken({ subject })
  return service.patient(new ApiHelper({ apiDomain: service.endpoint, getToken }, service.environment()))
}

verifies('REST-07', 'a helper without an agent loads deployment and details, and creates a session', async service => {
  const environment = service.environment()
  const info = await service.patient(ApiHelper).getDeploymentInfo(service.endpoint, { enabled: false }, { environment })
  const getToken = () => service.control.issueToken()
  const api = service.patient(new ApiHelper({ apiDomain: info.apiDomain, getToken }, environment))
  expect(await api.getAgentDetails({ agentId: 'help' })).toMatchObject({ agentId: 'help', name: 'Help Desk' })
  const sessionId = await api.getAiAgentSession({ agentId: 'help', context: { plan: 'gold' } })
  const agent = await service.connectedAgent({ sessionId })
  const journal = new Journal(agent)
  await agent.send('What do you know of me?')
  await eventually(() => journal.answers.length)
  expect([service.session, journal.answers]).toEqual([sessionId, ['{"plan":"gold"}']])
})

verifies('REST-07', 'a helper lists portals, agents and profiles, and selects a profile', async service => {
  const api = helperOf(service)
  expect(idsOf(await api.getPortals({ departmentId: 999 }))).toEqual([1001, 1002, 1003, 1004])
  expect(idsOf(await api.getMyPortals())).toEqual(expect.arrayContaining([1001, 1002, 1101]))
  const agents = await api.getAgentsByPortal({ departmentId: 999, portalId: 1001 })
  expect(agents.map(({ agentId }) => agentId)).toEqual(['desk', 'desk-orders'])
  expect(idsOf(await api.getUserProfiles({ portalId: 1001 }))).toEqual([10, 11, 12])
  await api.selectUserProfile({ portalId: 1001, profileId: 12 })
  expect(persisted(service)).toEqual(['1001/12'])
})

verifies(
  'REST-07',
  'a helper returns the details of the signed-in user or customer',
  async service => {
    const desk = helperOf(service)
    expect(await desk.getUserDetails()).toMatchObject({ email: 'desk-agent@people.example' })
    const shop = helperOf(service, 'customer')
    expect(await shop.getCustomerDetails()).toMatchObject({ name: 'Customer', email: 'customer@people.example' })
  },
  { differs: differsIn([...WITH_REFUSED_CHATS, 'ended connections'], 'a failed call returns null') },
)

verifies('REST-07', 'setLanguage() applies to all later calls', async service => {
  const api = helperOf(service)
  api.setLanguage('de-DE')
  await api.getUserProfiles({ portalId: 1001 })
  const [call] = service.requestsTo(paths.userProfiles(1001))
  expect([call?.query['$lang'], call?.headers['accept-language']]).toEqual(['de-de', 'de-de'])
})

verifies('REST-12', 'a helper returns the details of a portal', async service => {
  const api = helperOf(service)
  expect(await api.getPortalDetails({ portalId: 1001 })).toMatchObject({
    name: 'Support',
    departmentId: 999,
    portalSettings: { defaultUserProfile: { id: 11 } },
  })
})

verifies('REST-12', 'a helper returns the masking rules of a department', async service => {
  const rules = await helperOf(service).getMaskingPatterns({ departmentId: 1010 })
  expect(rules.patterns?.length).toBeGreaterThan(0)
  expect(rules.patterns?.[0]).toMatchObject({ javascriptRegularExpression: expect.any(String) })
  expect(await helperOf(service).getMaskingPatterns({ departmentId: 999 })).toMatchObject({ patterns: [] })
})

verifies('REST-12', 'a helper lists the connected apps of an agent, without a token', async service => {
  const api = service.patient(new ApiHelper({ apiDomain: service.endpoint }, service.environment()))
  const apps = await api.getConnectedApps({ tenantId: 'TEN0001', agentId: 'desk' })
  expect(JSON.stringify(apps)).toContain('"orders"')
  const [call] = service.requestsTo(paths.connectedApps('TEN0001', 'desk'))
  expect(call?.headers).not.toHaveProperty('authorization')
})

verifies('REST-12', 'a helper returns the transcript of an earlier session', async service => {
  const agent = await service.connectedAgent()
  const journal = new Journal(agent)
  await agent.send('Where is my parcel?')
  await eventually(() => journal.answers.length)
  const sessionId = service.session
  await service.through(agent.disconnect())
  const messages = await helperOf(service, 'customer').getPreviousTranscript({ agentId: 'help', sessionId })
  expect(messages).toMatchObject([
    { role: 'human', content: 'Where is my parcel?' },
    { content: 'You said: Where is my parcel?' },
  ])
})
