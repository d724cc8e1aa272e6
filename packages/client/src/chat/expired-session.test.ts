import { describe, expect, it } from 'vitest'
import { passing, setUp } from '../../test/agent-harness.ts'
import { FakeStorage } from '../../test/fake-service.ts'
import type { AiAgentConfig } from '../config.ts'
import { MemoryCacheAdapter } from '../storage/memory-cache-adapter.ts'

// Loaded before the clock is moved: loading a module takes real time.
await Promise.all([import('../agent/portal-lifecycle.ts'), import('../masking/load-masker.ts')])

/** A browser with two stores, and pages in it, one after the other. */
function setUpPages() {
  const parts = setUp()
  const sessionStorage = new FakeStorage()
  const localStorage = new FakeStorage()
  const visit = async (subject: string | undefined, config: Partial<AiAgentConfig> = {}) => {
    const { clock, emulator, make } = parts
    const auth = { getToken: () => emulator.control.issueToken(subject ? { subject } : {}) }
    const user = subject && { id: 'desk', auth, initParams: { isDefaultAgent: 'true' } }
    const environment = { sessionStorage, localStorage, memory: new MemoryCacheAdapter() }
    const { agent } = make({ ...user, ...config }, environment)
    await passing(clock, agent.initialize())
    await passing(clock, agent.destroy())
  }
  /** The keys of entries that an expiry has passed: their own, else five minutes, which is that of a response. */
  const expired = () =>
    [sessionStorage, localStorage].flatMap(({ items }) =>
      [...items].flatMap(([key, text]) => {
        if (!/^(?:aiagent_(?:cache|auth|static)_|mine_)/.test(key)) return []
        const { value, timestamp } = JSON.parse(text) as { value: { expiresAt?: number }; timestamp: number }
        return parts.clock.now() < (value.expiresAt ?? timestamp + 300_000) ? [] : [key]
      }),
    )
  return { ...parts, sessionStorage, localStorage, visit, expired }
}

const SHARED: Partial<AiAgentConfig>[] = [
  { cache: { storageType: 'local' } },
  { cache: { storageType: 'local', keyPrefix: 'mine_' } },
  { auth: { type: 'anonymous', config: { cache: { storageType: 'local' } } } },
]

describe('what has expired in the stores of a page', () => {
  it.each([
    ['of the tab', {}, {}],
    ['of the origin', ...SHARED.slice(0, 1), ...SHARED.slice(0, 1)],
    ['under a prefix', ...SHARED.slice(1, 2), ...SHARED.slice(1, 2)],
  ])('[SEC-77] is removed with the start of another user: %s', async (_, config, other) => {
    const { clock, visit, expired, sessionStorage, localStorage } = setUpPages()
    await visit('desk-agent', config)
    const count = () => sessionStorage.items.size + localStorage.items.size
    expect(count()).toBeGreaterThan(2)
    await clock.advance(2 * 3_600_000)
    expect(expired().length).toBeGreaterThan(1)
    await visit('customer', { id: 'account', initParams: {}, ...other })
    expect(expired()).toEqual([])
  })

  it('[SEC-77] is removed also where the next user finds all their responses', async () => {
    const { clock, visit, expired, localStorage } = setUpPages()
    const config = SHARED[0]
    await visit('desk-agent', config)
    await clock.advance(250_000)
    await visit('customer', { id: 'account', initParams: {}, ...config })
    await clock.advance(100_000)
    expect(expired().length).toBeGreaterThan(0)
    const fresh = [...localStorage.items.keys()].filter(key => !expired().includes(key))
    await visit('customer', { id: 'account', initParams: {}, ...config })
    expect(expired()).toEqual([])
    // What has time left stays, of any owner.
    expect([...localStorage.items.keys()]).toEqual(expect.arrayContaining(fresh))
  })

  it('[SEC-77] an anonymous token for other scopes', async () => {
    const { clock, visit, expired, localStorage } = setUpPages()
    const config = SHARED[2]
    const tokens = () => [...localStorage.items.keys()].filter(key => key.includes(':anonymous_token:'))
    await visit(undefined, { ...config, initParams: { scopes: 'one' } })
    const first = tokens()
    expect(first.length).toBeGreaterThan(0)
    await clock.advance(12 * 3_600_000)
    await visit(undefined, { ...config, id: 'billing' })
    expect(expired()).toEqual([])
    expect(tokens()).not.toEqual(expect.arrayContaining(first))
  })
})
