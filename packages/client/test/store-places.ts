import { createEmulator } from '@aiagent/emulator'
import fc from 'fast-check'
import type { AiAgent } from '../src/ai-agent.ts'
import type { CacheConfig } from '../src/storage/cache-adapter.ts'
import { sleep } from '../src/util/abort.ts'
import { setUp } from './agent-harness.ts'
import { FakeBrowser } from './fake-browser.ts'
import { HostStore } from './host-store.ts'

/*
 * Two users, two deployments and two agents at each over the same stores: in a page the users follow each other, in a process
 * they are side by side. What a user writes names the user, the agent and the visit, so that it is seen in the wrong hands, and
 * where it is left. It runs on Node and, over the browser's database, in a page: so it checks without the test runner.
 */

/** Where agents store. */
export type StorePlace =
  | 'session storage'
  | 'local storage'
  | 'IndexedDB'
  | 'an adapter of a page'
  | 'an adapter of a process'

/** How a store fails: `is full` takes nothing more, and removes and returns what it has. */
export type Fault = 'works' | 'is slow' | 'fails' | 'hangs' | 'is full' | 'cannot be read'

/** The database of a page, which the property makes fail. */
export interface FailingDatabase {
  fault: Fault
  /** Runs what a slow answer waits for. */
  wait: () => Promise<void>
  /** Everything that is stored. */
  content(): Promise<unknown[]>
  /** Resolves when everything has been answered that is answered without the clock. */
  settle(): Promise<void>
  /** Removes all data, while agents use it. */
  clear(): Promise<void>
}

/** An agent at a deployment, with one user after the other. */
interface Place {
  readonly deployment: number
  readonly id: string
  user: string
  visit: number
  agent: AiAgent
  /** Whether the user has set the context, and the store has it: agents of one id at two deployments have the same key. */
  context: 'none' | 'set' | 'stored'
  /** Whether the store has taken everything of the visit. */
  isSure: boolean
}

const MARK = /SECRET\([^)]*\)/g
const marksIn = (value: unknown) => new Set(JSON.stringify(value)?.match(MARK))
const markOf = ({ user, deployment, id, visit }: Place) => `SECRET(${user} at ${deployment} with ${id} #${visit})`

function check(holds: boolean, failure: () => string): void {
  if (!holds) throw new Error(failure())
}

/** Two deployments, two agents at each, and two users. */
function setUpPlaces(where: StorePlace, database: FailingDatabase | undefined) {
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
    const persistQueue = inProcess || database !== undefined
    const config = { id: place.id, endpoint: origin, auth, cache, resume: true, persistQueue }
    return make(config, { ...(!inProcess && tab.environment), fetch, WebSocket }).agent
  }
  const places: Place[] = []
  for (const deployment of [0, 1])
    for (const id of ['help', 'account'])
      for (const user of inProcess ? ['customer', 'new-customer'] : ['customer']) {
        const facts = { deployment, id, user, visit: 0, context: 'none', isSure: true } as const
        places.push(Object.assign(facts, { agent: open(facts) }))
      }
  const wait = () => sleep(clock, 300)
  if (database) database.wait = wait
  const setFault = (fault: Fault) => {
    if (database) database.fault = fault
    host.fails = fault === 'fails'
    host.hangs = fault === 'hangs'
    host.pause = fault === 'is slow' ? wait : undefined
    host.refused = fault === 'is full' ? 'set' : fault === 'cannot be read' ? 'get' : undefined
  }
  const stored = async () =>
    marksIn([
      ...tab.sessionStorage.items,
      ...tab.localStorage.items,
      ...host.entries,
      ...((await database?.content()) ?? []),
    ])
  /** Moves time, in steps in which a database answers. */
  const advance = async (ms: number) => {
    for (let left = ms; left > 0; left -= 20) {
      await clock.advance(database ? Math.min(left, 20) : ms)
      if (!database) return
      await database.settle()
    }
  }
  return { clock, services, places, open, setFault, stored, advance, printed, inProcess, isCustom }
}

const step = fc.record({
  does: fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom('start', 'start', 'write', 'write', 'sign out', 'sign out', 'reload') },
    { weight: 2, arbitrary: fc.constantFrom<Fault>('is slow', 'fails', 'hangs', 'is full', 'cannot be read') },
    { weight: 2, arbitrary: fc.constantFrom('works', 'wait', 'offline', 'online', 'is cleared') },
  ),
  // Often the same one, so that its steps follow each other.
  place: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 2, arbitrary: fc.nat(7) }),
})

/** A user comes back after a sign-out that the store has not carried out. */
const RETURN = [
  ...['start', 'offline', 'write', 'fails', 'sign out', 'works', 'reload'],
  ...['start', 'sign out', 'online', 'start', 'start'],
].map(does => ({ does, place: 0 }))

/** A user comes back after a sign-out of an agent that did not know them yet. */
const UNKNOWN = ['write', 'start', 'reload', 'sign out', 'reload', 'start'].map(does => ({ does, place: 0 }))

/**
 * Runs any order of operations. Nothing of one is read by another; a sign-out leaves nothing where the store removes, and
 * touches nothing of others; where the store fails or hangs that is reported, nothing waits for it, and what is left is
 * neither read nor sent.
 *
 * @param database of the page, for `IndexedDB`
 * @throws with a counterexample
 */
