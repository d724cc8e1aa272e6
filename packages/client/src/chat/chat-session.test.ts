import { ManualClock, turnEventLoop } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { createSession, deferred, sendsContext, watch } from '../../test/chat-harness.ts'
import { listen, setUpScope } from '../../test/fake-scope.ts'
import { ApiError, type SDKError } from '../errors.ts'
import { Transcript } from '../log/transcript.ts'
import { ChatSession, type SessionKeeper } from './chat-session.ts'

describe('ChatSession', () => {
  it('uses the id that the host supplies, and sends it the context', async () => {
    const session = createSession({ create: () => Promise.reject(new Error('not expected')), suppliedId: 'mine' })
    expect(await session.require()).toBe('mine')
    expect([sendsContext(session), sendsContext(session)]).toEqual([true, false])
  })

  it('requests one session for concurrent callers, and remembers it', async () => {
    let asked = 0
    const session = createSession({ create: async () => `s${++asked}` })
    expect(await Promise.all([session.require(), session.require()])).toEqual(['s1', 's1'])
    expect(await session.require()).toBe('s1')
    expect(sendsContext(session)).toBe(false)
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
    expect(sendsContext(session)).toBe(true)
  })

  it('drops only the session that was refused', async () => {
    const session = createSession({ create: async () => 's1', suppliedId: 'old' })
    session.supply('new')
    session.forget('old')
    expect(session.id).toBe('new')
    session.forget('new')
    expect(await session.require()).toBe('s1')
    expect(sendsContext(session)).toBe(false)
  })

  it('says whose session it is', async () => {
    const session = createSession({ create: async () => 's1' })
    const origin = () => [session.id, session.isOwn, session.isSupplied]
    expect(origin()).toEqual([undefined, false, false])
    await session.require()
    expect(origin()).toEqual(['s1', true, false])
    session.supply('mine')
    expect(origin()).toEqual(['mine', false, true])
    session.adopt('s2')
    expect(origin()).toEqual(['s2', true, false])
    session.forget('s2')
    expect(origin()).toEqual([undefined, false, false])
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
    expect([session.id, session.isSupplied]).toEqual([undefined, false])
  })

  it('asks for a further session without taking it', async () => {
    const session = createSession({ create: async () => 's2', suppliedId: 's1' })
    expect(await session.create(new AbortController().signal)).toBe('s2')
    expect(session.id).toBe('s1')
    session.adopt('s2')
    expect([session.id, sendsContext(session)]).toEqual(['s2', false])
  })
})

describe('ChatSession with a keeper', () => {
  /** A session whose keeper has one of an earlier page, and what the keeper was told. */
  const setUp = ({
    recalled = ['left'],
    needsContext = false,
    supplied,
  }: {
    recalled?: string[]
    needsContext?: boolean
    supplied?: string
  } = {}) => {
    const told: string[] = []
    const keeper: SessionKeeper = {
      recall: async () => recalled.slice(0, 1).map(id => ({ id, needsContext, isEmpty: false }))[0],
      isKnown: async id => {
        told.push(`known ${id}?`)
        return recalled.includes(id)
      },
      keep: id => void told.push(`keep ${id}`),
      join: id => void told.push(`join ${id}`),
    }
    let created = 0
    const session = createSession({ create: async () => `s${++created}`, suppliedId: supplied }, keeper)
    return { session, told, recalled, created: () => created }
  }

  it('uses the session of the previous page instead of requesting one', async () => {
    const { session, told, created } = setUp()
    expect(await Promise.all([session.require(), session.require()])).toEqual(['left', 'left'])
    expect(await session.require()).toBe('left')
    expect([created(), sendsContext(session), told]).toEqual([0, false, []])
  })

  it('sends it the context if this page has changed it', async () => {
    const { session } = setUp({ needsContext: true })
    await session.require()
    expect(sendsContext(session)).toBe(true)
  })

  it('requests a session if none was saved, and saves it', async () => {
    const { session, told } = setUp({ recalled: [] })
    expect(await session.require()).toBe('s1')
    expect(told).toEqual(['keep s1'])
  })

  it('prefers the session of the host, also when it is supplied during the recall', async () => {
    expect(await setUp({ supplied: 'mine' }).session.require()).toBe('mine')
    const { session, told } = setUp()
    const required = session.require()
    session.supply('mine')
    expect([await required, session.id, sendsContext(session), told]).toEqual(['mine', 'mine', true, ['keep mine']])
  })

  it('saves every change', async () => {
    const { session, told } = setUp()
    await session.require()
    session.adopt('new')
    session.supply('given')
    session.forget('another')
    session.forget('given')
    expect(told).toEqual(['keep new', 'keep given', 'keep undefined'])
  })

  it('joins the session of another page, which has sent the context, and tells the keeper', async () => {
    const { session, told } = setUp({ supplied: 'mine' })
    expect(sendsContext(session)).toBe(true)
    session.join('theirs')
    expect([session.id, sendsContext(session), told.at(-1)]).toEqual(['theirs', false, 'join theirs'])
    const unkept = createSession({ create: () => Promise.reject(new Error('not expected')) })
    unkept.join('theirs')
    expect(await unkept.require()).toBe('theirs')
  })

  it('saves no ended session until it is opened again', async () => {
    const { session, told } = setUp()
    await session.require()
    session.markEnded()
    session.markOpened(session.id)
    expect([session.id, told]).toEqual(['left', ['keep undefined', 'keep left']])
  })

  it('checks it before each attempt that follows a failure', async () => {
    const { session, told } = setUp()
    for (let attempt = 0; attempt < 3; attempt++) {
      expect(await session.require()).toBe('left')
      session.markUnverified()
    }
    session.markOpened(session.id)
    session.markUnverified()
    await session.require()
    expect(told).toEqual(['known left?', 'known left?', 'keep left'])
  })

  it('requests a new session if the saved one is unknown', async () => {
    const { session, told, recalled } = setUp()
    await session.require()
    session.markUnverified()
    recalled.length = 0
    expect(await session.require()).toBe('s1')
    expect(told).toEqual(['known left?', 'keep undefined', 'keep s1'])
  })

  it('does not ask the keeper about a session of this page', async () => {
    const { session, told } = setUp({ recalled: [] })
    await session.require()
    session.markUnverified()
    await session.require()
    expect(told).toEqual(['keep s1'])
  })
})

