import { ManualClock } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { FakeLoginPage } from '../../../test/fake-login-page.ts'
import { LOOK_MS, PopupNavigator, SETTLED_LOOKS } from './popup-navigator.ts'

const CALLBACK = 'https://app.test/callback.html'
const LOGIN = `https://login.test/authorize?state=s1&redirect_uri=${encodeURIComponent(CALLBACK)}`
const ANSWER = 'https://app.test/callback.html?code=c&state=s1'
/** Time after which a window on another origin counts as the provider's. */
const SETTLED_MS = LOOK_MS * (SETTLED_LOOKS + 1)

async function setUp(state: string | undefined = 's1') {
  const page = new FakeLoginPage()
  const clock = new ManualClock()
  const navigator = new PopupNavigator(page, clock)
  const opened = navigator.open()
  const caller = new AbortController()
  let outcome: unknown
  const settled = navigator.answer(opened, LOGIN, state === '' ? undefined : state, caller.signal).then(
    address => (outcome = address),
    (error: unknown) => (outcome = error),
  )
  const window = page.windows[0]
  if (!window) throw new Error('No window was opened.')
  return { page, clock, navigator, opened, window, settled, caller, outcome: () => outcome }
}

describe('a sign-in window', () => {
  it('shows the login page and returns the answer', async () => {
    const { page, clock, window, settled, outcome } = await setUp()
    expect(window.addresses).toEqual([LOGIN])
    expect(page.channels).toEqual(['oidc-client-popup-s1'])
    page.answer(ANSWER)
    await settled
    expect(outcome()).toBe(ANSWER)
    expect(window.closed).toBe(true)
    expect(page.listening).toBe(0)
    expect(clock.pendingTimers).toBe(0)
  })

  it('[SEC-10] ignores every message that is not its answer', async () => {
    const { page, clock, settled, outcome } = await setUp()
    const others: unknown[] = [
      null,
      { source: 'else', url: ANSWER },
      { url: ANSWER },
      { source: 'oidc-client', url: 7 },
      { source: 'oidc-client', url: 'not an address' },
      { source: 'oidc-client', url: 'https://app.test/callback.html?code=other&state=s2' },
      { source: 'oidc-client', url: 'https://app.test/callback.html?code=other' },
    ]
    for (const message of others) {
      page.say(message)
      await clock.advance(0)
      expect(outcome()).toBeUndefined()
    }
    page.answer(ANSWER)
    await settled
    expect(outcome()).toBe(ANSWER)
  })

  it('of a logout, which has no state, is answered by `logout=true`', async () => {
    const { page, settled, outcome } = await setUp('')
    expect(page.channels).toEqual(['oidc-client-popup-logout'])
    page.answer(ANSWER)
    page.answer('https://app.test/callback.html?logout=true')
    await settled
    expect(outcome()).toBe('https://app.test/callback.html?logout=true')
  })

  it('that the browser blocks fails at once', () => {
    const page = new FakeLoginPage()
    page.blocksPopups = true
    const open = () => new PopupNavigator(page, new ManualClock()).open()
    expect(open).toThrow(expect.objectContaining({ name: 'AuthError', reason: 'popup_blocked' }))
  })

  it('that the user closes fails soon, with time for an answer in flight', async () => {
    const { page, clock, window, settled, outcome } = await setUp()
    window.seen = 'away'
    await clock.advance(SETTLED_MS)
    window.seen = 'gone'
    await clock.advance(400)
    expect(outcome()).toBeUndefined()
    await clock.advance(400)
    await settled
    expect(outcome()).toMatchObject({ name: 'AuthError', reason: 'popup_closed' })
    expect(page.listening).toBe(0)
    expect(clock.pendingTimers).toBe(0)
  })

  it('that closes itself before its answer arrives succeeds', async () => {
    const { page, clock, window, settled, outcome } = await setUp()
    window.seen = 'away'
    await clock.advance(SETTLED_MS)
    window.seen = 'gone'
    await clock.advance(200)
    page.answer(ANSWER)
    await settled
    expect(outcome()).toBe(ANSWER)
  })

  it.each<[string, (set: Awaited<ReturnType<typeof setUp>>) => Promise<void>]>([
    ['before it was observed', async ({ window }) => void (window.seen = 'gone')],
    [
      'at the first checks, on a slow machine',
      async ({ window, clock }) => {
        window.seen = 'away'
        await clock.advance(LOOK_MS * 3)
        window.seen = 'gone'
      },
    ],
    [
      'by a later page, while the user works in it',
      async ({ window, clock, page }) => {
        page.focused = false
        window.seen = 'away'
        await clock.advance(60_000)
        window.seen = 'gone'
      },
    ],
    [
      'while this page was frozen',
      async ({ window, clock }) => {
        window.seen = 'away'
        await clock.advance(60_000)
        window.seen = 'gone'
        clock.jump(30_000)
      },
    ],
  ])('[REL-52] that an opener policy separates %s is not reported as closed', async (_case, separate) => {
    const parts = await setUp()
    await separate(parts)
    await parts.clock.advance(3_600_000)
    expect(parts.outcome()).toBeUndefined()
    parts.page.answer(ANSWER)
    await parts.settled
    expect(parts.outcome()).toBe(ANSWER)
  })

  it('[REL-50] has no time limit, and ends with the signal of the login', async () => {
    const { clock, window, settled, caller, outcome } = await setUp()
    window.seen = 'away'
    // Longer than any limit. The window is looked at again and again.
    clock.jump(24 * 3_600_000)
    await clock.advance(1_000)
    expect(outcome()).toBeUndefined()
    caller.abort('ended')
    await settled
    expect(outcome()).toBe('ended')
    expect(window.closed).toBe(true)
    expect(clock.pendingTimers).toBe(0)
  })

  it.each([
    ['the callback address', `${CALLBACK}?code=secret`, CALLBACK],
    ['an address with the state', 'https://app.test/other?code=secret&state=s1', 'https://app.test/other'],
    [
      'an address with the state in its fragment',
      'https://app.test/other#code=secret&state=s1',
      'https://app.test/other',
    ],
  ])(
    '[REL-54] that ends at %s without the callback script is reported, two seconds after it is loaded',
    async (_case, address, named) => {
      const { clock, window, settled, outcome } = await setUp()
      window.addresses.push(address)
      window.seen = 'returned'
      window.isLoaded = false
      await clock.advance(60_000)
      window.isLoaded = true
      await clock.advance(1_900)
      expect(outcome()).toBeUndefined()
      await clock.advance(1_000)
      await settled
      expect(outcome()).toMatchObject({ reason: 'invalid_input', message: expect.stringContaining(`${named},`) })
      expect((outcome() as Error).message).not.toContain('secret')
    },
  )

  it('[REL-54] that leaves the callback page for another page of this origin, without an answer, is reported', async () => {
    const { clock, window, settled, outcome } = await setUp()
    window.addresses.push(`${CALLBACK}?code=secret&state=s1`)
    window.seen = 'returned'
    await clock.advance(LOOK_MS)
    window.addresses.push('https://app.test/home')
    await clock.advance(LOOK_MS + 1_000)
    await settled
    expect(outcome()).toMatchObject({ reason: 'invalid_input', message: expect.stringContaining(`${CALLBACK},`) })
  })

  it('[REL-54] may stay on other pages of this origin for any time', async () => {
    const { page, clock, window, settled, outcome } = await setUp()
    for (const address of [
      'https://app.test/idp/authorize?x=1',
      'https://app.test/terms?state=other',
      'https://app.test/',
    ]) {
      window.addresses.push(address)
      window.seen = 'returned'
      await clock.advance(600_000)
      window.seen = 'away'
      await clock.advance(60_000)
    }
    expect(outcome()).toBeUndefined()
    page.answer(ANSWER)
    await settled
    expect(outcome()).toBe(ANSWER)
  })

  it('[REL-52] counts as closed by the user if it disappears while it shows a page of this origin', async () => {
    const { page, clock, window, settled, outcome } = await setUp()
    page.focused = false
    window.addresses.push('https://app.test/idp/authorize')
    window.seen = 'returned'
    await clock.advance(LOOK_MS * 2)
    window.seen = 'gone'
    await clock.advance(1_000)
    await settled
    expect(outcome()).toMatchObject({ name: 'AuthError', reason: 'popup_closed' })
    expect(clock.pendingTimers).toBe(0)
  })

  it('is replaced by the next one, and does not close it', async () => {
    const { page, navigator, opened, settled, outcome } = await setUp()
    const next = navigator.open()
    await settled
    expect(outcome()).toMatchObject({ reason: 'popup_closed' })
    expect(page.windows.map(each => each.closed)).toEqual([false, false])
    await expect(navigator.answer(opened, LOGIN, 's1')).rejects.toMatchObject({ reason: 'popup_closed' })
    const answered = navigator.answer(next, LOGIN, 's1')
    page.answer(ANSWER)
    expect(await answered).toBe(ANSWER)
  })

  it('that is gone before the address of the login page is known counts as closed', async () => {
    const page = new FakeLoginPage()
    const navigator = new PopupNavigator(page, new ManualClock())
    const opened = navigator.open()
    for (const each of page.windows) each.seen = 'gone'
    await expect(navigator.answer(opened, LOGIN, 's1')).rejects.toMatchObject({ reason: 'popup_closed' })
  })
})

