import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { CALLBACK_PAGE, CALLBACK_SCRIPT, REDIRECT_ANSWER_KEY, RETURN_KEY } from './callback-page.ts'

interface Surroundings {
  opener?: boolean
  framed?: boolean
  noStore?: boolean
  noChannel?: boolean
  /** The `state` with which the tab expects to return. */
  expected?: string
}

/** Runs the page's script in a fake window and returns what it did. */
function load(address: string, more: Surroundings = {}) {
  const done: string[] = []
  const stored = new Map<string, string>()
  const body = { textContent: '' }
  if (more.expected !== undefined) stored.set(RETURN_KEY, more.expected)
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
    document: { body },
    sessionStorage: {
      getItem: (key: string) => {
        if (more.noStore) throw new Error('forbidden')
        return stored.get(key) ?? null
      },
      removeItem: (key: string) => void stored.delete(key),
      setItem: (key: string, value: string) => {
        if (more.noStore) throw new Error('forbidden')
        stored.set(key, value)
      },
    },
    BroadcastChannel: more.noChannel
      ? undefined
      : class {
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
  return { done, stored, words: body.textContent }
}

const AT = 'https://app.test/callback.html'

describe('the callback page', () => {
  it('notifies its parent page', () => {
    const address = `${AT}?code=c&state=s1`
    expect(load(address, { framed: true, opener: true }).done).toEqual([
      `parent oidc-client ${address} to https://app.test`,
    ])
  })

  it('notifies its opener, and closes itself', () => {
    const address = `${AT}?code=c&state=s1`
    expect(load(address, { opener: true }).done).toEqual([
      `opener oidc-client ${address} to https://app.test`,
      `channel oidc-client-popup-s1 ${address}`,
      'close',
    ])
  })

  it('reaches an opener that an opener policy separated, over a channel', () => {
    const address = `${AT}?error=access_denied&state=s1`
    expect(load(address).done).toEqual([`channel oidc-client-popup-s1 ${address}`, 'close'])
  })

  it('reads a state from the fragment', () => {
    const address = `${AT}#code=c&state=s1`
    expect(load(address).done).toEqual([`channel oidc-client-popup-s1 ${address}`, 'close'])
  })

  it('[AUTH-15] returns to where a redirect began, with the answer in sessionStorage', () => {
    const target = 'https://app.test/chat?x=1;y=50%'
    const state = `s1;${encodeURIComponent(target)}`
    const address = `${AT}?${new URLSearchParams({ code: 'c', state })}`
    const { done, stored } = load(address, { opener: true, expected: state })
    expect(done).toEqual(['replace https://app.test/chat?x=1;y=50%'])
    expect([...stored]).toEqual([[REDIRECT_ANSWER_KEY, address]])
  })

  it('[AUTH-21] returns to where a logout by redirect began', () => {
    const state = 'https://app.test/chat;v=2?x=1'
    const { done, stored } = load(`${AT}?${new URLSearchParams({ state })}`, { expected: state })
    expect(done).toEqual(['replace https://app.test/chat;v=2?x=1'])
    expect(stored.size).toBe(0)
  })

  it.each(['https://app.test/account/delete', `s1;${encodeURIComponent('https://app.test/account/delete')}`])(
    '[SEC-09] follows no return address that this tab does not expect: %s',
    state => {
      for (const expected of ['https://app.test/chat', undefined]) {
        const query = new URLSearchParams({ code: 'x', state })
        const { done, stored, words } = load(`${AT}?${query}`, expected === undefined ? {} : { expected })
        expect([done, stored.has(REDIRECT_ANSWER_KEY)]).toEqual([[], false])
        expect(words).toMatch(/refresh it and sign in again/)
      }
    },
  )

  it('[SEC-09] has its own content policy, which allows its script and nothing else', () => {
    const [, script = ''] = /<script>([\s\S]*)<\/script>/.exec(CALLBACK_PAGE) ?? []
    const hash = createHash('sha256').update(script).digest('base64')
    expect(script).toBe(CALLBACK_SCRIPT)
    expect(CALLBACK_PAGE).toContain(
      `default-src 'none'; base-uri 'none'; form-action 'none'; script-src 'sha256-${hash}'`,
    )
  })

  it('answers by message if the browser has no channels', () => {
    const address = `${AT}?code=c&state=s1`
    expect(load(address, { opener: true, noChannel: true }).done).toEqual([
      `opener oidc-client ${address} to https://app.test`,
      'close',
    ])
  })

  it('reports a logout without a state', () => {
    expect(load(`${AT}?logout=true`, { opener: true }).done).toEqual([
      `opener oidc-client ${AT}?logout=true to https://app.test`,
      `channel oidc-client-popup-logout ${AT}?logout=true`,
      'close',
    ])
  })

  it.each(['https://evil.test/', 'javascript:alert(1)', '//evil.test', '%'])('never navigates to %s', target => {
    for (const state of [target, `s1;${target}`, `s1;${encodeURIComponent(target)}`]) {
      const { done } = load(`${AT}?${new URLSearchParams({ code: 'c', state })}`)
      expect(done.filter(each => each.startsWith('replace'))).toEqual([])
    }
  })

  it('is one page with an inline script and no external resources', () => {
    expect(CALLBACK_PAGE).toContain(CALLBACK_SCRIPT)
    expect(CALLBACK_PAGE).not.toMatch(/\b(?:src|href)=/)
    expect(CALLBACK_PAGE).toContain('name="referrer" content="no-referrer"')
  })
})
