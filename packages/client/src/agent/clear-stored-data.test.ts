import { describe, expect, it } from 'vitest'
import { setUp } from '../../test/agent-harness.ts'
import { FakeStorage } from '../../test/fake-service.ts'
import { AiAgent } from '../ai-agent.ts'

describe('AiAgent.clearStoredData()', () => {
  it('[SEC-18] removes what was stored for the deployment, and nothing else, without a request', async () => {
    const sessionStorage = new FakeStorage()
    const localStorage = new FakeStorage()
    sessionStorage.setItem('of the host', 'stays')
    const { emulator, environment, make } = setUp({}, { sessionStorage, localStorage })
    const accessToken = emulator.control.issueToken({ subject: 'desk-agent' })
    const auth = { type: 'pre-auth', accessToken } as const
    const desk = make({ id: 'desk', auth, context: { vendor_portal_id: '1002' } }).agent
    await desk.initialize()
    await desk.destroy()
    const anonymous = make({ cache: { storageType: 'local' } }).agent
    await anonymous.initialize({ context: { plan: 'gold' } })
    await anonymous.destroy()
    const requests = emulator.control.requests().length
    const before = [...sessionStorage.items.keys(), ...localStorage.items.keys()]
    for (const start of ['aiagent_context_', 'aiagent_cache_', 'aiagent_auth_', 'vendor_profiles_', 'v2_'])
      expect(before.some(key => key.startsWith(start))).toBe(true)
    await AiAgent.clearStoredData('https://elsewhere.test', { environment })
    expect(
      [...sessionStorage.items.keys(), ...localStorage.items.keys()].filter(key => /context_|v2_/.test(key)),
    ).toEqual(before.filter(key => /context_|v2_/.test(key)))
    await AiAgent.clearStoredData(emulator.origin, { environment })
    expect([...sessionStorage.items.keys(), ...localStorage.items.keys()]).toEqual(['of the host'])
    expect(emulator.control.requests()).toHaveLength(requests)
  })
})
