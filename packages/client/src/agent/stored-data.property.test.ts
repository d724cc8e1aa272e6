import { createEmulator } from '@aiagent/emulator'
import { propertyRuns } from '@aiagent/test-support'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { setUp } from '../../test/agent-harness.ts'
import { FakeStorage } from '../../test/fake-service.ts'
import { FakeWindow } from '../../test/fake-window.ts'
import { HostStore } from '../../test/host-store.ts'
import { AiAgent } from '../ai-agent.ts'
import { AnonymousAuthStrategy } from '../auth/anonymous-strategy.ts'
import { resolveEnvironment } from '../platform/default-environment.ts'
import { ApiHelper } from '../rest/api-helper.ts'
import type { CacheConfig } from '../storage/cache-adapter.ts'
import { MemoryCacheAdapter } from '../storage/memory-cache-adapter.ts'
import { sleep } from '../util/abort.ts'
import { subjectFingerprint } from '../util/jwt.ts'
import { fnv1a } from '../util/text.ts'

/*
 * Agents that come and go in one page, of several users, deployments, kinds and options, over every store. What an operation
 * removes is compared with what it must and may remove, entry by entry: so every kind of entry counts, not only what a
 * user has written.
 */

const ORIGINS = ['http://one.test', 'http://two.test'] as const
/** Agents, with their users; `undefined` for an anonymous one. Those of `desk` have portals and profiles. */
const ROLES = [
  { id: 'help', subject: undefined },
  { id: 'account', subject: 'customer' },
  { id: 'account', subject: 'new-customer' },
  { id: 'desk', subject: 'desk-agent' },
  { id: 'desk', subject: 'supervisor' },
] as const
const STORES = ['session', 'local', 'memory', 'adapter'] as const

interface Options {
  readonly deployment: number
  readonly role: number
  readonly store: (typeof STORES)[number]
  readonly resume: boolean
  readonly prefix: '' | 'shop_'
}

const options: fc.Arbitrary<Options> = fc.record({
  deployment: fc.constantFrom(0, 0, 0, 1),
  role: fc.nat(ROLES.length - 1),
  store: fc.constantFrom('session', 'adapter', ...STORES),
  resume: fc.constantFrom(true, true, false),
  prefix: fc.constantFrom('', '', '', 'shop_'),
})

const DOES = [
  ...['visit', 'visit', 'visit', 'visit', 'visit', 'open', 'open', 'info', 'details', 'start', 'write', 'destroy'],
  ...['logout', 'logout', 'logout', 'change user', 'change user', 'clear stored data', 'clear responses', 'clear info'],
  ...['clear tokens', 'clear metadata', 'a day later', 'an hour earlier'],
  ...['is slow', 'fails', 'hangs', 'works', 'works', 'logout of a store that fails', 'logout of a store that hangs'],
] as const

const step = fc.record({ does: fc.constantFrom(...DOES), slot: fc.nat(2), options })

/** An agent in the page. */
interface Visitor extends Options {
  readonly agent: AiAgent
  subject: string | undefined
  isStarted: boolean
  /** Whether it may have a token, so that its user is known. */
  isKnown: boolean
}

/** What the key of an entry, or the entry itself, says of it. */
interface Entry {
  readonly key: string
  readonly text: string
  readonly kind: string
  readonly deployment: number | undefined
  readonly prefix: string
  readonly user: string | undefined
  readonly isInAdapter: boolean
  readonly isExpired: boolean
}

const KINDS: readonly (readonly [string, RegExp])[] = [
  ['info', /^aiagent_static_deployment-info-/],
  ['response', /^(?:aiagent|shop)_cache_/],
  ['token', /^(?:aiagent|shop)_auth_.*:anonymous_token:/],
  ['metadata', /^(?:aiagent|shop)_auth_metadata:/],
  ['context', /^(?:aiagent_|shop_|one:)context_/],
  ['session', /^(?:aiagent_|shop_|one:)session_/],
  ['profiles', /^vendor_profiles_/],
  ['selected', /^(?:aiagent_owner_)?v2_.*selectedProfile-/],
]
/** Kinds of entries that belong to a user, and those that also go with a logout. */
const OF_USERS = new Set(['response', 'context', 'session', 'profiles', 'selected'])
const OF_LOGOUT = new Set([...OF_USERS, 'token', 'metadata'])

