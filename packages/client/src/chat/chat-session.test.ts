import { ManualClock, turnEventLoop } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { createSession, deferred, sendsContext, watch } from '../../test/chat-harness.ts'
import { listen, setUpScope } from '../../test/fake-scope.ts'
import { ApiError, type SDKError } from '../errors.ts'
import { MessageLog } from '../log/message-log.ts'
import { ChatSession, type SessionKeeper } from './chat-session.ts'

const NEVER = new AbortController().signal

describe('ChatSession', () => {
  it('uses the id that the host supplies, and sends it the context', async () => {
    const session = createSession({ create: () => Promise.reject(new Error('not expected')), suppliedId: 'mine' })
    expect(await session.require()).toBe('mine')
    expect([await sendsContext(session), await sendsContext(session)]).toEqual([true, false])
  })

  it('requests one session for concurrent callers, and remembers it', async () => {
    let asked = 0
    const session = createSession({ create: async () => `s${++asked}` })
    expect(await Promise.all([session.require(), session.require()])).toEqual(['s1', 's1'])
    expect(await session.require()).toBe('s1')
    expect(await sendsContext(session)).toBe(false)
  })

  it('requests again after a failure', async () => {
    let asked = 0
    const create = async () => {
      if (++asked === 1) throw new Error('down')
      return 's2'
    }
    const session = createSession({ create })
    await expect(session.require()).rejects.toThrow('down')
    expect(await session.require()).toBe('s2')
  })

  it('aborts the request when the last caller gives up', async () => {
    let inner: AbortSignal | undefined
    const create = (signal: AbortSignal) => {
      inner = signal
      return new Promise<string>(() => {})
    }
    const session = createSession({ create })
    const [first, second] = [new AbortController(), new AbortController()]
    const waiting = [watch(session.require(first.signal)), watch(session.require(second.signal))]
    first.abort()
    await turnEventLoop()
    expect([waiting[0]?.outcome, waiting[1]?.outcome, inner?.aborted]).toEqual(['ABORTED', 'pending', false])
    second.abort()
    await turnEventLoop()
    expect([waiting[1]?.outcome, inner?.aborted]).toEqual(['ABORTED', true])
    expect(waiting[1]?.error).toMatchObject({ message: expect.stringContaining('The request for a session') })
  })

  it('prefers an id that the host supplies during the request', async () => {
    const answer = deferred<string>()
    const session = createSession({ create: () => answer.promise })
    const required = session.require()
    session.supply('mine')
    answer.resolve('s1')
    expect(await required).toBe('mine')
    expect(session.id).toBe('mine')
    expect(await sendsContext(session)).toBe(true)
  })

  it('drops only the session that was refused', async () => {
    const session = createSession({ create: async () => 's1', suppliedId: 'old' })
    session.supply('new')
    session.forget('old')
    expect(session.id).toBe('new')
    session.forget('new')
    expect(await session.require()).toBe('s1')
    expect(await sendsContext(session)).toBe(false)
  })

  it('says whose session it is', async () => {
    const session = createSession({ create: async () => 's1' })
    const origin = async () => {
      const { sessionId, isCreated, isOwn, isSupplied } = await session.begin(NEVER)
      return [sessionId, isCreated, isOwn, isSupplied]
    }
    expect(await origin()).toEqual(['s1', true, true, false])
    session.supply('mine')
    expect(await origin()).toEqual(['mine', false, false, true])
    session.adopt({ id: 's2', context: null })
    expect(await origin()).toEqual(['s2', true, true, false])
    session.join('theirs')
    expect(await origin()).toEqual(['theirs', false, false, false])
  })

  it('[SEC-16] forgets the session of an earlier user, and the request for one', async () => {
    const create = (signal: AbortSignal) =>
      new Promise<string>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    const session = createSession({ create })
    const required = watch(session.require())
    await turnEventLoop()
    session.forgetUser()
    await turnEventLoop()
    expect(required).toMatchObject({ outcome: 'ABORTED', error: { message: 'The user has changed.' } })
    session.supply('mine')
    session.forgetUser()
    expect(session.id).toBeUndefined()
  })

  it('asks for a further session without taking it', async () => {
    const session = createSession({ create: async () => 's2', suppliedId: 's1' })
    const created = await session.create(NEVER)
    expect([created.id, session.id]).toEqual(['s2', 's1'])
    session.adopt(created)
    expect([session.id, await sendsContext(session)]).toEqual(['s2', false])
  })
})

