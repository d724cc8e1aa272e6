import { describe, expect, it } from 'vitest'
import type { PageWindow } from '../../platform/page.ts'
import { loginPage } from './login-page.ts'

/** A window that can receive messages and storage events. */
class FakeWindow extends EventTarget {
  readonly location = { origin: 'https://app.test', href: 'https://app.test/' }
  readonly channels: string[] = []
  BroadcastChannel: unknown
}

function message(origin: string, data: unknown): Event {
  return Object.assign(new Event('message'), { origin, data })
}

describe('the page of a login', () => {
  it('[SEC-10] receives messages of its own origin only', () => {
    const window = new FakeWindow()
    const heard: unknown[] = []
    const stop = loginPage(window as unknown as PageWindow).listen('channel', each => heard.push(each))
    window.dispatchEvent(message('https://evil.test', 'foreign'))
    window.dispatchEvent(message('https://app.test.evil.test', 'foreign'))
    window.dispatchEvent(message('null', 'foreign'))
    expect(heard).toEqual([])
    window.dispatchEvent(message('https://app.test', 'own'))
    stop()
    window.dispatchEvent(message('https://app.test', 'too late'))
    expect(heard).toEqual(['own'])
  })

  it('works where the browser has no BroadcastChannel', () => {
    const window = new FakeWindow()
    const stop = loginPage(window as unknown as PageWindow).listen('channel', () => {})
    expect(stop).not.toThrow()
  })

  it('[SEC-06] is notified when another tab changes or clears a key', () => {
    const window = new FakeWindow()
    const heard: (string | null)[] = []
    loginPage(window as unknown as PageWindow).onStored('user', value => heard.push(value))
    const changed = (key: string | null, newValue: string | null) =>
      window.dispatchEvent(Object.assign(new Event('storage'), { key, newValue }))
    changed('else', 'x')
    changed('user', 'y')
    changed('user', null)
    changed(null, null)
    expect(heard).toEqual(['y', null, null])
  })

  it('[SEC-53] is notified when it is shown from the back/forward cache, until it unsubscribes', () => {
    const window = new FakeWindow()
    let count = 0
    const stop = loginPage(window as unknown as PageWindow).onRestored(() => void count++)
    window.dispatchEvent(Object.assign(new Event('pageshow'), { persisted: false }))
    expect(count).toBe(0)
    window.dispatchEvent(Object.assign(new Event('pageshow'), { persisted: true }))
    expect(count).toBe(1)
    stop()
    window.dispatchEvent(Object.assign(new Event('pageshow'), { persisted: true }))
    expect(count).toBe(1)
  })
})
