import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { lastSession, passing, payloadsOf, setUp } from '../../test/agent-harness.ts'
import { FakeStorage } from '../../test/fake-service.ts'
import { LogLevel } from '../logger.ts'

describe('the secrets of a whole life', () => {
  it('from sign-in to logout, at level TRACE, stand in no log, event, transcript, error or foreign store', async () => {
    const sessionStorage = new FakeStorage()
    const { clock, emulator, printed, make } = setUp({}, { sessionStorage })
    const tokens: string[] = []
    const issue = () => {
      const token = emulator.control.issueToken({ subject: 'customer', lifeSeconds: 3_600 })
      tokens.push(token)
      return token
    }
    let refreshes = 0
    const refreshTokenFn = async () => {
      if (++refreshes > 1) throw new Error('the host cannot renew any more')
      return issue()
    }
    const auth = { type: 'pre-auth', accessToken: issue(), refreshTokenFn } as const
    const { agent, told } = make({ id: 'account', auth, logLevel: LogLevel.TRACE })
    const logged: unknown[] = []
    agent.logger.on('log', entry => void logged.push(entry))
    await agent.initialize({ context: { plan: 'gold' } })
    await agent.connect()
    await agent.send('hello')
    // The service refuses the token twice: once it can be renewed, once it cannot.
    for (const _ of [1, 2]) {
      emulator.control.expireTokens()
      await agent.send('and again')
      for (let steps = 0; steps < 100; steps++) await clock.advance(10)
    }
    await agent.updateAccessToken(issue())
    for (let steps = 0; steps < 100; steps++) await clock.advance(10)
    const transcript = agent.getTranscriptAsJSON()
    await passing(clock, agent.logout())
    expect(tokens).toHaveLength(3)
    // All of it happened, or the search below would find nothing for want of trying.
    expect(payloadsOf(told, 'tokenExpiring')).not.toEqual([])
    expect(payloadsOf(told, 'agentMessage')).toHaveLength(3)
    expect(printed.length).toBeGreaterThan(0)
    const errors = payloadsOf(told, 'error').map(({ error }) => [error.message, error.stack, String(error.cause)])
    const stored = Array.from({ length: sessionStorage.length }, (_, index) =>
      sessionStorage.getItem(sessionStorage.key(index) ?? ''),
    )
    const everything = JSON.stringify([printed, logged, told, transcript, errors, stored])
    for (const token of tokens) expect(everything).not.toContain(token.split('.')[2])
  })
})

describe('the error of an unreadable frame', () => {
  it.each([
    ['is not JSON', 'Ines, your card 4111 is blocked'],
    ['is JSON up to a point', '{"persona":"agent","role":"ai","content":"your card 4111 is blocked"'],
    ['has no persona', '{"role":"ai","content":"your card 4111 is blocked"}'],
  ])('[SEC-34] prints nothing of a frame that %s', async (_case, frame) => {
    const { emulator, clock, make, printed } = setUp()
    const { agent, told } = make({ logLevel: LogLevel.TRACE })
    await agent.initialize()
    await agent.connect()
    emulator.control.pushFrame(lastSession(emulator), frame)
    await clock.advance(10)
    const [reported] = payloadsOf(told, 'error')
    expect(reported?.error).toMatchObject({ reason: 'unreadable', cause: { data: frame } })
    for (const text of [inspect(reported?.error), JSON.stringify(reported?.error), inspect(printed)])
      expect(text).not.toMatch(/4111|Ines/)
    await agent.destroy()
  })
})
