import { describe, expect, it } from 'vitest'
import { CALLBACK_PAGE, CALLBACK_SCRIPT, REDIRECT_ANSWER_KEY } from './callback-page.ts'

/** Runs the page's script in a window of the test's, and tells what it did. */
function load(address: string, more: { opener?: boolean; framed?: boolean; noStore?: boolean } = {}) {
  const done: string[] = []
  const stored = new Map<string, string>()
  const url = new URL(address)
  const receiver = (name: string) => ({
    postMessage: (message: { source: string; url: string }, origin: string) =>
      void done.push(`${name} ${message.source} ${message.url} to ${origin}`),
  })
  const page: Record<string, unknown> = {
    location: {
      href: url.href,
      origin: url.origin,
      search: url.search,
      hash: url.hash,
      replace: (target: string) => void done.push(`replace ${target}`),
    },
    opener: more.opener ? receiver('opener') : null,
    sessionStorage: {
      setItem: (key: string, value: string) => {
        if (more.noStore) throw new Error('forbidden')
        stored.set(key, value)
      },
    },
    BroadcastChannel: class {
      readonly name: string
      constructor(name: string) {
        this.name = name
      }
      postMessage = (message: { url: string }) => void done.push(`channel ${this.name} ${message.url}`)
      close = () => {}
    },
    close: () => void done.push('close'),
  }
  page['parent'] = more.framed ? receiver('parent') : page
  new Function('window', CALLBACK_SCRIPT)(page)
  return { done, stored }
}

const AT = 'https://app.test/callback.html'

describe('the callback page', () => {
  it('tells a page around it', () => {
    const address = `${AT}?code=c&state=s1`
    expect(load(address, { framed: true, opener: true }).done).toEqual([
      `parent oidc-client ${address} to https://app.test`,
    ])
  })

  it('tells the page that opened it, and closes itself', () => {
    const address = `${AT}?code=c&state=s1`
    expect(load(address, { opener: true }).done).toEqual([
      `opener oidc-client ${address} to https://app.test`,
      `channel oidc-client-popup-s1 ${address}`,
      'close',
    ])
  })

  it('reaches a page that an opener policy has cut off over a channel', () => {
    const address = `${AT}?error=access_denied&state=s1`
    expect(load(address).done).toEqual([`channel oidc-client-popup-s1 ${address}`, 'close'])
  })

  it('reads a state out of the fragment', () => {
    const address = `${AT}#code=c&state=s1`
    expect(load(address).done).toEqual([`channel oidc-client-popup-s1 ${address}`, 'close'])
  })

  it('[AUTH-15] goes back to where a redirect began, with the answer in the tab’s store', () => {
    const target = 'https://app.test/chat?x=1;y=50%'
    const address = `${AT}?${new URLSearchParams({ code: 'c', state: `s1;${encodeURIComponent(target)}` })}`
    const { done, stored } = load(address, { opener: true })
    expect(done).toEqual(['replace https://app.test/chat?x=1;y=50%'])
    expect([...stored]).toEqual([[REDIRECT_ANSWER_KEY, address]])
  })

  it('[AUTH-21] goes back to where a logout by redirect began', () => {
    const { done, stored } = load(`${AT}?${new URLSearchParams({ state: 'https://app.test/chat;v=2?x=1' })}`)
    expect(done).toEqual(['replace https://app.test/chat;v=2?x=1'])
    expect(stored.size).toBe(0)
  })

  it('tells of a logout without a state', () => {
    expect(load(`${AT}?logout=true`, { opener: true }).done).toEqual([
      `opener oidc-client ${AT}?logout=true to https://app.test`,
      `channel oidc-client-popup-logout ${AT}?logout=true`,
      'close',
    ])
  })

  it.each(['https://evil.test/', 'javascript:alert(1)', '//evil.test', '%'])('never goes to %s', target => {
    for (const state of [target, `s1;${target}`, `s1;${encodeURIComponent(target)}`]) {
      const { done } = load(`${AT}?${new URLSearchParams({ code: 'c', state })}`)
      expect(done.filter(each => each.startsWith('replace'))).toEqual([])
    }
  })

  it('goes back even where the store is forbidden', () => {
    const state = `s1;${encodeURIComponent('https://app.test/')}`
    const { done } = load(`${AT}?${new URLSearchParams({ code: 'c', state })}`, { noStore: true })
    expect(done).toEqual(['replace https://app.test/'])
  })

  it('is one page with the script inside and nothing else to load', () => {
    expect(CALLBACK_PAGE).toContain(CALLBACK_SCRIPT)
    expect(CALLBACK_PAGE).not.toMatch(/\b(?:src|href)=/)
    expect(CALLBACK_PAGE).toContain('name="referrer" content="no-referrer"')
  })
})