describe('ChatSession after a failed attempt', () => {
  const setUp = () => {
    const checked: string[] = []
    const service = { isKnown: true }
    let created = 0
    const session = createSession({
      create: async () => `s${++created}`,
      isKnown: async id => {
        checked.push(id)
        return service.isKnown
      },
    })
    return { session, checked, service }
  }

  it('[REL-14] checks the session once for each failure that gave no reason, and keeps a known one', async () => {
    const { session, checked } = setUp()
    await session.require()
    await session.require()
    expect(checked).toEqual([])
    session.markUnverified()
    expect([await session.require(), await session.require()]).toEqual(['s1', 's1'])
    expect(checked).toEqual(['s1'])
    session.markUnverified()
    session.markOpened(session.id)
    await session.require()
    expect(checked).toEqual(['s1'])
  })

  it('[REL-14] checks no session that the host has just supplied, nor after a failure with a reason', async () => {
    const { session, checked } = setUp()
    session.markUnverified()
    await session.require()
    expect(checked).toEqual([])
    session.supply('mine')
    session.markUnverified(true)
    expect(await session.require()).toBe('mine')
    expect(checked).toEqual([])
    const supplied = createSession({
      create: async () => 's1',
      suppliedId: 'mine',
      isKnown: async id => checked.push(id) > 0,
    })
    await supplied.require()
    expect(checked).toEqual([])
  })

  it('[REL-14] checks a session that is supplied and fails while another one is checked', async () => {
    const checked: string[] = []
    const answer = deferred<boolean>()
    const isKnown = (id: string) => {
      checked.push(id)
      return answer.promise
    }
    const session = createSession({ create: async () => 's1', suppliedId: 'old', isKnown })
    session.markUnverified()
    const required = session.require()
    session.supply('new')
    session.markUnverified()
    answer.resolve(true)
    expect(await required).toBe('new')
    await session.require()
    expect(checked).toEqual(['old', 'new'])
  })

  it('[REL-14] requests a new session when the service no longer knows it', async () => {
    const { session, service } = setUp()
    await session.require()
    session.markUnverified()
    service.isKnown = false
    expect([await session.require(), sendsContext(session)]).toEqual(['s2', false])
  })
})

describe('the check of a session after a failed attempt', () => {
  const refused = (status: number) =>
    new ApiError('Refused.', { method: 'GET', path: '/sessions', reason: 'status', status })

  /** A session that must be checked by the given call, and the errors that were reported. */
  function setUpCheck(load: () => Promise<unknown>) {
    const clock = new ManualClock()
    const api = { getAiAgentSession: async () => 'new', getPreviousTranscript: load as never }
    const scope = setUpScope({ config: { sessionId: 'old' }, api, environment: { clock } })
    const errors: SDKError[] = []
    listen(scope, 'error', ({ error }) => void errors.push(error))
    const session = new ChatSession(scope, { get: () => null }, new Transcript({}, scope))
    session.markUnverified()
    return { clock, session, errors }
  }

  it.each<[string, () => Promise<unknown>, boolean]>([
    ['an answer', async () => [], true],
    ['status 404', () => Promise.reject(refused(404)), false],
    ['status 410', () => Promise.reject(refused(410)), false],
    ['status 503', () => Promise.reject(refused(503)), true],
    ['a network failure', () => Promise.reject(new TypeError('fetch failed')), true],
  ])('[REL-14] keeps or replaces it after %s', async (_what, load, isKnown) => {
    const { session, errors } = setUpCheck(load)
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

  it('[REL-14] keeps it when no answer comes within 5 s', async () => {
    const { clock, session } = setUpCheck(() => new Promise(() => {}))
    const required = session.require()
    await clock.advance(5_000)
    expect(await required).toBe('old')
  })

  it('[REL-14] rejects when the caller aborts', async () => {
    const { session } = setUpCheck(() => new Promise(() => {}))
    const controller = new AbortController()
    const seen = watch(session.require(controller.signal))
    controller.abort(new Error('enough'))
    await turnEventLoop()
    expect(seen.outcome).toBe('Error: enough')
  })
})
