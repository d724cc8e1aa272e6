import { createEmulator } from '@aiagent/emulator'
import { describe, expect, it } from 'vitest'
import { payloadsOf, sessionBodies, setUp } from '../../test/agent-harness.ts'
import { FakeStorage } from '../../test/fake-service.ts'

/** Two deployments of the same tenant, and one tab in which agents of both run. */
function setUpDeployments() {
  const sessionStorage = new FakeStorage()
  const bank = setUp({ origin: 'http://bank.test' }, { sessionStorage })
  const shop = createEmulator({ clock: bank.clock, origin: 'http://shop.test' })
  const atShop = { fetch: shop.fetch, WebSocket: shop.WebSocket }
  return { ...bank, sessionStorage, shop, atShop }
}

/** A contact-center agent that stops at the profile gate, unless a profile is remembered. */
function deskConfig(subject: string, service: ReturnType<typeof createEmulator>) {
  const accessToken = service.control.issueToken({ subject })
  return {
    id: 'desk',
    endpoint: service.origin,
    auth: { type: 'pre-auth', accessToken },
    initParams: { portalIds: '1101' },
  } as const
}

describe('two deployments on one page', () => {
  it('[SEC-25] does not send the context of one to the other', async () => {
    const { make, shop, atShop, emulator } = setUpDeployments()
    const { agent } = make({ context: { accountBalance: '12,345.67' } })
    await agent.initialize()
    const other = make({ endpoint: shop.origin }, atShop).agent
    await other.initialize()
    expect(other.getContext()).toBeNull()
    expect(sessionBodies(shop)).toEqual([{}])
    expect(sessionBodies(emulator)).toEqual([{ context: { accountBalance: '12,345.67' } }])
  })

  it('[SEC-25] does not select the profile that was chosen at the other', async () => {
    const { make, shop, atShop, emulator } = setUpDeployments()
    const { agent } = make(deskConfig('desk-agent', emulator))
    await agent.initialize()
    await agent.selectUserProfile({ id: 31 })
    const other = make(deskConfig('desk-agent', shop), atShop)
    await other.agent.initialize()
    expect(payloadsOf(other.told, 'initialized')).toEqual([])
    const again = make(deskConfig('desk-agent', emulator))
    await again.agent.initialize()
    expect(payloadsOf(again.told, 'initialized')).toMatchObject([{ profile: { id: 31 } }])
  })
})

describe('two users in one tab', () => {
  it('[SEC-26] asks the second user for a profile, and stores no selection of the first one', async () => {
    const { make, emulator, sessionStorage } = setUpDeployments()
    const first = make(deskConfig('desk-agent', emulator)).agent
    await first.initialize()
    await first.selectUserProfile({ id: 31 })
    await first.destroy()
    const choices = () => [...sessionStorage.items.keys()].filter(key => /^(vendor_profiles_|v2_)/.test(key))
    expect(choices()).toHaveLength(2)
    const second = make(deskConfig('customer', emulator))
    await second.agent.initialize()
    expect(payloadsOf(second.told, 'initialized')).toEqual([])
    expect(choices()).toEqual([])
  })
})
