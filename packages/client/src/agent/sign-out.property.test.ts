import { propertyRuns } from '@aiagent/test-support'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { passing, rejection, setUp } from '../../test/agent-harness.ts'
import { FakeProvider } from '../../test/fake-login.ts'
import { pageWithWindow } from '../../test/fake-login-page.ts'
import { FakeStorage, fakeToken } from '../../test/fake-service.ts'
import { CALLS as COMMON_CALLS, SECRET } from '../../test/sign-out-calls.ts'
import { AuthError } from '../errors.ts'

const ORIGIN = 'http://emulator.test'

const CALLS: typeof COMMON_CALLS = {
  ...COMMON_CALLS,
  session: agent => agent.setSessionId(SECRET),
  logout: agent => agent.logout(),
}

/** How the user or the browser answers the windows of logins and logouts from then on. */
type Popup = 'answered' | 'closed' | 'blocked' | 'pending'

type Parts = ReturnType<typeof setUp>

/** What happens around the calls: windows, faults of the service, and jumps of the wall clock. */
const SURROUNDINGS: Record<string, (parts: Parts, login: { popup: Popup }) => unknown> = {
  'popups are answered': (_, login) => (login.popup = 'answered'),
  'popups are closed': (_, login) => (login.popup = 'closed'),
  'popups are blocked': (_, login) => (login.popup = 'blocked'),
  'popups stay open': (_, login) => (login.popup = 'pending'),
  'tokens expire': ({ emulator }) => emulator.control.expireTokens(),
  'sockets drop': ({ emulator }) => emulator.control.dropSockets(),
  'a request fails': ({ emulator }) => emulator.faults.add({ kind: 'answer', status: 500, times: 1 }),
  'a rate limit': ({ emulator }) => emulator.faults.add({ kind: 'rate-limit', retryAfterSeconds: 1, times: 1 }),
  'the clock jumps forward': ({ clock }) => clock.shiftWallClock(2 * 3_600_000),
  'the clock jumps back': ({ clock }) => clock.shiftWallClock(-2 * 3_600_000),
}

const call = fc.constantFrom(...Object.keys(CALLS))
const step = fc.oneof(
  { weight: 6, arbitrary: call },
  { weight: 2, arbitrary: fc.constant('wait') },
  { weight: 3, arbitrary: fc.constantFrom(...Object.keys(SURROUNDINGS)) },
)

/** An agent of a user whose token the host supplies, or who signs in by popup. */
function makeAgent(parts: Parts, byPopup: boolean) {
  const login = { popup: 'answered' as Popup, subject: 'customer' }
  const accessToken = () => parts.emulator.control.issueToken({ subject: login.subject })
  if (!byPopup) return { login, ...parts.make({ id: 'account', auth: { getToken: async () => accessToken() } }) }
  const identity = new FakeProvider()
  const answer = async (signal?: AbortSignal) => {
    const { popup } = login
    if (popup === 'pending') await new Promise((_, reject) => signal?.addEventListener('abort', reject))
    if (popup !== 'answered') throw new AuthError('The window was closed or blocked.', `popup_${popup as 'closed'}`)
  }
  const session = () => ({
    accessToken: accessToken(),
    idToken: fakeToken({ iss: 'https://login.test', sub: login.subject }),
  })
  identity.signIn = async () => {
    await answer(identity.logins.at(-1)?.signal)
    return session()
  }
  identity.renewed = async () => session()
  // A logout waits for the answer of its window, or for its end.
  identity.signOut = async () => (login.popup === 'blocked' ? answer() : undefined)
  const config = { clientId: 'app', redirectUri: `${ORIGIN}/callback.html`, knownAuthorities: ['login.test'] }
  const auth = identity.login({ ...config, authScheme: 'popup' })
  return { login, ...parts.make({ id: 'account', auth }) }
}

// Loaded before the clock is moved: loading a module takes real time.
await Promise.all([import('../masking/load-masker.ts'), import('../auth/login/pkce-strategy.ts')])

describe('any order of calls around a logout', () => {
  it('[SEC-15] leaves nothing of the user to the next one', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.boolean(),
        fc.array(step, { maxLength: 10 }),
        fc.array(step, { minLength: 1, maxLength: 10 }),
        async (byPopup, before, during) => {
          const sessionStorage = new FakeStorage()
          const page = pageWithWindow({ location: { href: `${ORIGIN}/chat`, origin: ORIGIN } })
          const parts = setUp({}, byPopup ? { sessionStorage, page } : { sessionStorage })
          const { clock, emulator } = parts
          const { agent, login } = makeAgent(parts, byPopup)
          const pending: Promise<unknown>[] = []
          const play = async (steps: string[], isOver = () => false) => {
            for (const name of steps) {
              if (isOver()) return
              if (name === 'wait') await clock.advance(20)
              else if (SURROUNDINGS[name]) SURROUNDINGS[name](parts, login)
              else {
                // At once: a call that comes after the logout belongs to the next user.
                const made = new Promise(resolve => resolve(CALLS[name]?.(agent)))
                pending.push(made.catch(() => {}))
              }
            }
          }
          await play(before)
          let hasLeft = false
          const leave = () => (hasLeft = true)
          const leaving = agent.logout().then(leave, leave)
          // What follows the logout belongs to the next user.
          await play(during, () => hasLeft)
          await passing(clock, leaving)
          const others = new Set(emulator.world.sessions.keys())
          expect([agent.getTranscriptSize(), agent.getQueueSize(), agent.getContext()]).toEqual([0, 0, null])
          emulator.faults.lift()
          Object.assign(login, { popup: 'answered', subject: 'new-customer' })
          await passing(clock, agent.initialize())
          await passing(clock, agent.connect())
          await agent.send('hello')
          await clock.advance(50)
          const own = [...emulator.world.sessions.keys()].filter(id => !others.has(id))
          expect(own.length).toBeGreaterThan(0)
          const frames = own.flatMap(id => emulator.control.frames(id))
          const bodies = emulator.control
            .requests()
            .filter(({ path, method }) => method === 'POST' && path.endsWith('/session'))
          expect(agent.getUserDetails()).toMatchObject({ id: 'new-customer' })
          expect(
            JSON.stringify([frames, bodies.at(-1)?.body, agent.getTranscriptAsJSON(), agent.getContext()]),
          ).not.toContain('SECRET')
          expect(JSON.stringify([...sessionStorage.items])).not.toContain('SECRET')
          await agent.destroy()
          await passing(clock, Promise.all(pending))
        },
      ),
      { numRuns: propertyRuns(60) },
    )
  })

  it('[SEC-15] finds what a call leaves behind: without a logout it is there', async () => {
    const { clock, make, emulator } = setUp()
    const { agent } = make({ id: 'account', auth: { getToken: async () => emulator.control.issueToken() } })
    await passing(clock, agent.initialize({ context: { note: SECRET } }))
    expect(JSON.stringify(agent.getContext())).toContain('SECRET')
    await agent.destroy()
    expect(await rejection(agent.send(SECRET))).toMatchObject({ code: 'ABORTED' })
  })
})
