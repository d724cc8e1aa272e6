import { createEmulator } from '@aiagent/emulator'
import { propertyRuns } from '@aiagent/test-support'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { lastSession, passing, setUp, type ToldEvent } from '../../test/agent-harness.ts'
import { FakeBrowser } from '../../test/fake-browser.ts'
import { HostStore } from '../../test/host-store.ts'
import { CALLS as COMMON_CALLS, SECRET } from '../../test/sign-out-calls.ts'
import type { AiAgent } from '../ai-agent.ts'
import { sleep } from '../platform/clock.ts'
import type { CacheConfig } from '../storage/cache-adapter.ts'

/*
 * As sign-out.property.test.ts, over what a host stores: slow stores, a stored queue, a resumed session and a
 * conversation that tabs share; and with several users, deployments and agents over the same stores. Over IndexedDB the
 * latter is in test/browser/page/stored-kinds.ts.
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
  import('../outbox/outbox-store.ts'),
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
          await play(during, () => agent.getPhase().at !== 'leaving')
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

type StorePlace = 'session storage' | 'local storage' | 'an adapter of a page' | 'an adapter of a process'

/** An agent at a deployment, with one user after the other. What a user writes names the visit. */
interface Place {
  readonly deployment: number
  readonly id: string
  user: string
  visit: number
  agent: AiAgent
  /** Whether the user has set the context, and the store has it: agents of one id at two deployments have the same key. */
  context: 'none' | 'set' | 'stored'
  /** Whether the agent knows its deployment. */
  isStarted: boolean
  /** Whether the store has taken everything of the visit. */
  isSure: boolean
}

const MARK = /SECRET\([^)]*\)/g
const marksIn = (value: unknown) => new Set(JSON.stringify(value)?.match(MARK))
const markOf = ({ user, deployment, id, visit }: Place) => `SECRET(${user} at ${deployment} with ${id} #${visit})`

/** Two deployments, two agents at each, and two users: in a page one after the other, in a process side by side. */
function setUpPlaces(where: StorePlace) {
  const { clock, emulator, make, printed } = setUp({ origin: 'http://one.test' })
  const services = [emulator, createEmulator({ clock, origin: 'http://two.test' })] as const
  const host = new HostStore()
  const isCustom = where.startsWith('an adapter')
  const inProcess = where === 'an adapter of a process'
  const tab = new FakeBrowser(clock, emulator).open()
  const open = (place: Omit<Place, 'agent'>): AiAgent => {
    const { fetch, WebSocket, origin, control } = services[place.deployment] as typeof emulator
    const auth = { getToken: async () => control.issueToken({ subject: place.user }) }
    const cache: CacheConfig = isCustom
      ? { adapter: host, contextPrefix: inProcess ? `${place.user}:` : 'page:' }
      : { storageType: where === 'local storage' ? 'local' : 'session' }
    const config = { id: place.id, endpoint: origin, auth, cache, resume: true, persistQueue: inProcess }
    return make(config, { ...(!inProcess && tab.environment), fetch, WebSocket }).agent
  }
  const places: Place[] = []
  for (const deployment of [0, 1])
    for (const id of ['help', 'account'])
      for (const user of inProcess ? ['customer', 'new-customer'] : ['customer']) {
        const facts = { deployment, id, user, visit: 0, context: 'none', isStarted: false, isSure: true } as const
        const place: Place = Object.assign(facts, { agent: open(facts) })
        places.push(place)
      }
  const stored = () => marksIn([...tab.sessionStorage.items, ...tab.localStorage.items, ...host.entries])
  return { clock, services, host, places, open, stored, printed, inProcess, isCustom }
}

const placeStep = fc.record({
  does: fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom('start', 'start', 'write', 'write', 'sign out', 'sign out', 'reload') },
    { weight: 3, arbitrary: fc.constantFrom('works', 'is slow', 'fails', 'hangs', 'wait') },
  ),
  place: fc.nat(7),
})