describe('ChatSession with a keeper', () => {
  /** A session whose keeper has one of an earlier page, and what the keeper was told. */
  const setUp = ({
    saved = ['left'],
    needsContext = false,
    supplied,
  }: {
    saved?: string[]
    needsContext?: boolean
    supplied?: string
  } = {}) => {
    const told: string[] = []
    const keeper: SessionKeeper = {
      load: async () => saved.slice(0, 1).map(id => ({ id, needsContext, isEmpty: false }))[0],
      keep: id => void told.push(`keep ${id}`),
      join: id => void told.push(`join ${id}`),
    }
    let created = 0
    const session = createSession({ create: async () => `s${++created}`, suppliedId: supplied }, keeper)
    return { session, told, saved, created: () => created }
  }

  it('uses the session of the previous page instead of requesting one', async () => {
    const { session, told, created } = setUp()
    expect(await Promise.all([session.require(), session.require()])).toEqual(['left', 'left'])
    expect(await session.require()).toBe('left')
    expect([created(), await sendsContext(session), told]).toEqual([0, false, []])
  })

  it('sends it the context if this page has changed it', async () => {
    const { session } = setUp({ needsContext: true })
    await session.require()
    expect(await sendsContext(session)).toBe(true)
  })

  it('requests a session if none was saved, and saves it', async () => {
    const { session, told } = setUp({ saved: [] })
    expect(await session.require()).toBe('s1')
    expect(told).toEqual(['keep s1'])
  })

  it('prefers the session of the host, also when it is supplied during the load', async () => {
    expect(await setUp({ supplied: 'mine' }).session.require()).toBe('mine')
    const { session, told } = setUp()
    const required = session.require()
    session.supply('mine')
    expect([await required, session.id, await sendsContext(session), told]).toEqual([
      'mine',
      'mine',
      true,
      ['keep mine'],
    ])
  })

  it('saves every change', async () => {
    const { session, told } = setUp()
    await session.require()
    session.adopt({ id: 'new', context: null })
    session.supply('given')
    session.forget('another')
    session.forget('given')
    expect(told).toEqual(['keep new', 'keep given', 'keep undefined'])
  })

  it('joins the session of another page, which has sent the context, and tells the keeper', async () => {
    const { session, told } = setUp({ supplied: 'mine' })
    expect(await sendsContext(session)).toBe(true)
    session.join('theirs')
    expect([session.id, await sendsContext(session), told.at(-1)]).toEqual(['theirs', false, 'join theirs'])
    const unkept = createSession({ create: () => Promise.reject(new Error('not expected')) })
    unkept.join('theirs')
    expect(await unkept.require()).toBe('theirs')
  })

  it('saves no ended session until it is opened again', async () => {
    const { session, told } = setUp()
    await session.begin(NEVER)
    session.handleEnded()
    session.handleOpened()
    expect([session.id, told]).toEqual(['left', ['keep undefined', 'keep left']])
  })
})

describe('ChatSession after failed attempts', () => {
  it('[REL-14] is doubtful after two in a row without a reason', async () => {
    const session = createSession({ create: async () => 's1' })
    const fail = async (isExplained = false) => {
      await session.begin(NEVER)
      return session.handleFailure(isExplained)
    }
    expect([await fail(), await fail(), await fail()]).toEqual([false, true, true])
    await session.begin(NEVER)
    session.handleOpened()
    session.handleClosed()
    expect([await fail(), await fail(true), await fail()]).toEqual([false, false, true])
    session.supply('mine')
    expect([await fail(), await fail()]).toEqual([false, true])
  })

  it('[REL-14] is doubtful after two that name no session, if the previous page has saved it', async () => {
    const saved = { id: 'left', needsContext: false, isEmpty: false }
    const keeper: SessionKeeper = { load: async () => saved, keep() {}, join() {} }
    const session = createSession({}, keeper)
    await session.begin(NEVER)
    expect([session.handleFailure(true), session.handleFailure(true)]).toEqual([false, true])
    session.handleOpened()
    expect([session.handleFailure(true), session.handleFailure(true)]).toEqual([false, false])
  })

  it('counts its attempts, and says whether this page has opened it before', async () => {
    let created = 0
    const session = createSession({ create: async () => `s${++created}` })
    const begin = () => session.begin(NEVER)
    expect(await begin()).toMatchObject({ sessionId: 's1', isReopening: false, number: 1 })
    expect(await begin()).toMatchObject({ sessionId: 's1', isReopening: false, number: 2 })
    session.handleOpened()
    session.handleClosed()
    expect(await begin()).toMatchObject({ sessionId: 's1', isReopening: true, number: 3 })
    session.handleRefused()
    expect(await begin()).toMatchObject({ sessionId: 's2', isReopening: false, number: 1 })
  })
})

