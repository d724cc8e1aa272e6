import { describe, expect, it } from 'vitest'
import { passing, rejection, setUp } from '../../test/agent-harness.ts'
import { FakeProvider } from '../../test/fake-login.ts'
import { pageWithWindow } from '../../test/fake-login-page.ts'
import { FakeStorage } from '../../test/fake-service.ts'
import { HostStore } from '../../test/host-store.ts'

const ORIGIN = 'http://emulator.test'
const never = () => new Promise<never>(() => {})

// Loaded before, since the manual clock does not wait for a file.
await Promise.all([
  import('../auth/login/pkce-strategy.ts'),
  import('../resume/session-resume.ts'),
  import('../resume/stored-queue.ts'),
])

/** An agent whose user has signed in by popup, at a provider that never answers a logout. */
async function setUpPopup() {
  const page = pageWithWindow({ location: { href: `${ORIGIN}/chat`, origin: ORIGIN } })
  const parts = setUp({}, { page, sessionStorage: new FakeStorage() })
  const identity = new FakeProvider()
  identity.signIn = async () => ({ accessToken: parts.emulator.control.issueToken() })
  identity.signOut = never
  const config = { clientId: 'app', redirectUri: `${ORIGIN}/callback.html`, knownAuthorities: ['login.test'] }
  const auth = identity.login({ ...config, authScheme: 'popup' })
  const { agent } = parts.make({ id: 'account', auth })
  await agent.initialize()
  return { ...parts, agent, identity }
}

describe('a provider without an answer', () => {
  it('[REL-110] rejects initialize() after 30 seconds, also where the host has passed a token for the first calls', async () => {
    const { clock, emulator, make } = setUp()
    const { agent } = make({ id: 'account', auth: { getToken: never } })
    const starting = rejection(agent.initialize())
    await agent.updateAccessToken(emulator.control.issueToken())
    await clock.advance(31_000)
    expect(await passing(clock, starting)).toMatchObject({ code: 'AUTH_ERROR', reason: 'token_request_failed' })
    await agent.destroy()
  })
})

describe('a logout without an answer', () => {
  it('[REL-110] of the window of the provider ends after 30 seconds, and the next user can sign in', async () => {
    const { agent, clock } = await setUpPopup()
    const leaving = agent.logout()
    await clock.advance(29_000)
    expect(await rejection(agent.initialize())).toMatchObject({ code: 'ABORTED' })
    await clock.advance(2_000)
    await passing(clock, leaving)
    await passing(clock, agent.initialize())
    expect(agent.getIsInitialized()).toBe(true)
    await agent.destroy()
  })

  it('[REL-110] of the window of the provider ends with destroy()', async () => {
    const { agent, clock } = await setUpPopup()
    const leaving = agent.logout().then(
      () => 'settled',
      () => 'settled',
    )
    await clock.advance(1_000)
    await passing(clock, agent.destroy())
    expect(await passing(clock, leaving)).toBe('settled')
  })

  it('[REL-110] of a strategy of the host rejects after 30 seconds, and initialize() works again', async () => {
    const { clock, emulator, make } = setUp()
    const getToken = () => emulator.control.issueToken()
    const auth = { initialize() {}, authenticate() {}, getToken, logout: never }
    const { agent } = make({ id: 'account', auth })
    await agent.initialize()
    const left = rejection(agent.logout())
    await clock.advance(31_000)
    expect(await passing(clock, left)).toMatchObject({ name: 'AuthError', reason: 'token_request_failed' })
    await passing(clock, agent.initialize())
    await agent.destroy()
  })
})

describe('a store of the host that no longer answers', () => {
  it.each([false, true])('[REL-110] delays logout() for at most ten seconds (persistQueue: %s)', async persistQueue => {
    const { clock, emulator, make } = setUp()
    const store = new HostStore()
    const issue = (subject: string) => emulator.control.issueToken({ subject })
    let token = issue('customer')
    const cache = { adapter: store, contextPrefix: 'one_' }
    const { agent } = make({ id: 'account', auth: { getToken: () => token }, cache, persistQueue, resume: true })
    await agent.initialize({ context: { plan: 'gold' } })
    await agent.connect()
    store.hangs = true
    const leaving = agent.logout()
    await clock.advance(20_000)
    await passing(clock, leaving)
    token = issue('new-customer')
    const initializing = agent.initialize()
    await clock.advance(20_000)
    await passing(clock, initializing)
    expect([agent.getIsInitialized(), agent.getContext()]).toEqual([true, null])
    // The same for a change of the user.
    token = issue('customer')
    const changed = agent.updateAccessToken(token)
    await clock.advance(20_000)
    await passing(clock, changed)
    expect(agent.status.phase.at).toBe('idle')
    await passing(clock, agent.destroy())
  })
})

it('[REL-113] the connect() after a disconnect() does not wait for a token function that hangs', async () => {
  const { clock, emulator, make } = setUp()
  let hangs = false
  const getToken = async () => (hangs ? never() : emulator.control.issueToken())
  const { agent } = make({ id: 'account', auth: { getToken } })
  await agent.initialize()
  hangs = true
  const connecting = rejection(agent.connect())
  const token = agent.getAccessToken()
  await clock.advance(6_000)
  await passing(clock, agent.disconnect())
  expect(await connecting).toMatchObject({ name: 'ConnectionError' })
  hangs = false
  await passing(clock, agent.connect())
  expect(agent.isConnected()).toBe(true)
  // The first caller receives the second answer.
  expect(await token).toEqual(expect.any(String))
  await agent.destroy()
})
