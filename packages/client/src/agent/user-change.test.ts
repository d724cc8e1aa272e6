import { describe, expect, it } from 'vitest'
import { namesOf, passing, payloadsOf, rejection, sentTo, sessionBodies, setUp } from '../../test/agent-harness.ts'
import { FakeStorage } from '../../test/fake-service.ts'
import { HostStore } from '../../test/host-store.ts'

// Loaded before, since the manual clock does not wait for a file.
await Promise.all([
  import('./portal-lifecycle.ts'),
  import('../resume/session-resume.ts'),
  import('../resume/stored-queue.ts'),
])

/** An account agent whose host supplies the token of a user that the test changes. */
function setUpUser() {
  const sessionStorage = new FakeStorage()
  const parts = setUp({}, { sessionStorage })
  const issue = (subject: string) => parts.emulator.control.issueToken({ subject })
  const user = { token: issue('customer') }
  const { agent, told } = parts.make({ id: 'account', auth: { getToken: async () => user.token } })
  const changes: unknown[] = []
  agent.on('userChanged', () => {
    changes.push([agent.getTranscriptSize(), agent.getContext(), agent.getUserDetails(), agent.getQueueSize()])
  })
  return { ...parts, sessionStorage, issue, user, agent, told, changes }
}

describe('another user', () => {
  it.each(['a custom adapter', 'the store of the tab'])(
    '[SEC-16] [OWN-33] removes from %s what is stored of the previous one, and nothing of a third one',
    async where => {
      const store = new HostStore()
      const sessionStorage = new FakeStorage()
      const isCustom = where === 'a custom adapter'
      const { clock, emulator, make } = setUp({}, { sessionStorage })
      const context = { vendor_portal_id: '1002' }
      const tokenOf = (subject: string) => emulator.control.issueToken({ subject })
      const visit = async (id: string, subject: string) => {
        const auth = { type: 'pre-auth', accessToken: tokenOf(subject) } as const
        const { agent } = make({ id, auth, context, resume: true, ...(isCustom && { cache: { adapter: store } }) })
        await agent.initialize()
        await passing(clock, agent.connect())
        return agent
      }
      const sessions = () =>
        [...sessionStorage.items.keys(), ...store.entries.keys()].filter(key => /_session_/.test(key))
      await (await visit('desk', 'desk-agent')).destroy()
      const ofThird = sessions()
      await (await visit('help', 'customer')).destroy()
      const agent = await visit('account', 'customer')
      expect(sessions()).toHaveLength(3)
      const changed = new Promise(resolve => agent.once('userChanged', resolve))
      await passing(clock, agent.updateAccessToken(tokenOf('new-customer')))
      await passing(clock, changed)
      expect([ofThird.length, sessions()]).toEqual([1, ofThird])
      await agent.destroy()
    },
  )

  it('[SEC-16] empties everything of the previous one, reports it, and starts with initialize()', async () => {
    const { clock, emulator, agent, told, user, issue, changes } = setUpUser()
    await agent.initialize({ context: { plan: 'gold' } })
    await agent.connect()
    await agent.send('my secret')
    emulator.control.expireTokens()
    user.token = issue('new-customer')
    await agent.send('one more')
    for (let steps = 0; changes.length === 0 && steps < 500; steps++) await clock.advance(10)
    expect(changes).toEqual([[0, null, null, 0]])
    expect([agent.getIsInitialized(), agent.getState()]).toEqual([false, 'CLOSED'])
    await agent.initialize()
    await agent.connect()
    await agent.send('hello')
    expect(sessionBodies(emulator)).toEqual([{ context: { plan: 'gold' } }, {}])
    expect(sentTo(emulator)).not.toContain('my secret')
    expect(agent.getTranscript().map(({ message }) => message.content)).not.toContain('my secret')
    expect(agent.getUserDetails()).toMatchObject({ id: 'new-customer' })
    expect(namesOf(told)).toContain('closed')
    await agent.destroy()
  })

  it('[SEC-16] arrives with updateAccessToken(), also where the token does not say so', async () => {
    const { clock, agent, issue, changes, told } = setUpUser()
    await agent.initialize({ context: { plan: 'gold' } })
    await passing(clock, agent.updateAccessToken(issue('customer')))
    expect([changes.length, agent.getIsInitialized()]).toEqual([0, true])
    await passing(clock, agent.updateAccessToken(issue('customer'), { userChanged: true }))
    expect([changes.length, agent.getIsInitialized(), agent.getContext()]).toEqual([1, false, null])
    await agent.initialize()
    await passing(clock, agent.updateAccessToken(issue('new-customer')))
    expect(changes).toHaveLength(2)
    expect(payloadsOf(told, 'initialized')).toHaveLength(2)
    await agent.destroy()
  })

  it('[SEC-16] arrives before the library has obtained a token, where the host says so', async () => {
    const { clock, emulator, agent, user, issue, changes } = setUpUser()
    await agent.send('my secret')
    await agent.setContext({ plan: 'gold' })
    user.token = issue('new-customer')
    await passing(clock, agent.updateAccessToken(user.token, { userChanged: true }))
    expect(changes).toEqual([[0, null, null, 0]])
    await agent.initialize()
    await agent.connect()
    await agent.send('hello')
    await clock.advance(10)
    expect(sentTo(emulator)).not.toContain('my secret')
    await agent.destroy()
  })

  it('[SEC-16] is not followed by a token of the previous one that `refreshTokenFn` returns late', async () => {
    const { clock, emulator, make } = setUp()
    const issue = (subject: string) => emulator.control.issueToken({ subject })
    const answers: ((token: string) => void)[] = []
    const refreshTokenFn = () => new Promise<string>(resolve => answers.push(resolve))
    const auth = { type: 'pre-auth', accessToken: issue('customer'), refreshTokenFn } as const
    const { agent } = make({ id: 'account', auth })
    let changes = 0
    agent.on('userChanged', () => changes++)
    await agent.initialize()
    await clock.advance(3_590_000)
    expect(answers).toHaveLength(1)
    await passing(clock, agent.updateAccessToken(issue('new-customer')))
    for (const answer of answers) answer(issue('customer'))
    await clock.advance(0)
    await agent.initialize()
    expect(agent.getUserDetails()).toMatchObject({ id: 'new-customer' })
    expect(changes).toBe(1)
    await agent.destroy()
  })

  it.each(['updateAccessToken()', 'a renewal'])(
    '[SEC-15] is not signed in by %s if the host calls logout() while the previous one is being removed',
    async how => {
      const { clock, emulator, agent, user, issue, changes } = setUpUser()
      await agent.initialize({ context: { plan: 'gold' } })
      await agent.connect()
      const next = issue('new-customer')
      user.token = next
      if (how === 'a renewal') emulator.control.expireTokens()
      const changing = how === 'a renewal' ? agent.send('hello') : agent.updateAccessToken(next)
      changing.catch(() => {})
      for (let steps = 0; agent.status.phase.at !== 'leaving' && steps < 500; steps++) await clock.advance(1)
      await passing(clock, agent.logout())
      expect([agent.status.phase.at, changes.length, await agent.getAccessToken()]).toEqual(['idle', 1, null])
      user.token = issue('customer')
      await passing(clock, agent.initialize())
      expect(agent.getUserDetails()).toMatchObject({ id: 'customer' })
      expect(emulator.control.requests().some(({ headers }) => headers['authorization'] === `Bearer ${next}`)).toBe(
        false,
      )
      await agent.destroy()
    },
  )

  it('[SEC-16] cancels a portal selection of the previous user', async () => {
    const sessionStorage = new FakeStorage()
    const { clock, emulator, make } = setUp({}, { sessionStorage })
    let subject = 'desk-agent'
    const auth = { getToken: async () => emulator.control.issueToken({ subject }) }
    const { agent } = make({ id: 'desk', auth, initParams: { portalIds: '1001,1002' } })
    expect(await agent.initialize({ context: { plan: 'gold' } })).toMatchObject({ status: 'choose' })
    subject = 'desk-supervisor'
    expect(await passing(clock, rejection(agent.selectPortal({ id: 1002 })))).toMatchObject({ code: 'ABORTED' })
    expect([agent.status.phase.at, agent.getContext(), agent.getUserDetails()]).toEqual(['idle', null, null])
    expect(JSON.stringify([...sessionStorage.items])).not.toContain('gold')
    expect(await passing(clock, agent.initialize())).toMatchObject({ status: 'choose' })
    await agent.destroy()
  })

  it('[SEC-16] cancels an initialization of the previous user', async () => {
    const { clock, agent, issue } = setUpUser()
    await agent.initialize()
    const changing = agent.updateAccessToken(issue('new-customer'))
    const refused = rejection(agent.send('written for the previous user'))
    await passing(clock, changing)
    expect(await refused).toMatchObject({ code: 'ABORTED' })
    expect(agent.getQueueSize()).toBe(0)
    await agent.destroy()
  })
})

it.each(['logout', 'another user'])('[SEC-22] %s removes what a shared store holds of the user', async how => {
  const { clock, emulator, make } = setUp()
  const store = new HostStore()
  const issue = (subject: string) => emulator.control.issueToken({ subject })
  let token = issue('customer')
  const cache = { adapter: store, contextPrefix: 'one_' }
  const { agent } = make({ id: 'account', auth: { getToken: () => token }, cache, persistQueue: true, resume: true })
  await agent.initialize({ context: { plan: 'gold' } })
  await agent.connect()
  await agent.send('hello')
  await passing(clock, agent.disconnect())
  await agent.send('waits')
  await clock.advance(1_000)
  const ofUser = () => [...store.entries.keys()].filter(key => !/deployment-info|getAgentDetails|auth/.test(key))
  expect(ofUser()).toHaveLength(3)
  token = issue('new-customer')
  await passing(clock, how === 'logout' ? agent.logout() : agent.updateAccessToken(token))
  await clock.advance(1_000)
  expect(ofUser()).toEqual([])
  await agent.destroy()
})
