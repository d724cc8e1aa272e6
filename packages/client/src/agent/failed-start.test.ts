import { describe, expect, it } from 'vitest'
import { passing, rejection, setUp } from '../../test/agent-harness.ts'
import type { AiAgentConfig } from '../config.ts'
import { Logger, LogLevel } from '../logger.ts'
import type { Environment } from '../platform/environment.ts'

/** An agent whose warnings are collected. */
function setUpLogged(config: Partial<AiAgentConfig> = {}, more: Partial<Environment> = {}) {
  const parts = setUp()
  const logger = new Logger({ enableConsole: false })
  const warnings: [message: string, code: unknown][] = []
  logger.on('log', ({ level, message, context }) => {
    if (level >= LogLevel.WARN) warnings.push([message, context?.['code']])
  })
  const { agent } = parts.make({ logger, ...config }, more)
  return { ...parts, agent, warnings }
}

const down: Partial<Environment> = { fetch: () => Promise.reject(new TypeError('fetch failed')) }

describe('a failed initialize()', () => {
  it.each<[string, Partial<AiAgentConfig>, Partial<Environment>, string, RegExp]>([
    ['an unknown agent', { id: 'helpp' }, {}, 'API_ERROR', /helpp.*Check the id of the agent/],
    [
      'a refused token',
      { id: 'account', auth: { type: 'pre-auth', accessToken: 'abc' } },
      {},
      'API_ERROR',
      /Check which token is passed/,
    ],
    [
      'a missing token',
      { id: 'account', auth: { type: 'pre-auth', accessToken: '' } },
      {},
      'AUTH_ERROR',
      /Pass it as auth\.accessToken/,
    ],
    ['a login outside a page', { id: 'account' }, {}, 'AUTH_ERROR', /Pass `auth: /],
    ['a host that cannot be reached', {}, down, 'API_ERROR', /Call it again, or set retryInitialize\./],
    [
      'a portal selection for a user without portals',
      { id: 'selfservice', initParams: { portalIds: 'x' }, auth: { getToken: () => null as never } },
      {},
      'AUTH_TOKEN_REQUIRED',
      /none could be obtained/,
    ],
  ])('[REL-285] is one warning with its code and what helps: %s', async (_case, config, more, code, remedy) => {
    const { agent, warnings } = setUpLogged(config, more)
    // Two callers, of whom one does not look at the outcome, as a user interface.
    agent.initialize().catch(() => {})
    const error = await rejection(agent.initialize())
    expect(warnings).toEqual([[expect.stringMatching(remedy), code]])
    expect(warnings[0]?.[0]).toContain(error.message)
    // The next attempt is another failure.
    await rejection(agent.initialize())
    expect(warnings).toHaveLength(2)
    await agent.destroy()
  })

  it('[REL-285] is not printed with enableLogging: false', async () => {
    const { make, printed } = setUp()
    await rejection(make({ id: 'helpp' }).agent.initialize())
    expect(printed).toHaveLength(1)
    await rejection(make({ id: 'helpp', enableLogging: false }).agent.initialize())
    expect(printed).toHaveLength(1)
  })

  it.each(['signal', 'disconnect', 'logout', 'destroy'] as const)(
    '[REL-285] writes no warning where it was ended by %s',
    async end => {
      for (const retryInitialize of [false, true]) {
        const { agent, clock, warnings } = setUpLogged(
          { retryInitialize },
          { fetch: (_input, init) => new Promise((_, reject) => init?.signal?.addEventListener('abort', reject)) },
        )
        const caller = new AbortController()
        const failed = rejection(agent.initialize({ signal: caller.signal }))
        await clock.advance(10)
        if (end === 'signal') caller.abort()
        else if (end === 'disconnect' && !retryInitialize) caller.abort('left')
        else await passing(clock, agent[end]())
        await failed
        await clock.advance(60_000)
        expect(warnings).toEqual([])
        await agent.destroy()
      }
    },
  )

  it('[REL-285] with retryInitialize is logged for the first attempt, and once for each other code', async () => {
    const { agent, clock, emulator, warnings } = setUpLogged({ retryInitialize: true, maxReconnectAttempts: 4 })
    emulator.faults.add({ kind: 'answer', status: 503 })
    const errors: string[] = []
    agent.on('error', ({ payload }) => void errors.push(payload.error.code))
    const failed = rejection(agent.initialize())
    await clock.advance(4_000)
    expect(errors).toEqual(['API_ERROR', 'API_ERROR'])
    expect(warnings).toEqual([
      [expect.stringMatching(/503.* initialize\(\) is tried again in 1500 ms\.$/), 'API_ERROR'],
    ])
    emulator.faults.lift()
    emulator.faults.add({ kind: 'answer', route: '/oauth/*', status: 503 })
    await clock.advance(60_000)
    await failed
    expect(errors).toEqual(['API_ERROR', 'API_ERROR', 'AUTH_ERROR', 'AUTH_ERROR', 'AUTH_ERROR', 'CONNECTION_ERROR'])
    expect(warnings.map(([, code]) => code)).toEqual([...new Set(errors)])
    await agent.destroy()
  })

  it('[REL-285] with retryInitialize is logged where another attempt would not help', async () => {
    const { agent, clock, emulator, warnings } = setUpLogged({ id: 'helpp', retryInitialize: true })
    emulator.faults.add({ kind: 'answer', status: 503, times: 1 })
    const failed = rejection(agent.initialize())
    await clock.advance(2_000)
    await failed
    expect(warnings).toEqual([
      [expect.stringContaining('503'), 'API_ERROR'],
      [expect.stringContaining('Check the id of the agent.'), 'API_ERROR'],
    ])
  })
})
