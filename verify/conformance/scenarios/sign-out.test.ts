import type { AuthStrategy } from '@aiagent/client'
import { paths } from '@aiagent/protocol'
import { expect } from 'vitest'
import { openDesk } from '../desk.ts'
import { newTab, type Place, reloaded } from '../tab.ts'
import { verifies } from '../verifies.ts'
import type { Service } from '../wire.ts'

const CARD = '4111 1111 1111 1111'
const MASKED_CARD = '***************1111'
const RULES = paths.maskingPatterns(1010, 'chat')
const RULES_ROUTE = `GET ${RULES}`

/** Keys of selected profiles in a tab's session storage. */
function selectedProfiles({ sessionStorage: store }: Place): string[] {
  const keys = Array.from({ length: store?.length ?? 0 }, (_, index) => store?.key(index) ?? '')
  return keys.filter(key => key.includes('selectedProfile'))
}

/** Whether each fault has applied to a request. */
const hasStruck = (service: Service) => service.faults.inForce().every(({ hits }) => hits > 0)

verifies(['AUTH-20', 'AUTH-23'], 'logout() leaves the chat before the strategy signs out', async service => {
  const order: string[] = []
  const strategy: AuthStrategy = {
    initialize: () => {},
    authenticate: () => {},
    getToken: () => service.control.issueToken(),
    logout: () => void order.push('signed out'),
  }
  const agent = await service.connectedAgent({ auth: strategy })
  agent.on('closed', () => order.push('closed'))
  await service.through(agent.logout())
  expect(order).toEqual(['closed', 'signed out'])
})

verifies(['AUTH-23', 'FLOW-13'], 'a sign-out removes the selected profile of the tab', async service => {
  const place = newTab()
  const environment = service.environment(place)
  const { agent } = openDesk(service, { initParams: { portalIds: '1001' } }, { environment })
  await agent.initialize()
  expect(selectedProfiles(place)).not.toEqual([])
  await service.through(agent.logout())
  expect(selectedProfiles(place)).toEqual([])
})

verifies(
  ['FLOW-19', 'AUTH-23'],
  'masking rules end with the sign-out of the user they were loaded for',
  async service => {
    const agent = service.newAgent({ id: 'billing' })
    await agent.initialize()
    expect(agent.maskContent(CARD)).toBe(MASKED_CARD)
    await service.through(agent.logout())
    expect(agent.previewMasking(CARD)).toEqual({ isActive: false, content: CARD, spans: [] })
  },
)

verifies(['FLOW-19', 'AUTH-23'], 'masking rules that arrive after the sign-out are ignored', async service => {
  service.faults.add({ kind: 'delay-requests', route: RULES_ROUTE, ms: 1_000, times: 1 })
  const agent = service.newAgent({ id: 'billing' })
  const starting = agent.initialize().catch(() => {})
  await service.until(() => hasStruck(service))
  const leaving = agent.logout()
  await service.elapse(2_000)
  await service.through(leaving)
  await service.through(starting)
  expect(agent.previewMasking(CARD).isActive).toBe(false)
})

verifies('FLOW-19', 'masking rules are loaded again for another user of the tab', async service => {
  const place = newTab()
  const enter = async (subject: string) => {
    const auth = { type: 'pre-auth', accessToken: service.control.issueToken({ subject }) } as const
    await service.newAgent({ id: 'billing', auth }, service.environment(reloaded(place))).initialize()
    return service.requestsTo(RULES).length
  }
  expect(await enter('customer')).toBe(1)
  expect(await enter('customer')).toBe(1)
  expect(await enter('desk-agent')).toBe(2)
})

verifies(['FLOW-13', 'AUTH-23'], 'a choice that a sign-out interrupts is not stored', async service => {
  const place = newTab()
  const { agent } = openDesk(
    service,
    { initParams: { portalIds: '1101' } },
    { environment: service.environment(place) },
  )
  await agent.initialize()
  service.faults.add({ kind: 'delay-requests', route: 'PUT *', ms: 50, times: 1 })
  const choosing = agent.selectUserProfile({ id: 30 }).catch(error => error)
  await service.until(() => hasStruck(service))
  await service.through(agent.logout())
  await service.through(choosing)
  expect(selectedProfiles(place)).toEqual([])
})
