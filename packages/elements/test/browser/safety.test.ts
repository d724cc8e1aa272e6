import { CONNECTOR_PATH } from '@aiagent/emulator'
import { hasChromium } from '@aiagent/test-support/chromium'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { bubbles, type ChatPage, type ChatStage, received, write } from './chat-page.ts'
import { chatStages } from './chat-stages.ts'
import { strictPolicies } from './policies.ts'

const CHAT = '<ai-agent-chat endpoint="ENDPOINT" agent-id="help"></ai-agent-chat>'

/** An answer with everything that must not become what it looks like. */
const HOSTILE = `# Title
<img src=x onerror="document.title='hacked'"><script>document.title='hacked'</script>
[script](javascript:alert(1)) [data](data:text/html,x) [web](https://shop.test/a?b=1&c=2) [mail](mailto:a@shop.test) [user](https://u:p@shop.test)
![tracker](https://evil.test/pixel.png) ![picture](ORIGIN/allowed.png)

| a | b |
|---|---|
| **x** | \`<b>\` |

* one
* two &amp; three
`

describe.skipIf(!hasChromium())('the policy of a page with <ai-agent-chat>', () => {
  const stages = chatStages()
  let stage: ChatStage

  const policies = () => {
    const { url } = stage.service
    const connect = [url, url.replace('http', 'ws')]
    return strictPolicies({ connect, nonce: 'abc', connector: url, page: ["style-src 'self'"] })
  }
  const headers = (policy: string) => ({ 'content-security-policy': policy })
  const talk = async ({ page }: ChatPage) => {
    await page.getByText('Online').waitFor()
    await write(page, 'hello')
    await expect.poll(() => bubbles(page)).toEqual(['hello', 'You said: hello'])
  }

  it('[EL-04] works under a policy that allows nothing else, with trusted types for nobody, and causes no report', async () => {
    stage = await stages.open()
    // A page whose bundle is served from its own origin.
    const own = await stage.open(CHAT, { headers: headers(policies().bundled) })
    await talk(own)
    await own.page.getByRole('button', { name: 'More' }).click()
    await own.page.getByRole('button', { name: 'Download conversation' }).click()
    expect(own.complaints).toEqual([])
    // A script tag with a nonce, which also covers what it loads later.
    const tagged = await stage.open('<ai-agent-launcher endpoint="ENDPOINT" agent-id="help"></ai-agent-launcher>', {
      headers: headers(policies().tagged),
      script: '<script type="module" nonce="abc" src="/entry.js"></script>',
      search: '?lazy',
    })
    await tagged.page.getByRole('button', { name: 'Chat' }).click()
    await talk(tagged)
    expect(tagged.complaints).toEqual([])
  })

  it('[EL-04] works in a page that is isolated from other origins', async () => {
    stage = await stages.open()
    const isolated = await stage.open(CHAT, {
      headers: {
        'cross-origin-opener-policy': 'same-origin',
        'cross-origin-embedder-policy': 'require-corp',
        ...headers(policies().bundled),
      },
    })
    await talk(isolated)
    expect(await isolated.page.evaluate(() => crossOriginIsolated)).toBe(true)
    expect(isolated.complaints).toEqual([])
  })

  it('[EL-04] needs the policy aiagent-connector for a connector script, and no other', async () => {
    stage = await stages.open()
    const { url, emulator } = stage.service
    const accessToken = emulator.control.issueToken({ subject: 'desk-agent' })
    const config = {
      auth: { type: 'pre-auth', accessToken },
      initParams: { platform: 'standalone', env: 'dev', defaultPortal: '1002' },
      connector: { baseUrls: { dev: url } },
    }
    const body = '<ai-agent-chat endpoint="ENDPOINT" agent-id="desk"></ai-agent-chat>'
    const open = (policy: string) => {
      stage.serve('/config.js', `document.querySelector('ai-agent-chat').config = ${JSON.stringify(config)}`)
      return stage.open(body, {
        headers: headers(policy),
        script: '<script src="/config.js"></script><script type="module" src="/entry.js"></script>',
      })
    }
    const { withConnector } = policies()
    const allowed = await open(withConnector)
    await talk(allowed)
    expect(allowed.complaints).toEqual([])
    expect(allowed.requests).toContain(`GET ${url}${CONNECTOR_PATH}`)
    const refused = await open(withConnector.replace('aiagent-connector', "'none'"))
    await refused.page.getByText('The chat is not available').waitFor()
    expect(refused.requests).not.toContain(`GET ${url}${CONNECTOR_PATH}`)
  })

  it('[EL-05] makes only known tokens of an answer into elements, and loads images only from allowed origins', async () => {
    stage = await stages.open({
      reply: () => ({ content: HOSTILE.replace('ORIGIN', stage.origin) }),
    })
    stage.serve('/allowed.png', '')
    const { page, requests } = await stage.open(CHAT.replace('>', ' image-origins="https://other.test ORIGIN">'))
    await page.getByText('Online').waitFor()
    await write(page, 'go')
    const text = page.locator('ai-agent-chat .agent .text')
    await text.locator('table').waitFor()
    const facts = await text.evaluate(node => ({
      names: [...new Set([...node.querySelectorAll('*')].map(({ localName }) => localName))].sort(),
      links: [...node.querySelectorAll('a')].map(({ href, rel }) => [href, rel]),
      images: [...node.querySelectorAll('img')].map(({ src, referrerPolicy }) => [src, referrerPolicy]),
      text: node.textContent,
    }))
    const rel = 'noopener noreferrer nofollow'
    expect(facts.names).toEqual([
      'a',
      'br',
      'button',
      'code',
      'div',
      'h3',
      'img',
      'li',
      'p',
      'span',
      'strong',
      'table',
      'tbody',
      'td',
      'th',
      'thead',
      'tr',
      'ul',
    ])
    expect(facts.links).toEqual([
      ['https://shop.test/a?b=1&c=2', rel],
      ['mailto:a@shop.test', ''],
      ['https://evil.test/pixel.png', rel],
    ])
    expect(facts.images).toEqual([[`${stage.origin}/allowed.png`, 'no-referrer']])
    expect(facts.text).toContain(`<img src=x onerror="document.title='hacked'">`)
    expect(facts.text).toContain('two & three')
    expect(await page.title()).toBe('Shop')
    expect(requests.filter(line => line.includes('evil.test'))).toEqual([])
  })

  it('[EL-06] asks nobody for anything, and stores nothing, before the user has agreed', async () => {
    stage = await stages.open()
    const opened = await stage.open(
      '<ai-agent-chat endpoint="ENDPOINT" agent-id="help" consent="required" lang="de"></ai-agent-chat>',
      {
        prepare: page =>
          page.addInitScript(() => {
            const log: string[] = []
            Object.assign(globalThis, { storeLog: log })
            for (const name of ['getItem', 'setItem', 'removeItem', 'key'] as const) {
              const real = Storage.prototype[name] as (...given: unknown[]) => unknown
              Object.assign(Storage.prototype, {
                [name](this: Storage, ...given: unknown[]) {
                  log.push(`${name} ${given[0]}`)
                  return real.apply(this, given)
                },
              })
            }
            const open = indexedDB.open.bind(indexedDB)
            indexedDB.open = (...given) => (log.push(`open ${given[0]}`), open(...given))
          }),
      },
    )
    const { page, requests } = opened
    const stored = (target: Page) => target.evaluate(() => (Object(globalThis).storeLog as string[]).length)
    await page.getByRole('button', { name: 'Nein, danke' }).click()
    await page.getByText('Der Chat bleibt aus').waitFor()
    expect(await page.getByRole('button', { name: 'Zustimmen' }).evaluate(button => button.matches(':focus'))).toBe(
      true,
    )
    const loaded = () => requests.map(line => line.replace(/^GET http:..[^/]+/, '')).sort()
    const before = loaded()
    expect(before.filter(path => /[/](?:chat-(?!element)|lexer|en-|de-)/.test(path))).toEqual([])
    expect(requests.every(line => line.startsWith(`GET ${stage.origin}/`))).toBe(true)
    expect([await stored(page), received(stage.service).sessionCalls]).toEqual([0, 0])
    await page.getByRole('button', { name: 'Zustimmen' }).click()
    await page.getByText('Wie können wir helfen?').waitFor()
    expect(new Set(loaded().flatMap(path => /[/](?:chat-(?!element)|de-)/.exec(path) ?? []))).toEqual(
      new Set(['/chat-', '/de-']),
    )
    await expect.poll(() => received(stage.service).sessionCalls).toBe(1)
    expect(await stored(page)).toBeGreaterThan(0)
    expect(opened.complaints).toEqual([])
  })
})