describe('the check of a session after failed attempts', () => {
  const refused = (status: number) =>
    new ApiError('Refused.', { method: 'GET', path: '/sessions', reason: 'status', status })

  /** A session that must be checked by the given call, and the errors that were reported. */
  async function setUpCheck(load: () => Promise<unknown>) {
    const clock = new ManualClock()
    const calls: string[] = []
    const getPreviousTranscript = async ({ sessionId }: { sessionId: string }) => {
      calls.push(sessionId)
      return (await load()) as never
    }
    const api = { getAiAgentSession: async () => 'new', getPreviousTranscript }
    const scope = setUpScope({ config: { sessionId: 'old' }, api, environment: { clock } })
    const errors: SDKError[] = []
    listen(scope, 'error', ({ error }) => void errors.push(error))
    const session = new ChatSession(scope, { get: () => null }, new MessageLog({}, scope))
    await session.begin(NEVER)
    return { clock, session, errors, calls }
  }

  it.each<[string, () => Promise<unknown>, boolean]>([
    ['an answer', async () => [], true],
    ['status 404', () => Promise.reject(refused(404)), false],
    ['status 410', () => Promise.reject(refused(410)), false],
    ['status 503', () => Promise.reject(refused(503)), true],
    ['a network failure', () => Promise.reject(new TypeError('fetch failed')), true],
  ])('[REL-14] keeps or replaces it after %s', async (_what, load, isKnown) => {
    const { session, errors } = await setUpCheck(load)
    expect(await session.check(NEVER)).toBe(!isKnown)
    expect(await session.require()).toBe(isKnown ? 'old' : 'new')
    expect(errors.map(({ code }) => code)).toEqual(isKnown ? [] : ['CONNECTION_ERROR'])
    for (const error of errors)
      expect(error).toMatchObject({
        reason: 'refused',
        httpStatus: expect.toBeOneOf([404, 410]),
        cause: expect.any(ApiError),
        message: expect.stringContaining('A new one is requested'),
      })
  })

  it('[REL-14] keeps it when no answer comes within 4 s', async () => {
    const { clock, session } = await setUpCheck(() => new Promise(() => {}))
    const checking = session.check(NEVER)
    await clock.advance(4_000)
    expect(await checking).toBe(false)
    expect(session.id).toBe('old')
  })

  it('[REL-14] is one call for all failures that come before its answer', async () => {
    const answer = deferred<unknown>()
    const { session, calls, errors } = await setUpCheck(() => answer.promise)
    const checking = [session.check(NEVER), session.check(NEVER)]
    answer.reject(refused(404))
    expect(await Promise.all(checking)).toEqual([true, false])
    expect([calls, errors.length]).toEqual([['old'], 1])
  })

  it.each<[string, (session: ChatSession) => void, string]>([
    ['the chat has opened', session => session.handleOpened(), 'old'],
    ['the host has supplied another one', session => session.supply('mine'), 'mine'],
  ])('[REL-14] changes nothing where meanwhile %s', async (_case, change, expected) => {
    const answer = deferred<unknown>()
    const { session, errors } = await setUpCheck(() => answer.promise)
    const checking = session.check(NEVER)
    change(session)
    answer.reject(refused(404))
    expect([await checking, session.id, errors]).toEqual([false, expected, []])
  })

  it('[REL-14] ends with the call for which it is made', async () => {
    const { session, clock } = await setUpCheck(() => new Promise(() => {}))
    const controller = new AbortController()
    const checking = session.check(controller.signal)
    controller.abort(new Error('enough'))
    expect([await checking, session.id, clock.pendingTimers]).toEqual([false, 'old', 0])
  })
  it('[REL-101] says nothing of another one whose opening has begun before the history was there', async () => {
    const answer = deferred<unknown>()
    const { session, calls } = await setUpCheck(() => answer.promise)
    session.handleOpened()
    const reading = session.loadHistory()
    session.supply('next')
    await session.begin(NEVER)
    session.handleOpened()
    answer.resolve([])
    await reading
    expect([await session.canRecover(NEVER), calls]).toEqual([true, ['old', 'next']])
  })
})