export async function checkPlaces(
  where: StorePlace,
  settings: { numRuns: number; seed?: number },
  database?: FailingDatabase,
): Promise<void> {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 16, size: 'max' }), async steps => {
      // A run that fails leaves its fault.
      if (database) database.fault = 'works'
      await database?.clear()
      const parts = setUpPlaces(where, database)
      const { clock, services, places, open, setFault, stored, advance, printed, inProcess, isCustom } = parts
      const gone = new Set<string>()
      /** How often the services had received what was written in an earlier visit, at its end. */
      const received = new Map<string, number>()
      const countOf = (mark: string) => {
        const all = services.map(({ world, control }) => [
          [...world.sessions.keys()].map(id => control.frames(id)),
          control.requests(),
        ])
        return JSON.stringify(all).split(mark).length
      }
      let fault: Fault = 'works'
      let hungAt = Number.NEGATIVE_INFINITY
      /** A store is not used for half a minute after an answer that has not come within ten seconds. */
      const isUsed = () => ['works', 'is slow'].includes(fault) && clock.monotonic() > hungAt + 40_000
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
        for (let waited = 0; !isDone && waited < limitMs; waited += 20) await advance(20)
        check(isDone, () => `${what} waits for the store.`)
      }
      /** As long as a slow store may take for an operation. */
      const pass = () => advance(fault === 'is slow' ? 3_000 : 40)
      for (const { does, place: index } of steps) {
        const place = places[index % places.length] as Place
        const { agent } = place
        const service = services[place.deployment] as (typeof services)[0]
        const isBroken = fault === 'fails' || fault === 'hangs'
        if (isBroken || fault === 'is full') place.isSure = false
        if (fault === 'hangs') hungAt = clock.monotonic()
        if (does === 'start') {
          await settled('initialize()', 5_000, agent.initialize())
          await settled('connect()', 5_000, agent.connect())
          check(agent.status.phase.at === 'ready', () => 'An agent that was started is not ready.')
          // The context is written again with its user.
          if (place.context !== 'none') overwrite(place)
        } else if (does === 'write') {
          await settled('setContext()', 1_000, agent.setContext({ note: markOf(place) }))
          await settled('send()', 1_000, agent.send(markOf(place)))
          const isFirst = place.context === 'none'
          overwrite(place)
          if (isFirst) place.context = 'stored'
          await pass()
        } else if (does === 'sign out') {
          const mark = markOf(place)
          printed.length = 0
          const leaving = agent.logout()
          const left = [agent.getTranscriptSize(), agent.getQueueSize(), agent.getContext()]
          check(String(left) === '0,0,', () => `logout() leaves in memory: ${left}`)
          await settled('The end of the chat', 1_000, whenLeft(agent))
          await settled('logout()', isBroken ? 10_000 : 5_000, leaving)
          const isReported = JSON.stringify(printed).includes('Could not remove stored data of the user.')
          const marks = await stored()
          if (isBroken && (isCustom || database)) check(isReported, () => 'A store that failed is not reported.')
          if (place.isSure) {
            check(!marks.has(mark), () => `logout() leaves in the store: ${mark}`)
            gone.add(mark)
          }
          received.set(mark, countOf(mark))
          // A page has one user: what any agent of the deployment has in its stores goes.
          if (!isCustom) {
            const others = [...marks].filter(each => each.includes(` at ${place.deployment} `))
            check(database !== undefined || others.length === 0, () => `logout() leaves in the store: ${others}`)
            for (const each of places)
              if (each.deployment === place.deployment && each.context === 'stored') each.context = 'set'
          }
          // Whose an entry is cannot be known.
          if (fault === 'cannot be read') overwrite(place)
          place.visit++
          if (!inProcess) place.user = place.user === 'customer' ? 'new-customer' : 'customer'
          Object.assign(place, { context: 'none', isSure: isUsed() })
        } else if (does === 'reload') {
          await settled('destroy()', 5_000, agent.destroy())
          place.agent = open(place)
          if (place.context === 'set') place.context = 'none'
          if (fault === 'cannot be read') place.isSure = false
          await pass()
        } else if (does === 'wait') await advance(31_000)
        else if (does === 'offline') {
          service.faults.add({ kind: 'refuse-upgrade', status: 503 })
          service.control.dropSockets()
          await pass()
        } else if (does === 'online') service.faults.lift()
        else if (does === 'is cleared') await database?.clear()
        else if (isCustom || database) {
          fault = does as Fault
          setFault(fault)
          if (fault === 'fails' || fault === 'hangs') for (const each of places) each.isSure = false
        }
        const marks = await stored()
        for (const each of places) {
          const mark = markOf(each)
          const context = each.agent.getContext()
          for (const read of marksIn([context, each.agent.getTranscriptAsJSON()]))
            check(read === mark, () => `${mark} reads ${read}`)
          if (!each.isSure || each.context === 'none') continue
          check(context?.['note'] === mark, () => `${mark} has lost its context.`)
          check(each.context === 'set' || marks.has(mark), () => `${mark} is not stored any more.`)
        }
        for (const mark of marks) check(!gone.has(mark), () => `${mark} is stored again.`)
        for (const [mark, count] of received)
          check(countOf(mark) === count, () => `${mark} is sent after the sign-out.`)
        for (const [deployment, { world, control }] of services.entries()) {
          const sent = [...world.sessions.keys()].map(id => marksIn(control.frames(id)))
          for (const each of sent) check(each.size <= 1, () => `One session has ${[...each]}`)
          for (const mark of marksIn([sent.map(each => [...each]), control.requests()]))
            check(mark.includes(` at ${deployment} `), () => `Deployment ${deployment} receives ${mark}`)
        }
      }
      setFault('works')
      for (const { agent } of places) await settled('destroy()', 5_000, agent.destroy())
    }),
    { ...settings, examples: [[RETURN], [UNKNOWN]] },
  )
}

/** Resolves when the chat of an agent is closed. */
function whenLeft(agent: AiAgent): Promise<void> {
  const isLeft = () => ['IDLE', 'CLOSED'].includes(agent.getState())
  return new Promise(resolve => {
    if (isLeft()) return resolve()
    agent.on('stateChanged', () => isLeft() && resolve())
  })
}
