import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { AiAgentConfig } from '../src/config.ts'
import { framesArrived, payloadsOf, rejection } from './agent-harness.ts'
import { FakeStorage } from './fake-service.ts'

const CONTACT_CENTER = '../src/agent/portal-lifecycle.ts'

/** Makes the file of a feature one that cannot be loaded, until the end of the test or {@link vi.doUnmock}. */
function withhold(file: string): void {
  mocked.push(file)
  vi.doMock(file, () => {
    throw new Error('offline')
  })
}

const mocked: string[] = []

beforeEach(() => {
  vi.resetModules()
  // As in a page, where each feature loads when it is first used.
  vi.doMock('#features', () => vi.importActual('../src/agent/features.ts'))
})
afterEach(() => {
  for (const file of mocked.splice(0)) vi.doUnmock(file)
  vi.doUnmock('#features')
  vi.resetModules()
})

describe('the contact center that cannot be loaded', () => {
  /** An agent with portals, of a client whose modules are loaded for this test. */
  const setUpDesk = async (config: Partial<AiAgentConfig> = {}) => {
    withhold(CONTACT_CENTER)
    const { setUp } = await import('./agent-harness.ts')
    const parts = setUp()
    const accessToken = parts.emulator.control.issueToken({ subject: 'desk-agent' })
    const { agent, told } = parts.make({ id: 'desk', auth: { type: 'pre-auth', accessToken }, ...config })
    const waits = () => payloadsOf(told, 'stateChanged').filter(({ retryInMs }) => retryInMs !== undefined).length
    return { ...parts, agent, waits }
  }

  it('[REL-37] rejects initialize() with MODULE_LOAD_FAILED and its name, and the next call loads it', async () => {
    const { agent } = await setUpDesk()
    const error = { code: 'MODULE_LOAD_FAILED', message: expect.stringMatching(/"contact center".*reload the page/) }
    expect(await rejection(agent.initialize())).toMatchObject(error)
    expect(agent.getPhase()).toMatchObject({ at: 'idle', error })
    expect((await agent.explain()).code).toBe('initialize_failed')
    vi.doUnmock(CONTACT_CENTER)
    expect(await agent.initialize()).toMatchObject({ status: 'choose', gate: 'portal' })
    await agent.destroy()
  })

  it('[REL-37] is loaded again by itself with retryInitialize', async () => {
    const { agent, clock } = await setUpDesk({ retryInitialize: true })
    const initialized = agent.initialize()
    await vi.waitFor(() => expect(agent.getState()).toBe('RECONNECTING'))
    vi.doUnmock(CONTACT_CENTER)
    await clock.advance(2_000)
    expect(await initialized).toMatchObject({ status: 'choose', gate: 'portal' })
    await agent.destroy()
  })

  it('[REL-37] ends retryInitialize after four failures in a row, with an error that says to reload the page', async () => {
    const { agent, clock, waits } = await setUpDesk({ retryInitialize: true })
    const failure = rejection(agent.initialize())
    await vi.waitFor(() => expect(agent.getState()).toBe('RECONNECTING'))
    await vi.waitFor(async () => {
      await clock.advance(30_000)
      expect(agent.getState()).toBe('IDLE')
    })
    const error = { code: 'MODULE_LOAD_FAILED', message: expect.stringContaining('reload the page') }
    expect(await failure).toMatchObject(error)
    expect([waits(), agent.getPhase()]).toMatchObject([3, { at: 'idle', error }])
    vi.doUnmock(CONTACT_CENTER)
    expect(await agent.initialize()).toMatchObject({ status: 'choose' })
    await agent.destroy()
  })

  it('[REL-37] is given up by disconnect(), with retryInitialize', async () => {
    const { agent, clock } = await setUpDesk({ retryInitialize: true })
    const failure = rejection(agent.initialize())
    await vi.waitFor(() => expect(agent.getState()).toBe('RECONNECTING'))
    await agent.disconnect()
    expect(await failure).toMatchObject({ code: 'ABORTED' })
    expect([agent.getPhase().at, agent.getState(), clock.pendingTimers]).toEqual(['idle', 'IDLE', 0])
    await agent.destroy()
  })
})

describe('a feature that an agent works without', () => {
  it.each([
    ['resume', '../src/resume/session-resume.ts', { resume: true }],
    ['persistQueue', '../src/resume/stored-queue.ts', { persistQueue: true }],
  ] as const)('[REL-37] is %s: a warning names it when it cannot be loaded', async (feature, file, config) => {
    withhold(file)
    const { setUp } = await import('./agent-harness.ts')
    const { emulator, printed, make } = setUp({}, { sessionStorage: new FakeStorage() })
    const { agent } = make(config)
    await agent.send('early')
    await agent.initialize()
    await agent.connect()
    await agent.send('late')
    await framesArrived(emulator, 2)
    const warnings = printed.map(([line]) => String(line)).filter(line => line.startsWith('[WARN]'))
    expect(warnings).toContainEqual(expect.stringContaining(`Could not load the part "${feature}"`))
    await agent.destroy()
  })

  it('[REL-37] is tabs: each tab has a conversation of its own when it cannot be loaded', async () => {
    withhold('../src/tabs/tab-group.ts')
    const { setUpTabs } = await import('./set-up-tabs.ts')
    const { browser, emulator, connected } = setUpTabs()
    const printed: string[] = []
    const console = { debug() {}, info() {}, warn: (line: string) => void printed.push(line), error() {} }
    const agents = []
    for (const tab of [browser.open(), browser.open()]) {
      Object.defineProperty(tab, 'environment', { value: { ...tab.environment, console } })
      agents.push((await connected({ enableLogging: true }, tab)).agent)
    }
    await agents[0]?.send('one')
    await agents[1]?.send('two')
    const [first = '', second = ''] = emulator.world.sessions.keys()
    await framesArrived(emulator, 1, first)
    await framesArrived(emulator, 1, second)
    expect(emulator.world.sessions.size).toBe(2)
    expect(printed).toContainEqual(expect.stringContaining('Could not load the part "tabs"'))
    for (const agent of agents) await agent.destroy()
  })
})