const numberIn = (text: string, name: string, none: number) =>
  Number(new RegExp(`"${name}":(\\d+)`).exec(text)?.[1] ?? none)

function describeEntry(now: number, key: string, text: string, isInAdapter: boolean): Entry {
  const kind = KINDS.find(([, form]) => form.test(key))?.[0] ?? 'of the host'
  const named = decodeURIComponent(key) + (kind === 'context' || kind === 'selected' ? text : '')
  const found = ORIGINS.findIndex(origin => named.includes(origin) || named.includes(fnv1a(origin)))
  const user = /user=([^&]*)|session_[^:]*:[^:]*:([^:]*):|_([^_]*)_$/.exec(key)
  return {
    key,
    text,
    kind,
    deployment: found < 0 ? undefined : found,
    prefix: key.startsWith('shop_') ? 'shop_' : '',
    user: user?.slice(1).find(each => each !== undefined),
    isInAdapter,
    // An entry from before the clock was set back has expired too.
    isExpired: now >= numberIn(text, 'expiresAt', Number.POSITIVE_INFINITY) || now < numberIn(text, 'timestamp', 0),
  }
}

const MARK = /SECRET\([^)]*\)/g
const marksIn = (value: unknown) => new Set(JSON.stringify(value)?.match(MARK))

/** Whether the options of an agent name the prefix of an entry. */
function isNamed({ prefix, kind, isInAdapter }: Entry, visitor: Visitor): boolean {
  if (isInAdapter) return kind !== 'response' || prefix === visitor.prefix
  if (prefix === '') return true
  return prefix === visitor.prefix && (visitor.store !== 'adapter' || !['context', 'session'].includes(kind))
}

function setUpPage() {
  const { clock, emulator, environment, make } = setUp({ origin: ORIGINS[0] })
  const services = [emulator, createEmulator({ clock, origin: ORIGINS[1] })] as const
  const [sessionStorage, localStorage, memory] = [new FakeStorage(), new FakeStorage(), new MemoryCacheAdapter()]
  const host = new HostStore()
  for (const storage of [sessionStorage, localStorage]) storage.setItem('cart', 'of the host: http://one.test')
  const page = new FakeWindow().page
  const tokens = new Map<string, string>()
  const tokenOf = (deployment: number, subject: string) => {
    const token = services[deployment as 0 | 1].control.issueToken({ subject, lifeSeconds: 10 * 86_400 })
    tokens.set(`${deployment} ${subject}`, subjectFingerprint(token) ?? '')
    return token
  }
  const platformOf = (deployment: number) => {
    const { fetch, WebSocket } = services[deployment as 0 | 1]
    return { ...resolveEnvironment(environment), fetch, WebSocket, page, sessionStorage, localStorage, memory }
  }
  const cacheOf = ({ store, prefix }: Options): CacheConfig =>
    store === 'adapter'
      ? { adapter: host, contextPrefix: 'one:', ...(prefix && { keyPrefix: prefix }) }
      : { storageType: store, ...(prefix && { keyPrefix: prefix }) }
  const open = (chosen: Options): Visitor => {
    const { deployment, role, resume } = chosen
    const { id, subject } = ROLES[role] as (typeof ROLES)[number]
    const { agent } = make(
      {
        id,
        endpoint: ORIGINS[deployment as 0 | 1],
        resume,
        cache: cacheOf(chosen),
        context: id === 'desk' ? { vendor_portal_id: '1002' } : {},
        ...(subject && { auth: { type: 'pre-auth', accessToken: tokenOf(deployment, subject) } }),
      },
      platformOf(deployment),
    )
    return { ...chosen, agent, subject, isStarted: false, isKnown: false }
  }
  // What other pages read too names its owner in an entry beside it.
  const textOf = (key: string, text: string) => text + sessionStorage.items.get(`aiagent_owner_${key}`)
  const entries = (now = clock.now()): Entry[] => [
    ...[...sessionStorage.items, ...localStorage.items].map(([key, text]) =>
      describeEntry(now, key, textOf(key, text), false),
    ),
    ...memory.keys().map(key => describeEntry(now, key, JSON.stringify(memory.get(key)), false)),
    ...[...host.entries].map(([key, entry]) => describeEntry(now, key, JSON.stringify(entry), true)),
  ]
  const nameOf = ({ deployment, subject }: Visitor) =>
    subject === undefined ? 'anonymous' : tokens.get(`${deployment} ${subject}`)
  return { clock, host, open, entries, cacheOf, platformOf, tokenOf, nameOf }
}

