import { turnEventLoop } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { deferred, watch } from '../../test/chat-harness.ts'
import { ChatSession, type SessionKeeper } from './chat-session.ts'

describe('ChatSession', () => {
  it('keeps the id that the host brings, and owes it the context', async () => {
    const session = new ChatSession(() => Promise.reject(new Error('nobody asks')), 'mine')
    expect(await session.require()).toBe('mine')
    expect(session.lacksContext).toBe(true)
    session.contextTold()
    expect(session.lacksContext).toBe(false)
  })

  it('asks the service once for all who need a session at the same time, and remembers the answer', async () => {
    let asked = 0
    const session = new ChatSession(async () => `s${++asked}`, undefined)
    expect(await Promise.all([session.require(), session.require()])).toEqual(['s1', 's1'])
    expect(await session.require()).toBe('s1')
    expect(session.lacksContext).toBe(false)
  })

  it('asks again after a failure', async () => {
    let asked = 0
    const session = new ChatSession(async () => {
      if (++asked === 1) throw new Error('down')
      return 's2'
    }, undefined)
    await expect(session.require()).rejects.toThrow('down')
    expect(await session.require()).toBe('s2')
  })

  it('gives up the call when the last of those who wait gives up', async () => {
    let inner: AbortSignal | undefined
    const session = new ChatSession(signal => {
      inner = signal
      return new Promise(() => {})
    }, undefined)
    const [first, second] = [new AbortController(), new AbortController()]
    const waiting = [watch(session.require(first.signal)), watch(session.require(second.signal))]
    first.abort()
    await turnEventLoop()
    expect([waiting[0]?.outcome, waiting[1]?.outcome, inner?.aborted]).toEqual(['ABORTED', 'pending', false])
    second.abort()
    await turnEventLoop()
    expect([waiting[1]?.outcome, inner?.aborted]).toEqual(['ABORTED', true])
  })

  it('prefers an id that the host brings while the service is being asked', async () => {
    const answer = deferred<string>()
    const session = new ChatSession(() => answer.promise, undefined)
    const required = session.require()
    session.supply('mine')
    answer.resolve('s1')
    expect(await required).toBe('mine')
    expect(session.id).toBe('mine')
    expect(session.lacksContext).toBe(true)
  })

  it('forgets the session that was refused, and only that', async () => {
    const session = new ChatSession(async () => 's1', 'old')
    session.supply('new')
    session.forget('old')
    expect(session.id).toBe('new')
    session.forget('new')
    expect(await session.require()).toBe('s1')
    expect(session.lacksContext).toBe(false)
  })

  it('asks for a further session without taking it', async () => {
    const session = new ChatSession(async () => 's2', 's1')
    expect(await session.create(new AbortController().signal)).toBe('s2')
    expect(session.id).toBe('s1')
    session.adopt('s2')
    expect([session.id, session.lacksContext]).toEqual(['s2', false])
  })
})

describe('ChatSession with a keeper', () => {
  /** A session whose keeper has one of an earlier page, and what the keeper was told. */
  const setUp = ({
    recalled = ['left'],
    lacksContext = false,
    supplied,
  }: {
    recalled?: string[]
    lacksContext?: boolean
    supplied?: string
  } = {}) => {
    const told: string[] = []
    const keeper: SessionKeeper = {
      recall: async () => recalled.slice(0, 1).map(id => ({ id, lacksContext }))[0],
      isKnown: async id => {
        told.push(`known ${id}?`)
        return recalled.includes(id)
      },
      keep: id => void told.push(`keep ${id}`),
    }
    let created = 0
    const session = new ChatSession(
      async () => `s${++created}`,
      supplied,
      async work => work(keeper),
    )
    return { session, told, recalled, created: () => created }
  }

  it('takes the session of an earlier page instead of asking for one', async () => {
    const { session, told, created } = setUp()
    expect(await Promise.all([session.require(), session.require()])).toEqual(['left', 'left'])
    expect([created(), session.lacksContext, told]).toEqual([0, false, []])
  })

  it('owes it the context where this page has changed that', async () => {
    const { session } = setUp({ lacksContext: true })
    await session.require()
    expect(session.lacksContext).toBe(true)
  })

  it('asks for one where none was left, and has it kept', async () => {
    const { session, told } = setUp({ recalled: [] })
    expect(await session.require()).toBe('s1')
    expect(told).toEqual(['keep s1'])
  })

  it('prefers the host’s session, also one that comes while the keeper is asked', async () => {
    expect(await setUp({ supplied: 'mine' }).session.require()).toBe('mine')
    const { session, told } = setUp()
    const required = session.require()
    session.supply('mine')
    expect([await required, session.id, session.lacksContext, told]).toEqual(['mine', 'mine', true, ['keep mine']])
  })

  it('has every change kept', async () => {
    const { session, told } = setUp()
    await session.require()
    session.adopt('new')
    session.supply('given')
    session.forget('another')
    session.forget('given')
    expect(told).toEqual(['keep new', 'keep given', 'keep undefined'])
  })

  it('has nothing kept of a conversation that has ended, until it is opened again', async () => {
    const { session, told } = setUp()
    await session.require()
    session.ended()
    session.opened()
    expect([session.id, told]).toEqual(['left', ['keep undefined', 'keep left']])
  })

  it('asks after it before each attempt that follows a failure, until it was opened once', async () => {
    const { session, told } = setUp()
    for (let attempt = 0; attempt < 3; attempt++) {
      expect(await session.require()).toBe('left')
      session.doubt()
    }
    session.opened()
    session.doubt()
    await session.require()
    expect(told).toEqual(['known left?', 'known left?', 'keep left'])
  })

  it('asks for a new one where it turns out to be lost', async () => {
    const { session, told, recalled } = setUp()
    await session.require()
    session.doubt()
    recalled.length = 0
    expect(await session.require()).toBe('s1')
    expect(told).toEqual(['known left?', 'keep undefined', 'keep s1'])
  })

  it('never doubts a session of its own', async () => {
    const { session, told } = setUp({ recalled: [] })
    await session.require()
    session.doubt()
    await session.require()
    expect(told).toEqual(['keep s1'])
  })
})
