import { createEmulator } from '@aiagent/emulator'
import { ManualClock, turnEventLoop } from '@aiagent/test-support'
import { describe, expect, it, vi } from 'vitest'
import { FakeBrowser } from '../../test/fake-browser.ts'
import { hasLocks, hold, type LockPage, names, steal, tryHold } from './locks.ts'

function setUp() {
  const clock = new ManualClock()
  const browser = new FakeBrowser(clock, createEmulator({ clock }))
  const open = () => {
    const tab = browser.open()
    return { tab, page: tab.environment.page?.window as LockPage }
  }
  return { one: open(), two: open() }
}

/** Whether a promise has settled after some turns of the event loop. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const settled = vi.fn()
  promise.then(settled, settled)
  await turnEventLoop(5)
  return settled.mock.calls.length > 0
}

describe('locks', () => {
  it('passes a lock on when it is given back', async () => {
    const { one, two } = setUp()
    const release = await hold(one.page, 'a')
    const next = hold(two.page, 'a')
    expect(await isSettled(next)).toBe(false)
    expect(await isSettled(hold(two.page, 'b'))).toBe(true)
    release()
    expect(await isSettled(next)).toBe(true)
  })

  it('ends a wait by its signal, and not a lock that is held', async () => {
    const { one, two } = setUp()
    const held = new AbortController()
    await hold(one.page, 'a', held)
    const waiting = new AbortController()
    const next = hold(two.page, 'a', { signal: waiting.signal })
    waiting.abort()
    await expect(next).rejects.toThrow()
    held.abort()
    expect(await tryHold(two.page, 'a')).toBeUndefined()
  })

  it('takes a lock at once or not at all', async () => {
    const { one, two } = setUp()
    const release = await tryHold(one.page, 'a')
    expect(await tryHold(two.page, 'a')).toBeUndefined()
    release?.()
    await turnEventLoop()
    expect(await tryHold(two.page, 'a')).toBeTypeOf('function')
    two.tab.crash()
    expect(await tryHold(one.page, 'a')).toBeTypeOf('function')
  })

  it('steals a lock before those that wait, and tells its holder once', async () => {
    const { one, two } = setUp()
    const onStolen = vi.fn()
    const release = await hold(one.page, 'a', { onStolen })
    const waiting = hold(one.page, 'a')
    const thief = await steal(two.page, 'a')
    await turnEventLoop()
    release()
    expect(onStolen.mock.calls).toEqual([[]])
    expect(await isSettled(waiting)).toBe(false)
    thief()
    expect(await isSettled(waiting)).toBe(true)
  })

  it('does not call a lock stolen that was given back', async () => {
    const { one, two } = setUp()
    const onStolen = vi.fn()
    const release = await tryHold(one.page, 'a', onStolen)
    release?.()
    await steal(two.page, 'a')
    expect(onStolen).not.toHaveBeenCalled()
  })

  it('lists the held locks with a prefix, with their holders', async () => {
    const { one, two } = setUp()
    await hold(one.page, 'a-1')
    await hold(two.page, 'a-2')
    await hold(two.page, 'b')
    expect([...(await names(two.page, 'a-'))]).toEqual([
      ['a-1', one.tab.id],
      ['a-2', two.tab.id],
    ])
  })

  it('asks for a lock that several pages may hold', async () => {
    const request = vi.fn(async (_name: string, _options: object, work: (lock: object) => unknown) => work({}))
    const page = { navigator: { locks: { request } as unknown as LockManager } }
    await hold(page, 'a', { isShared: true })
    await hold(page, 'a')
    expect(request.mock.calls.map(([, options]) => options)).toEqual([{ mode: 'shared' }, { mode: 'exclusive' }])
  })

  it('lets nobody wait where the browser has no locks, and knows of none there', async () => {
    const page = { navigator: {} }
    for (const each of [hold, steal]) expect(await each(page, 'a')).not.toThrow()
    expect(await tryHold(page, 'a')).toBeUndefined()
    expect((await names(page, '')).size).toBe(0)
    expect([await hasLocks(page), await hasLocks(setUp().one.page)]).toEqual([false, true])
  })

  it('[REL-252] counts locks as absent where the browser denies them, and no other rejection', async () => {
    let error = new DOMException('Denied.', 'SecurityError')
    const reject = () => Promise.reject(error)
    const page = { navigator: { locks: { request: reject, query: reject } as unknown as LockManager } }
    for (const each of [hold, steal]) expect(await each(page, 'a')).not.toThrow()
    expect((await names(page, '')).size).toBe(0)
    expect(await hasLocks(page)).toBe(false)
    error = new DOMException('The page ends.', 'InvalidStateError')
    for (const each of [hold, steal]) await expect(each(page, 'a')).rejects.toBe(error)
    expect(await hasLocks(page)).toBe(true)
  })
})