describe('a hidden frame', () => {
  it('is removed after its answer', async () => {
    const page = new FakeLoginPage()
    const clock = new ManualClock()
    const answered = new PopupNavigator(page, clock).answerInFrame(LOGIN, 's1', new AbortController().signal)
    expect(page.frames).toEqual([LOGIN])
    page.answer(ANSWER)
    expect([await answered, page.frames, page.listening, clock.pendingTimers]).toEqual([ANSWER, [], 0, 0])
  })

  it('without an answer means that the user has to sign in', async () => {
    const page = new FakeLoginPage()
    const clock = new ManualClock()
    const asked = new PopupNavigator(page, clock).answerInFrame(LOGIN, 's1', new AbortController().signal)
    const outcome = asked.catch(error => error.reason)
    await clock.advance(10_000)
    expect([await outcome, page.frames, page.listening]).toEqual(['interaction_required', [], 0])
  })

  it('is removed when its signal is aborted', async () => {
    const page = new FakeLoginPage()
    const clock = new ManualClock()
    const caller = new AbortController()
    const outcome = new PopupNavigator(page, clock).answerInFrame(LOGIN, 's1', caller.signal).catch(error => error)
    caller.abort('ended')
    expect([await outcome, page.frames, page.listening, clock.pendingTimers]).toEqual(['ended', [], 0, 0])
  })
})