describe('any order of operations of two users, two deployments and two agents', () => {
  it.each<StorePlace>(['session storage', 'local storage', 'an adapter of a page', 'an adapter of a process'])(
    '[SEC-15] [SEC-25] [SEC-26] keeps them apart, removes what is signed out, and touches nothing else: %s',
    async where => {
      await fc.assert(
        fc.asyncProperty(fc.array(placeStep, { minLength: 4, maxLength: 16, size: 'max' }), async steps => {
          const { clock, services, host, places, open, stored, printed, inProcess, isCustom } = setUpPlaces(where)
          const gone = new Set<string>()
          let hungAt = Number.NEGATIVE_INFINITY
          /** A store is not used for half a minute after an answer that has not come within ten seconds. */
          const isUsed = () => !host.fails && !host.hangs && clock.monotonic() > hungAt + 40_000
          /** The context of an agent replaces that of the same id at the other deployment. */
          const overwrite = ({ deployment, id, user }: Place) => {
            for (const each of places)
              if (each.deployment !== deployment && each.id === id && each.context === 'stored')
                if (!inProcess || each.user === user) each.context = 'set'
          }
          /** Waits for a call, whatever its outcome. */
          const settled = async (what: string, limitMs: number, promise: Promise<unknown>) => {
            let isDone = false
            const done = () => void (isDone = true)
            promise.then(done, done)
            for (let waited = 0; !isDone && waited < limitMs; waited += 20) await clock.advance(20)
            if (!isDone) throw new Error(`${what} waits for the store.`)
          }
          for (const { does, place: index } of steps) {
            const place = places[index % places.length] as Place
            const { agent } = place
            const isBroken = host.fails || host.hangs
            if (isBroken) place.isSure = false
            if (host.hangs) hungAt = clock.monotonic()
            if (does === 'start') {
              await settled('initialize()', 5_000, agent.initialize())
              await settled('connect()', 5_000, agent.connect())
              expect(agent.getPhase().at).toBe('ready')
              place.isStarted = true
              // The context is written again with its user.
              if (place.context !== 'none') overwrite(place)
            } else if (does === 'write') {
              await settled('setContext()', 1_000, agent.setContext({ note: markOf(place) }))
              await settled('send()', 1_000, agent.send(markOf(place)))
              const isFirst = place.context === 'none'
              overwrite(place)
              if (isFirst) place.context = 'stored'
              // A slow store has taken it by then.
              await clock.advance(host.pause ? 3_000 : 40)
            } else if (does === 'sign out') {
              const mark = markOf(place)
              printed.length = 0
              const leaving = agent.logout()
              expect([agent.getTranscriptSize(), agent.getQueueSize(), agent.getContext()]).toEqual([0, 0, null])
              await settled('The end of the chat', 1_000, whenLeft(agent))
              await settled('logout()', isBroken ? 10_000 : 5_000, leaving)
              if (isBroken) expect(JSON.stringify(printed)).toContain('Could not remove stored data of the user.')
              if (place.isSure) {
                expect(stored()).not.toContain(mark)
                gone.add(mark)
              }
              // Before its first run an agent cannot know which agents its user has selected in an earlier page.
              if (!isCustom && !place.isStarted)
                for (const each of places)
                  if (each.deployment === place.deployment && each.context === 'stored') each.context = 'set'
              place.visit++
              if (!inProcess) place.user = place.user === 'customer' ? 'new-customer' : 'customer'
              Object.assign(place, { context: 'none', isSure: isUsed() })
            } else if (does === 'reload') {
              await settled('destroy()', 5_000, agent.destroy())
              place.agent = open(place)
              place.isStarted = false
              if (place.context === 'set') place.context = 'none'
              await clock.advance(host.pause ? 3_000 : 40)
            } else if (does === 'wait') await clock.advance(31_000)
            else if (isCustom) {
              host.fails = does === 'fails'
              host.hangs = does === 'hangs'
              host.pause = does === 'is slow' ? () => sleep(clock, 300) : undefined
              if (host.fails || host.hangs) for (const each of places) each.isSure = false
            }
            for (const each of places) {
              const mark = markOf(each)
              const context = each.agent.getContext()
              for (const read of marksIn([context, each.agent.getTranscriptAsJSON()])) expect(read).toBe(mark)
              if (each.isSure && each.context !== 'none') expect(context).toEqual({ note: mark })
              if (each.isSure && each.context === 'stored') expect(stored()).toContain(mark)
            }
            for (const mark of stored()) expect(gone).not.toContain(mark)
            for (const [deployment, { world, control }] of services.entries()) {
              const sent = [...world.sessions.keys()].map(id => marksIn(control.frames(id)))
              for (const marks of sent) expect(marks.size).toBeLessThanOrEqual(1)
              for (const mark of marksIn([sent.map(each => [...each]), control.requests()]))
                expect(mark).toContain(` at ${deployment} `)
            }
          }
          for (const { agent } of places) await settled('destroy()', 5_000, agent.destroy())
        }),
        { numRuns: propertyRuns(12) },
      )
    },
  )
})

/** Resolves when the chat of an agent is closed. */
function whenLeft(agent: AiAgent): Promise<void> {
  const isLeft = () => ['IDLE', 'CLOSED'].includes(agent.getState())
  return new Promise(resolve => {
    if (isLeft()) return resolve()
    agent.on('stateChanged', () => isLeft() && resolve())
  })
}
