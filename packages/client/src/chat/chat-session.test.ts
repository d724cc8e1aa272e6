import { turnEventLoop } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { deferred, watch } from '../../test/chat-harness.ts'
import { ChatSession } from './chat-session.ts'

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
