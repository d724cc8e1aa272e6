import { eventually } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { namesOf, passing, payloadsOf, rejection, sessionBodies, setUp } from '../../test/agent-harness.ts'
import { FakePage } from '../../test/fake-page.ts'
import type { AiAgentConfig } from '../config.ts'
import type { Environment } from '../platform/environment.ts'

/** An agent that retries, whose network the test switches on and off. The waits are 1500, 3000 and 6000 ms. */
function setUpOffline(config: Partial<AiAgentConfig> = {}, more: Partial<Environment> = {}) {
  const parts = setUp()
  const network = { isUp: false }
  const fetch: typeof globalThis.fetch = (...request) =>
    network.isUp ? parts.emulator.fetch(...request) : Promise.reject(new TypeError('fetch failed'))
  const { agent, told } = parts.make({ retryInitialize: true, ...config }, { fetch, ...more })
  const waits = () => payloadsOf(told, 'stateChanged').flatMap(({ retryInMs }) => retryInMs ?? [])
  const errors = () => payloadsOf(told, 'error').map(({ error }) => ('reason' in error ? error.reason : error.code))
  return { ...parts, network, agent, told, waits, errors }
}

describe('retryInitialize', () => {
  it('[REL-08] is off by default: initialize() rejects when there is no network', async () => {
    const { agent, told } = setUpOffline({ retryInitialize: false })
    expect(await rejection(agent.initialize())).toMatchObject({ code: 'API_ERROR', reason: 'network' })
    expect(namesOf(told)).toEqual([])
  })

  it('[REL-08] repeats initialize() with the waits and events of a connection until there is a network', async () => {
    const { clock, network, agent, told, waits, errors } = setUpOffline({ context: { plan: 'basic' } })
    const ready = agent.initialize()
    await clock.advance(0)
    expect([agent.getState(), waits(), errors()]).toEqual(['RECONNECTING', [1500], ['network']])
    await agent.setContext({ plan: 'gold' })
    await agent.send('Is anybody there?')
    await clock.advance(1_500)
    expect([agent.getState(), waits(), errors()]).toEqual(['RECONNECTING', [1500, 3000], ['network', 'network']])
    network.isUp = true
    await clock.advance(2_999)
    expect([agent.getState(), agent.getIsInitialized()]).toEqual(['RECONNECTING', false])
    await clock.advance(1)
    await expect(ready).resolves.toEqual({ status: 'ready' })
    expect([agent.getState(), agent.getIsInitialized(), agent.getContext()]).toMatchObject([
      'IDLE',
      true,
      { plan: 'gold' },
    ])
    expect(payloadsOf(told, 'stateChanged').map(({ state }) => state)).toEqual([
      'RECONNECTING',
      'CONNECTING',
      'RECONNECTING',
      'CONNECTING',
      'IDLE',
    ])
    await passing(clock, agent.connect())
    await agent.destroy()
  })

  it('[REL-08] rejects with the last failure when `maxReconnectAttempts` are used up', async () => {
    const { clock, network, agent, waits, errors } = setUpOffline({ maxReconnectAttempts: 2 })
    const failed = rejection(agent.initialize())
    await clock.advance(10_000)
    expect(await failed).toMatchObject({ code: 'API_ERROR', reason: 'network' })
    expect(waits()).toEqual([1500, 3000])
    expect(errors()).toEqual(['network', 'network', 'network', 'attempts_used_up'])
    expect(agent.getState()).toBe('IDLE')
    network.isUp = true
    await agent.initialize()
    expect(agent.getIsInitialized()).toBe(true)
  })

  it.each([500, 503])('[REL-08] repeats after HTTP status %s, also of a later call', async status => {
    const { clock, emulator, make } = setUp()
    emulator.faults.add({ kind: 'answer', route: 'POST */session', status, times: 2 })
    const { agent, told } = make({ retryInitialize: true })
    const ready = agent.initialize()
    for (const wait of [1_500, 3_000]) {
      await eventually(() => agent.getState() === 'RECONNECTING')
      await clock.advance(wait)
    }
    await ready
    expect(payloadsOf(told, 'error')).toMatchObject([{ error: { status } }, { error: { status } }])
    expect(sessionBodies(emulator)).toHaveLength(3)
  })

  it.each([
    ['an unknown agent', { id: 'nobody' }, { code: 'API_ERROR', status: 404 }],
    [
      'a refused token',
      { id: 'account', auth: { type: 'pre-auth', accessToken: 'a.b.c' } },
      { code: 'API_ERROR', status: 401 },
    ],
  ] as const)('[REL-08] rejects at once for %s', async (_, config, expected) => {
    const { network, agent, told } = setUpOffline(config)
    network.isUp = true
    expect(await rejection(agent.initialize())).toMatchObject(expected)
    expect(payloadsOf(told, 'error')).toEqual([])
  })

  it('[REL-08] repeats a portal selection that could not load the portals', async () => {
    const { clock, emulator, make } = setUp()
    emulator.faults.add({ kind: 'answer', route: 'GET */portals', status: 503, times: 1 })
    const { agent, told } = make({ id: 'selfservice', retryInitialize: true })
    const first = agent.initialize()
    // The code of the selection is loaded first.
    await eventually(() => agent.getState() === 'RECONNECTING')
    await clock.advance(1_500)
    await expect(first).resolves.toMatchObject({ status: 'choose', gate: 'portal' })
    expect(payloadsOf(told, 'error')).toMatchObject([{ error: { code: 'PORTAL_FETCH_FAILED' } }])
    await agent.destroy()
  })

  it.each(['disconnect', 'logout', 'destroy'] as const)('[REL-08] %s() ends it', async end => {
    const { clock, network, agent, errors } = setUpOffline()
    const failed = rejection(agent.initialize())
    await clock.advance(100)
    const left = agent[end]()
    expect(await failed).toMatchObject({ code: 'ABORTED' })
    await left
    network.isUp = true
    await clock.advance(60_000)
    expect([errors(), agent.getState(), agent.getIsInitialized()]).toEqual([['network'], 'IDLE', false])
  })

  it('[REL-08] the signal ends it, and only for its caller', async () => {
    const { clock, network, agent } = setUpOffline()
    const [first, second] = [new AbortController(), new AbortController()]
    const failed = rejection(agent.initialize({ signal: first.signal }))
    const ready = agent.initialize({ signal: second.signal })
    await clock.advance(100)
    first.abort()
    expect(await failed).toMatchObject({ code: 'ABORTED' })
    network.isUp = true
    await clock.advance(1_500)
    await ready
    expect(agent.getIsInitialized()).toBe(true)
  })

  it('[REL-08] a further call ends the wait, at most once a second, and both calls resolve', async () => {
    const { clock, network, agent, waits } = setUpOffline()
    const first = agent.initialize()
    await clock.advance(0)
    const calls = [agent.initialize(), agent.initialize()]
    await clock.advance(0)
    expect(waits()).toEqual([1500, 3000])
    calls.push(agent.initialize())
    await clock.advance(999)
    expect(waits()).toHaveLength(2)
    network.isUp = true
    await clock.advance(1)
    expect(await Promise.all([first, ...calls])).toEqual(Array(4).fill({ status: 'ready' }))
    await agent.destroy()
  })

  it('[REL-08] a further call leaves a wait that the service has asked for', async () => {
    const { clock, emulator, make } = setUp()
    const headers = { 'retry-after': '20' }
    emulator.faults.add({ kind: 'answer', route: 'POST */session', status: 503, times: 1, headers })
    const { agent } = make({ retryInitialize: true })
    const ready = [agent.initialize()]
    await eventually(() => agent.getState() === 'RECONNECTING')
    ready.push(agent.initialize())
    await clock.advance(19_999)
    expect(agent.getIsInitialized()).toBe(false)
    await clock.advance(1)
    await Promise.all(ready)
    await agent.destroy()
  })

  it('[REL-08] the return of the network ends the wait, and no timer or listener is left', async () => {
    const page = new FakePage()
    const { clock, network, agent } = setUpOffline({}, { page })
    const ready = agent.initialize()
    await clock.advance(100)
    network.isUp = true
    page.comeBack()
    await ready
    expect(agent.getIsInitialized()).toBe(true)
    await agent.destroy()
    expect(page.listeners).toBe(0)
  })
})
