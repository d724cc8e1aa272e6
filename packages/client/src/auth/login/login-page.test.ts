import { turnEventLoop } from '@aiagent/test-support'
import { describe, expect, it, vi } from 'vitest'
import type { PageWindow } from '../../platform/page.ts'
import { loginPage, shownAgain } from './login-page.ts'

/** A window that can receive messages and storage events. */
class FakeWindow extends EventTarget {
  readonly location = { origin: 'https://app.test', href: 'https://app.test/' }
  readonly channels: string[] = []
  BroadcastChannel: unknown
}

/** The page of a fake window that has these members too. */
const pageOf = (window: FakeWindow, parts: object = {}) =>
  loginPage(Object.assign(window, parts) as unknown as PageWindow)

const persisted = (value: boolean) => Object.assign(new Event('pageshow'), { persisted: value })

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

describe('what a login reads and does in its page', () => {
  it('reads the address and the focus', () => {
    const states = { focused: false }
    const page = pageOf(new FakeWindow(), { document: { hasFocus: () => states.focused } })
    expect([page.address, page.origin]).toEqual(['https://app.test/', 'https://app.test'])
    expect(page.hasFocus()).toBe(false)
    states.focused = true
    expect(page.hasFocus()).toBe(true)
  })

  it('leaves, replaces itself, and shows another address without losing the state of the history', () => {
    const calls: unknown[][] = []
    const record =
      (name: string) =>
      (...values: unknown[]) =>
        void calls.push([name, ...values])
    const page = pageOf(new FakeWindow(), {
      location: { assign: record('assign'), replace: record('replace') },
      history: { state: { of: 'the router' }, replaceState: record('replaceState') },
    })
    page.leave('/a')
    page.replace('/b')
    page.showAddress('/c')
    expect(calls).toEqual([
      ['assign', '/a'],
      ['replace', '/b'],
      ['replaceState', { of: 'the router' }, '', '/c'],
    ])
  })

  it('loads an address in a hidden frame, and removes the frame', () => {
    const removed: unknown[] = []
    const appended: unknown[] = []
    const createElement = (tag: string) => ({ tag, remove: () => void removed.push(tag) })
    const page = pageOf(new FakeWindow(), {
      document: { createElement, body: { append: (frame: unknown) => void appended.push(frame) } },
    })
    const remove = page.openFrame('https://login.test/frame')
    expect(appended).toEqual([
      expect.objectContaining({ tag: 'iframe', hidden: true, src: 'https://login.test/frame' }),
    ])
    expect(removed).toEqual([])
    remove()
    expect(removed).toEqual(['iframe'])
  })

  it('receives the messages of a channel until it unsubscribes', () => {
    const channels: { name: string; closed: boolean; onmessage?: (event: unknown) => void }[] = []
    class Channel {
      closed = false
      readonly name: string
      constructor(name: string) {
        this.name = name
        channels.push(this)
      }
      close(): void {
        this.closed = true
      }
    }
    const received: unknown[] = []
    const stop = pageOf(new FakeWindow(), { BroadcastChannel: Channel }).listen('login', each => received.push(each))
    channels[0]?.onmessage?.({ data: 'answer' })
    expect(received).toEqual(['answer'])
    expect(channels).toMatchObject([{ name: 'login', closed: false }])
    stop()
    expect(channels).toMatchObject([{ closed: true }])
  })

  it('[SEC-06] is not notified of a changed key after it unsubscribed', () => {
    const window = new FakeWindow()
    const received: unknown[] = []
    const stop = pageOf(window).onStored('user', value => received.push(value))
    window.dispatchEvent(Object.assign(new Event('storage'), { key: null, newValue: 'left over' }))
    stop()
    window.dispatchEvent(Object.assign(new Event('storage'), { key: 'user', newValue: 'x' }))
    expect(received).toEqual([null])
  })

  it('[SEC-17] resolves when the page is shown from the back/forward cache, unless it is aborted before', async () => {
    const window = new FakeWindow()
    const shown: string[] = []
    const wait = (name: string, signal: AbortSignal) =>
      void shownAgain(loginPage(window as unknown as PageWindow), signal).then(() => shown.push(name))
    const aborted = new AbortController()
    wait('aborted', aborted.signal)
    wait('waiting', new AbortController().signal)
    aborted.abort()
    window.dispatchEvent(persisted(false))
    await turnEventLoop()
    expect(shown).toEqual([])
    window.dispatchEvent(persisted(true))
    await turnEventLoop()
    expect(shown).toEqual(['waiting'])
  })
})

describe('the window of a login', () => {
  const screen = { screenX: 100, screenY: 50, outerWidth: 1520, outerHeight: 1080 }
  const opening = (opened: object | null, place = screen) => {
    const open = vi.fn(() => opened)
    return { open, page: pageOf(new FakeWindow(), { ...place, open }) }
  }

  it('opens in the middle of the page, always the same one', () => {
    const { open, page } = opening({})
    page.open()
    page.open()
    const call = ['', 'aiagent-login', 'popup,width=520,height=680,left=600,top=250']
    expect(open.mock.calls).toEqual([call, call])
  })

  it('does not open beyond the edges of the screen', () => {
    const { open, page } = opening({}, { screenX: 0, screenY: -20, outerWidth: 400, outerHeight: 600 })
    page.open()
    expect(open).toHaveBeenCalledWith('', 'aiagent-login', 'popup,width=520,height=680,left=0,top=0')
  })

  it('is null where the browser blocks it', () => {
    expect(opening(null).page.open()).toBeNull()
  })

  it('can be shown, navigated and closed', () => {
    const calls: unknown[] = []
    const record = (name: string) => (value?: string) => void calls.push(value ?? name)
    const opened = { focus: record('focus'), close: record('close'), location: { replace: record('replace') } }
    const window = opening(opened).page.open()
    window?.focus()
    window?.navigate('https://login.test/')
    window?.close()
    expect(calls).toEqual(['focus', 'https://login.test/', 'close'])
  })

  const elsewhere = {
    get href(): string {
      throw new DOMException('Blocked a frame.', 'SecurityError')
    },
  }
  it.each([
    ['blank', { closed: false, location: { href: 'about:blank' } }, 'about:blank', false],
    ['away', { closed: false, location: elsewhere }, undefined, false],
    [
      'returned',
      { closed: false, location: { href: 'https://app.test/callback?code=1#x' } },
      'https://app.test/callback?code=1#x',
      true,
    ],
    ['gone', { closed: true, location: { href: 'about:blank' } }, 'about:blank', true],
  ])('is %s', (state, opened, address, isLoaded) => {
    const window = opening({ ...opened, document: { readyState: isLoaded ? 'complete' : 'interactive' } }).page.open()
    expect(window?.state()).toBe(state)
    expect(window?.location()).toEqual(address === undefined ? undefined : { address, isLoaded })
  })
})
