import { describe, expect, it } from 'vitest'
import { passing, rejection, setUp } from '../../test/agent-harness.ts'

function setUpGate() {
  const parts = setUp()
  const accessToken = parts.emulator.control.issueToken({ subject: 'desk-agent' })
  const { agent, told } = parts.make({ id: 'desk', auth: { type: 'pre-auth', accessToken }, cache: { enabled: false } })
  return { ...parts, agent, told }
}

describe('a choice that the user must make', () => {
  it('[REL-04] is the result of initialize() and of each selection, also for a second call', async () => {
    const { agent } = setUpGate()
    const first = await agent.initialize()
    expect(first).toMatchObject({ status: 'choose', gate: 'portal' })
    expect(await agent.initialize()).toEqual(first)
    if (first.status !== 'choose' || first.gate !== 'portal') throw new Error('A portal was expected.')
    expect(first.choices.map(({ id }) => id)).toContain(1101)
    const second = await agent.selectPortal({ id: 1101 })
    expect(second).toMatchObject({ status: 'choose', gate: 'profile' })
    if (second.status !== 'choose' || second.gate !== 'profile') throw new Error('A profile was expected.')
    expect(await agent.selectUserProfile(second.choices[0] ?? { id: 0 })).toEqual({ status: 'ready' })
    expect(await agent.initialize()).toEqual({ status: 'ready' })
    await agent.destroy()
  })

  it('[REL-04] rejects a selection that a restart replaced with ABORTED', async () => {
    const { clock, agent } = setUpGate()
    await agent.initialize()
    const replaced = rejection(agent.selectPortal({ id: 1001 }))
    await passing(clock, agent.restartPortalInitializer())
    expect(await replaced).toMatchObject({ code: 'ABORTED' })
    await agent.destroy()
  })

  it('[REL-05] [ADOPT-10] is named by connect(), and by a warning of send() and ask(), with the method that answers it', async () => {
    const { agent, printed } = setUpGate()
    expect((await rejection(agent.connect())).message).toContain('initialize()')
    await agent.initialize()
    const error = await rejection(agent.connect())
    expect(error).toMatchObject({ code: 'NOT_INITIALIZED', message: expect.stringContaining('not initialized') })
    expect(error.message).toContain('selectPortal()')
    expect(error.message).not.toContain('initialize()')
    await agent.send('hello')
    const asked = rejection(agent.ask('well?'))
    const warnings = printed.flat().join('\n')
    expect(warnings).toMatch(/send\(\).*selectPortal\(\)/)
    expect(warnings).toMatch(/ask\(\).*selectPortal\(\)/)
    await agent.destroy()
    expect(await asked).toMatchObject({ code: 'ABORTED' })
  })

  it('[REL-06] [ERR-02] is AUTH_TOKEN_REQUIRED at the start when no token can be obtained', async () => {
    const { make } = setUp()
    const auth = { getToken: () => Promise.reject(new Error('The session of the host has ended.')) }
    const { agent } = make({ id: 'desk', auth, initParams: { portalIds: '1001,1002' } })
    expect(await rejection(agent.initialize())).toMatchObject({
      name: 'InitializationPipelineError',
      code: 'AUTH_TOKEN_REQUIRED',
      stage: 'start',
      cause: { name: 'AuthError', reason: 'token_request_failed' },
    })
    expect(await rejection(make({ auth }).agent.initialize())).toMatchObject({ name: 'AuthError' })
  })
})
