import { propertyRuns } from '@aiagent/test-support'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { lastSession, passing, setUp, type ToldEvent } from '../../test/agent-harness.ts'
import { FakeBrowser } from '../../test/fake-browser.ts'
import { HostStore } from '../../test/host-store.ts'
import { CALLS as COMMON_CALLS, SECRET } from '../../test/sign-out-calls.ts'
import { checkPlaces, type StorePlace } from '../../test/store-places.ts'
import { sleep } from '../util/abort.ts'

/*
 * As sign-out.property.test.ts, over what a host stores: slow stores, a stored queue, a resumed session and a
 * conversation that tabs share; and with several users, deployments and agents over the same stores. Over IndexedDB the
 * latter is in test/browser/sign-out-database.test.ts.
 */

const CALLS: typeof COMMON_CALLS = {
  ...COMMON_CALLS,
  resetContext: agent => agent.resetContext(),
  portal: agent => agent.restartPortalInitializer(),
  transcript: agent => agent.clearTranscript(),
}

interface Parts extends Pick<ReturnType<typeof setUp>, 'clock' | 'emulator'> {
  readonly store: HostStore
}

/** What happens around the calls: the host's store, faults of the service, and jumps of the wall clock. */
const SURROUNDINGS: Record<string, (parts: Parts) => unknown> = {
  'the tokens expire': ({ emulator }) => emulator.control.expireTokens(),
  'the sockets drop': ({ emulator }) => emulator.control.dropSockets(),
  'the session is forgotten': ({ emulator }) => emulator.control.forgetSession(lastSession(emulator)),
  'a request fails': ({ emulator }) => emulator.faults.add({ kind: 'answer', status: 500, times: 1 }),
  'the clock jumps forward': ({ clock }) => clock.shiftWallClock(2 * 3_600_000),
  'the clock jumps back': ({ clock }) => clock.shiftWallClock(-2 * 3_600_000),
  'the store is slow': ({ clock, store }) => (store.pause = () => sleep(clock, 60)),
  'the store is very slow': ({ clock, store }) => (store.pause = () => sleep(clock, 700)),
  'the store is quick': ({ store }) => (store.pause = undefined),
}

/** How long the host waits, in milliseconds. */
const WAITS: Record<string, number> = { 'a short wait': 20, 'a long wait': 1_500 }

const step = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...Object.keys(CALLS)) },
  { weight: 2, arbitrary: fc.constantFrom(...Object.keys(WAITS)) },
  { weight: 3, arbitrary: fc.constantFrom(...Object.keys(SURROUNDINGS)) },
)

/** A tab that shares its conversation, or a server whose host stores the queue. */
const place = fc.constantFrom('tab', 'server')

/** An agent of a person, and all that is stored. */
function setUpPlace(where: string, config: object = {}) {
  const parts = setUp()
  const { clock, emulator } = parts
  const browser = new FakeBrowser(clock, emulator)
  const tab = browser.open()
  const store = new HostStore()
  const user = { subject: 'customer' }
  const auth = { getToken: async () => emulator.control.issueToken(user) }
  const cache = { adapter: store, contextPrefix: 'one:' }
  const { agent, told } =
    where === 'tab'
      ? parts.make({ id: 'account', auth, cache, tabs: 'share', ...config }, tab.environment)
      : parts.make({ id: 'account', auth, cache, persistQueue: true, ...config })
  const stored = () => JSON.stringify([...tab.sessionStorage.items, ...browser.localStorage.items, ...store.entries])
  return { agent, told, clock, emulator, store, user, stored }
}

/** How far the conversation has come before the other calls. */
const beginning = fc.constantFrom(
  [],
  ['initialize', 'a long wait'],
  ['initialize', 'a long wait', 'send'],
  ['initialize', 'a long wait', 'connect', 'a short wait'],
)

/** What the agent reported of the conversation. */
const conversationOf = (told: readonly ToldEvent[]) =>
  told.filter(({ name }) => /message|transcript|chatHistory/i.test(name) && name !== 'errorMessage')

// Loaded before the clock is moved: loading a module takes real time.
await Promise.all([
  import('../masking/load-masker.ts'),
  import('../resume/stored-queue.ts'),
  import('../resume/session-resume.ts'),
  import('../tabs/tab-group.ts'),
])

describe('any order of calls around a logout, over stores', () => {
  it('[SEC-15] leaves nothing of the user to the next one', async () => {
    await fc.assert(
      fc.asyncProperty(
        place,
        fc.record({ resume: fc.boolean(), connectOnSend: fc.boolean() }),
        beginning,
        fc.array(step, { maxLength: 8 }),
        fc.array(step, { maxLength: 10 }),
        async (where, config, start, before, during) => {
          const parts = setUpPlace(where, config)
          const { agent, told, clock, emulator, user, stored } = parts
          const pending: Promise<unknown>[] = []
          const play = async (steps: string[], isOver = () => false) => {
            for (const name of steps) {
              if (isOver()) return
              if (WAITS[name]) await clock.advance(WAITS[name])
              else if (SURROUNDINGS[name]) SURROUNDINGS[name](parts)
              else pending.push(new Promise(resolve => resolve(CALLS[name]?.(agent))).catch(() => {}))
            }
          }
          await play([...start, ...before])
          told.length = 0
          const leaving = agent.logout()
          // What follows the logout belongs to the next user.
          await play(during, () => agent.status.phase.at !== 'leaving')
          await passing(clock, leaving)
          expect(conversationOf(told)).toEqual([])
          const others = new Set(emulator.world.sessions.keys())
          expect([agent.getTranscriptSize(), agent.getQueueSize(), agent.getContext()]).toEqual([0, 0, null])
          emulator.faults.lift()
          user.subject = 'new-customer'
          await passing(clock, agent.initialize())
          await passing(clock, agent.connect())
          await passing(clock, agent.send('hello'))
          // A slow store has settled by then.
          await clock.advance(3_000)
          const own = [...emulator.world.sessions.keys()].filter(id => !others.has(id))
          expect(own.length).toBeGreaterThan(0)
          const frames = own.flatMap(id => emulator.control.frames(id))
          expect(agent.getUserDetails()).toMatchObject({ id: 'new-customer' })
          expect(JSON.stringify([frames, agent.getTranscriptAsJSON(), agent.getContext()])).not.toContain('SECRET')
          expect(stored()).not.toContain('SECRET')
          await passing(clock, agent.destroy())
          await passing(clock, Promise.all(pending))
        },
      ),
      { numRuns: propertyRuns(20) },
    )
  })

  it('[SEC-15] finds what a stored queue leaves behind: without a logout it is there', async () => {
    const { agent, clock, stored } = setUpPlace('server')
    await passing(clock, agent.initialize())
    await agent.send(SECRET)
    await clock.advance(20)
    expect(stored()).toContain('SECRET')
    await passing(clock, agent.destroy())
  })
})

describe('any order of operations of two users, two deployments and two agents', () => {
  it.each<StorePlace>(['session storage', 'local storage', 'an adapter of a page', 'an adapter of a process'])(
    '[SEC-15] [SEC-25] [SEC-26] keeps them apart, removes what is signed out, and touches nothing else: %s',
    async where => {
      await expect(checkPlaces(where, { numRuns: propertyRuns(12) })).resolves.toBeUndefined()
    },
  )
})