async function run(steps: readonly { does: (typeof DOES)[number]; slot: number; options: Options }[]): Promise<void> {
  const { clock, host, open, entries, cacheOf, platformOf, tokenOf, nameOf } = setUpPage()
  const visitors: (Visitor | undefined)[] = []
  const gone = new Set<string>()
  /** Keys of what an operation could not remove from a custom adapter: they may be removed as soon as it works. */
  const due = new Set<string>()
  const written = new Map<string, Visitor>()
  let fault = 'works'
  let hasFailed = false
  let hungAt = Number.NEGATIVE_INFINITY
  let count = 0
  /** Waits for a call, whatever its outcome. */
  const settled = async (what: string, limitMs: number, call: () => unknown) => {
    let isDone = false
    const done = () => void (isDone = true)
    new Promise(resolve => resolve(call())).then(done, done)
    for (let waited = 0; !isDone && waited < limitMs; waited += 20) await clock.advance(20)
    if (!isDone) throw new Error(`${what} waits for the store, which ${fault}.`)
    await clock.advance(fault === 'is slow' ? 3_000 : 40)
  }
  /** Whether a custom adapter takes part in what is done now. */
  const isUsed = () => (fault === 'works' || fault === 'is slow') && clock.monotonic() > hungAt + 50_000
  /** Runs an operation, and compares what it has removed. */
  const removes = async (
    what: string,
    call: () => unknown,
    mayGo: (entry: Entry) => boolean,
    mustGo: (entry: Entry) => boolean,
  ) => {
    const before = entries(clock.now() + 20_000)
    await settled(what, 12_000, call)
    const left = entries()
    const keys = new Set(left.map(({ key, deployment, isInAdapter }) => `${key} ${deployment} ${isInAdapter}`))
    for (const each of before)
      if (!keys.has(`${each.key} ${each.deployment} ${each.isInAdapter}`) && !mayGo(each) && !mayEnd(each))
        throw new Error(`${what} removes ${each.key}`)
    // What agents have stored since, such as a renewed token, stays.
    const texts = new Set(before.map(({ key, text }) => `${key} ${text}`))
    for (const each of left) {
      if (each.isInAdapter && !isUsed() && mayGo(each)) due.add(each.key)
      if (texts.has(`${each.key} ${each.text}`) && mustGo(each)) throw new Error(`${what} leaves ${each.key}`)
    }
  }
  /**
   * Whether an entry may go at any time: it has expired, a store that failed has it still after a sign-out, or the service may have
   * ended the session of an agent.
   */
  const mayEnd = ({ key, kind, deployment, user, text, isExpired, isInAdapter }: Entry) =>
    isExpired ||
    (isInAdapter && due.has(key)) ||
    [...marksIn(text)].some(mark => gone.has(mark)) ||
    // Whose it is cannot be known.
    (hasFailed && kind === 'context' && isInAdapter) ||
    kind === 'info' ||
    (kind === 'session' && visitors.some(each => each && each.deployment === deployment && nameOf(each) === user))
  /** What ends with a user: whether an entry may and must go. */
  const ofSignOut = (visitor: Visitor, kinds: ReadonlySet<string>) => {
    const { deployment, store } = visitor
    const { id } = ROLES[visitor.role] as (typeof ROLES)[number]
    const user = nameOf(visitor)
    const { isKnown } = visitor
    const isInfoKnown = entries().some(each => each.kind === 'info' && each.deployment === deployment)
    const others = visitors.filter(each => each && each !== visitor && each.resume)
    const isOthers = (entry: Entry) =>
      entry.kind === 'session' &&
      others.some(each => each && nameOf(each) === entry.user && each.deployment === deployment)
    const isOf = (entry: Entry) =>
      (entry.deployment === deployment ||
        (!isInfoKnown && !isKnown && ['response', 'token', 'metadata'].includes(entry.kind)) ||
        (entry.deployment === undefined && entry.kind === 'selected')) &&
      kinds.has(entry.kind) &&
      isNamed(entry, visitor)
    const mayGo = (entry: Entry) => {
      if (!isOf(entry)) return false
      // Another user may come back to a session with another agent.
      const isOwn = !isKnown || entry.user === user || entry.key.includes(`:${id}:`)
      if (!entry.isInAdapter) return entry.kind !== 'session' || isOwn
      if (store !== 'adapter') return false
      if (entry.kind === 'context') return entry.key.endsWith(`_${id}`)
      // The prefix names the conversation.
      return entry.user === user || (!isKnown && entry.kind === 'session')
    }
    const mustGo = (entry: Entry) => {
      if (!mayGo(entry) || entry.deployment !== deployment || isOthers(entry)) return false
      if (entry.isInAdapter) return isUsed() && (isKnown || entry.kind === 'context')
      return entry.kind !== 'session' || !isKnown || entry.user === user
    }
    return { mayGo, mustGo }
  }
  /** Nobody reads any more what was written at the deployment, but those who have it in memory. */
  const forget = (visitor: Visitor) => {
    for (const [mark, writer] of written) {
      const isSame = writer.deployment === visitor.deployment && writer.subject === visitor.subject
      const isReachable = writer.store !== 'adapter' || visitor.store === 'adapter'
      const isPrefix = writer.prefix === '' || writer.prefix === visitor.prefix || writer.store === 'adapter'
      const isHeld = visitors.some(
        each =>
          each && each !== visitor && marksIn([each.agent.getContext(), each.agent.getTranscriptAsJSON()]).has(mark),
      )
      const isOwn = writer.role === visitor.role
      if (isSame && isReachable && isPrefix && isOwn && !isHeld && visitor.isKnown) gone.add(mark)
    }
  }
  const act = async (does: (typeof DOES)[number], slot: number, chosen: Options): Promise<void> => {
    const visitor = visitors[slot]
    if (fault === 'hangs') hungAt = clock.monotonic()
    if (does === 'visit') {
      for (const part of ['destroy', 'open', 'start', 'write'] as const) await act(part, slot, chosen)
      return
    }
    if (does === 'logout of a store that fails' || does === 'logout of a store that hangs') {
      const broken = does.endsWith('fails') ? 'fails' : 'hangs'
      for (const part of [broken, 'logout', 'works', 'destroy', 'open', 'start'] as const)
        await act(part, slot, visitor ?? chosen)
      return
    }
    if (does === 'open') {
      if (!visitor) visitors[slot] = open(chosen)
    } else if (does === 'works' || does === 'is slow' || does === 'fails' || does === 'hangs') {
      fault = does
      if (fault === 'fails' || fault === 'hangs') hasFailed = true
      host.fails = does === 'fails'
      host.hangs = does === 'hangs'
      host.pause = does === 'is slow' ? () => sleep(clock, 100) : undefined
    } else if (does === 'a day later') clock.shiftWallClock(86_400_000)
    else if (does === 'an hour earlier') clock.shiftWallClock(-3_600_000)
    else if (visitor) {
      const { agent, deployment } = visitor
      const cache = cacheOf(visitor)
      const environment = platformOf(deployment)
      if (does === 'info') await settled('getDeploymentInfo()', 5_000, () => agent.getDeploymentInfo())
      else if (does === 'details') {
        await settled('getAgentDetails()', 8_000, () => agent.getAgentDetails())
        visitor.isKnown = agent.status.phase.at !== 'destroyed'
      } else if (does === 'start') {
        await settled('initialize()', 12_000, () => agent.initialize())
        if (agent.status.phase.at !== 'ready') throw new Error(`An agent that was started is ${agent.status.phase.at}.`)
        await settled('connect()', 5_000, () => agent.connect())
        Object.assign(visitor, { isStarted: true, isKnown: true })
      } else if (does === 'write' && visitor.isStarted) {
        const mark = `SECRET(${++count})`
        written.set(mark, { ...visitor })
        await settled('setContext()', 5_000, () => agent.setContext({ [`note ${count}`]: mark }))
        await settled('send()', 5_000, () => agent.send(mark))
      } else if (does === 'destroy') {
        await settled('destroy()', 12_000, () => agent.destroy())
        visitors[slot] = undefined
      } else if (does === 'logout') {
        const { mayGo, mustGo } = ofSignOut(visitor, OF_LOGOUT)
        await removes(`logout() of ${JSON.stringify({ ...visitor, agent: 0 })}`, () => agent.logout(), mayGo, mustGo)
        forget(visitor)
        Object.assign(visitor, { isStarted: false, isKnown: false })
      } else if (does === 'change user' && visitor.subject !== undefined && visitor.isStarted) {
        const { mayGo, mustGo } = ofSignOut(visitor, OF_USERS)
        const subject = visitor.subject === 'customer' ? 'new-customer' : 'customer'
        const change = async () => {
          const changed = new Promise(resolve => agent.once('userChanged', resolve))
          await agent.updateAccessToken(tokenOf(deployment, subject))
          await changed
        }
        await removes('A change of the user', change, mayGo, mustGo)
        forget(visitor)
        Object.assign(visitor, { subject, isStarted: false, isKnown: true })
      } else if (does === 'clear stored data') {
        const isInfoKnown = entries().some(each => each.kind === 'info' && each.deployment === deployment)
        const isOf = (entry: Entry) =>
          !entry.isInAdapter &&
          isNamed(entry, visitor) &&
          (entry.deployment === deployment ||
            (!isInfoKnown && ['response', 'token', 'metadata'].includes(entry.kind)) ||
            (entry.deployment === undefined && entry.kind === 'selected'))
        const clear = () => AiAgent.clearStoredData(ORIGINS[deployment as 0 | 1], { cache, environment })
        await removes('clearStoredData()', clear, isOf, isOf)
      } else if (does === 'clear responses') {
        const api = new ApiHelper({ apiDomain: ORIGINS[deployment as 0 | 1], cache }, environment)
        const isInAdapter = visitor.store === 'adapter'
        const mayGo = (entry: Entry) => entry.kind === 'response' && entry.isInAdapter === isInAdapter
        await removes(
          'clearCache()',
          () => api.clearCache(),
          mayGo,
          () => false,
        )
      } else if (does === 'clear info') {
        await removes(
          'clearDeploymentInfoCache()',
          () => ApiHelper.clearDeploymentInfoCache(),
          () => false,
          () => false,
        )
      } else if (does === 'clear tokens' || does === 'clear metadata') {
        const isToken = does === 'clear tokens'
        const strategy = new AnonymousAuthStrategy({ cache }, environment)
        const apiDomain = ORIGINS[deployment as 0 | 1]
        strategy.initialize({ deploymentInfo: { apiDomain, tenantId: 'TEN0001' } })
        const isOf = ({ kind, isInAdapter, deployment: at }: Entry) =>
          kind === (isToken ? 'token' : 'metadata') &&
          isInAdapter === (visitor.store === 'adapter') &&
          (!isToken || at === deployment)
        const clear = () => (isToken ? strategy.clearTokenCache() : strategy.clearMetadataCache())
        await removes(does, clear, isOf, () => false)
      }
    }
  }
  for (const { does, slot, options: chosen } of steps) {
    await act(does, slot, chosen)
    for (const each of visitors) {
      if (!each?.isStarted) continue
      const { id } = ROLES[each.role] as (typeof ROLES)[number]
      for (const mark of marksIn([each.agent.getContext(), each.agent.getTranscriptAsJSON()])) {
        const writer = written.get(mark)
        const isOwn = writer?.deployment === each.deployment && writer.subject === each.subject
        const { id: writerId } = ROLES[writer?.role ?? 0] as (typeof ROLES)[number]
        if (!isOwn || writerId !== id)
          throw new Error(
            `${JSON.stringify({ ...each, agent: 0 })} reads ${mark} of ${JSON.stringify({ ...writer, agent: 0 })}`,
          )
        if (gone.has(mark))
          throw new Error(`${JSON.stringify({ ...each, agent: 0 })} reads ${mark} after the sign-out.`)
      }
    }
  }
  Object.assign(host, { fails: false, hangs: false, pause: undefined })
  for (const each of visitors) if (each) await settled('destroy()', 12_000, () => each.agent.destroy())
}

// Loaded before the clock is moved: loading a module takes real time.
await Promise.all([
  import('./portal-lifecycle.ts'),
  import('../resume/session-resume.ts'),
  import('../storage/clear-stored.ts'),
])

describe('any order of agents, users, deployments, stores and operations in a page', () => {
  it('[SEC-15] [SEC-18] [SEC-26] [AUTH-14] removes what goes with it, and nothing else, and shows no one what another wrote', async () => {
    const property = fc.asyncProperty(fc.array(step, { minLength: 6, maxLength: 24, size: 'max' }), run)
    await expect(fc.assert(property, { numRuns: propertyRuns(25) })).resolves.toBeUndefined()
  })
})
