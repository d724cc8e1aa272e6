import { ManualClock } from '@aiagent/test-support'
import { describe, expect, it } from 'vitest'
import { FakeLoginPage } from '../../../test/fake-login-page.ts'
import { POPUP_LIMIT_MS, PopupNavigator } from './popup-navigator.ts'

const LOGIN = 'https://login.test/authorize?state=s1'
const ANSWER = 'https://app.test/callback.html?code=c&state=s1'

async function setUp(state: string | undefined = 's1') {
  const page = new FakeLoginPage()
  const clock = new ManualClock()
  const navigator = new PopupNavigator(page, clock)
  const opened = navigator.open()
  const handle = await navigator.prepare()
  let outcome: unknown
  const settled = handle.navigate({ url: LOGIN, ...(state !== '' && { state }) }).then(
    answer => (outcome = answer.url),
    (error: unknown) => (outcome = error),
  )
  const window = page.windows[0]
  if (!window) throw new Error('No window was opened.')
  return { page, clock, navigator, opened, window, settled, outcome: () => outcome }
}

describe('a sign-in window', () => {
  it('shows the login page and brings the answer back', async () => {
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

  it('takes no other answer for its own', async () => {
    const { page, settled, outcome } = await setUp()
    page.say(null)
    page.say({ source: 'else', url: ANSWER })
    page.say({ source: 'oidc-client', url: 7 })
    page.say({ source: 'oidc-client', url: 'no address' })
    page.answer('https://app.test/callback.html?code=other&state=s2')
    page.answer('https://app.test/callback.html?code=other')
    page.answer(ANSWER)
    await settled
    expect(outcome()).toBe(ANSWER)
  })

  it('is known by its word where a logout has no state', async () => {
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

  it('that its person closes fails soon, with a moment for an answer on its way', async () => {
    const { page, clock, window, settled, outcome } = await setUp()
    window.seen = 'loaded'
    await clock.advance(200)
    window.seen = 'gone'
    await clock.advance(400)
    expect(outcome()).toBeUndefined()
    await clock.advance(400)
    await settled
    expect(outcome()).toMatchObject({ name: 'AuthError', reason: 'popup_closed' })
    expect(page.listening).toBe(0)
    expect(clock.pendingTimers).toBe(0)
  })

  it('that closes itself after its answer succeeds', async () => {
    const { page, clock, window, settled, outcome } = await setUp()
    window.seen = 'loaded'
    await clock.advance(200)
    window.seen = 'gone'
    await clock.advance(200)
    page.answer(ANSWER)
    await settled
    expect(outcome()).toBe(ANSWER)
  })

  it('that an opener policy cuts off is waited for', async () => {
    const { page, clock, window, settled, outcome } = await setUp()
    window.seen = 'gone'
    await clock.advance(120_000)
    expect(outcome()).toBeUndefined()
    page.answer(ANSWER)
    await settled
    expect(outcome()).toBe(ANSWER)
  })

  it('that nobody uses times out', async () => {
    const { clock, window, settled, outcome } = await setUp()
    window.seen = 'loaded'
    await clock.advance(POPUP_LIMIT_MS - 1)
    expect(outcome()).toBeUndefined()
    await clock.advance(1)
    await settled
    expect(outcome()).toMatchObject({ reason: 'popup_timeout' })
    expect(window.closed).toBe(true)
    expect(clock.pendingTimers).toBe(0)
  })

  it('gives way to the next one, which it does not close', async () => {
    const { page, navigator, opened, settled, outcome } = await setUp()
    const next = navigator.open()
    await settled
    expect(outcome()).toMatchObject({ reason: 'popup_closed' })
    expect(page.windows.map(each => each.closed)).toEqual([false, false])
    expect(() => navigator.requireCurrent(opened)).toThrow(expect.objectContaining({ reason: 'popup_closed' }))
    expect(() => navigator.requireCurrent(next)).not.toThrow()
  })

  it('that is gone before the login page is known counts as closed', async () => {
    const page = new FakeLoginPage()
    const navigator = new PopupNavigator(page, new ManualClock())
    navigator.open()
    const handle = await navigator.prepare()
    for (const each of page.windows) each.seen = 'gone'
    await expect(handle.navigate({ url: LOGIN, state: 's1' })).rejects.toMatchObject({ reason: 'popup_closed' })
  })
})
