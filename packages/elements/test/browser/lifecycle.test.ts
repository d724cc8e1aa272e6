import { readFileSync } from 'node:fs'
import { hasChromium, launchChromium } from '@aiagent/test-support/chromium'
import { needs } from '@aiagent/test-support/needs'
import type { BrowserContext, Frame, Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { bubbles, CHAT_FILES, type ChatStage, ELEMENT_FILE, isOpen, received, write } from './chat-page.ts'
import { chatStages } from './chat-stages.ts'

const CHAT = '<ai-agent-chat endpoint="ENDPOINT" agent-id="help"></ai-agent-chat>'

describe.skipIf(!hasChromium())('the life of <ai-agent-chat>', () => {
  const stages = chatStages()
  let stage: ChatStage

  const online = (page: Page, chat = 'ai-agent-chat') => page.locator(chat).getByText('Online').waitFor()
  const sessions = () => [...stage.service.emulator.world.sessions.keys()]

  it('[EL-12] moves nothing on the page with the lines of the guide', async () => {
    stage = await stages.open()
    const guide = readFileSync(new URL('../../../../docs/guide/put-it-on-your-site.md', import.meta.url), 'utf8')
    const [line = ''] = /ai-agent-chat:not\(:defined\).*/.exec(guide) ?? []
    stage.serve('/guide.css', line)
    const { page } = await stage.open(`<link rel="stylesheet" href="/guide.css">${CHAT}<p>Below the chat</p>`)
    await online(page)
    const shift = await page.evaluate(
      () =>
        new Promise<number>(resolve => {
          let sum = 0
          new PerformanceObserver(list => {
            for (const entry of list.getEntries()) sum += Reflect.get(entry, 'value') as number
          }).observe({ type: 'layout-shift', buffered: true })
          requestAnimationFrame(() => requestAnimationFrame(() => resolve(sum)))
        }),
    )
    expect(shift).toBeLessThanOrEqual(0.02)
  })

  it('[EL-07] has one socket when it is moved, removed and added again, and leaves nothing behind', async () => {
    stage = await stages.open()
    const { page, complaints } = await stage.open(`<div id="one">${CHAT}</div><div id="two"></div>`, {
      prepare: target =>
        target.addInitScript(() => {
          const counts = new Map<string, number>()
          // What the test's own driver listens to is not the chat's.
          const driver = /^window (?:__playwright|auxclick|click|contextmenu|dblclick|mouse|pointer|touch)/
          const left = () => [...counts].filter(([key, count]) => count !== 0 && !driver.test(key))
          Object.assign(globalThis, { listenerCounts: () => Object.fromEntries(left()) })
          const kept = new Map<unknown, Map<unknown, string>>()
          for (const target of [window, document]) {
            const { addEventListener, removeEventListener } = target
            const label = target === window ? 'window' : 'document'
            target.addEventListener = (name: string, listener: never, options?: never) => {
              const key = `${label} ${name}`
              const ofTarget = kept.get(target) ?? kept.set(target, new Map()).get(target)
              if (!Object(options).signal && !Object(options).once) {
                counts.set(key, (counts.get(key) ?? 0) + 1)
                ofTarget?.set(listener, key)
              }
              addEventListener.call(target, name, listener, options)
            }
            target.removeEventListener = (name: string, listener: never, options?: never) => {
              const key = `${label} ${name}`
              if (kept.get(target)?.has(listener)) counts.set(key, (counts.get(key) ?? 0) - 1)
              removeEventListener.call(target, name, listener, options)
            }
          }
        }),
    })
    await online(page)
    await write(page, 'hello')
    await expect.poll(() => bubbles(page)).toEqual(['hello', 'You said: hello'])
    await page.evaluate(() => {
      const chat = document.querySelector('ai-agent-chat') as HTMLElement
      document.querySelector('#two')?.append(chat)
    })
    await write(page, 'moved')
    await expect.poll(() => bubbles(page).then(all => all.at(-1))).toBe('You said: moved')
    expect(received(stage.service)).toMatchObject({ sessionCalls: 1, sockets: 1 })
    const [session = ''] = sessions()
    for (let round = 2; round < 5; round++) {
      await page.evaluate(() => {
        const chat = document.querySelector('ai-agent-chat') as HTMLElement
        Object.assign(globalThis, { chat })
        chat.remove()
      })
      await expect.poll(() => isOpen(stage.service, session)).toBe(false)
      await page.evaluate(() => document.body.append(Object(globalThis).chat))
      await online(page)
      await expect.poll(() => bubbles(page).then(all => all.length)).toBe(4)
      expect(received(stage.service)).toMatchObject({ sessionCalls: 1, sockets: round })
    }
    await page.evaluate(() => document.querySelector('ai-agent-chat')?.remove())
    await expect.poll(() => isOpen(stage.service, session)).toBe(false)
    await expect.poll(() => page.evaluate(() => Object(globalThis).listenerCounts())).toEqual({})
    const state = await page.evaluate(() => ({
      nodes: Object(globalThis).chat.shadowRoot.childElementCount,
      view: Object(globalThis).chat.view,
    }))
    expect(state).toEqual({ nodes: 0, view: undefined })
    expect(complaints).toEqual([])
  })

  it('[EL-07] shares nothing with a second chat of the page, and uses an agent of the host', async () => {
    stage = await stages.open()
    const { page } = await stage.open(
      '<ai-agent-chat id="a" endpoint="ENDPOINT" agent-id="help"></ai-agent-chat><ai-agent-chat id="b" endpoint="ENDPOINT" agent-id="billing" lang="de"></ai-agent-chat>',
    )
    await online(page, '#a')
    await online(page, '#b')
    await page.locator('#a textarea').fill('to a')
    await page.locator('#a textarea').press('Enter')
    await page.locator('#b textarea').fill('to b')
    await page.locator('#b textarea').press('Enter')
    await expect.poll(() => bubbles(page, '#a')).toEqual(['to a', 'You said: to a'])
    await expect.poll(() => bubbles(page, '#b')).toEqual(['to b', 'You said: to b'])
    expect(received(stage.service)).toMatchObject({ sessionCalls: 2, sockets: 2 })
    // The agent of the first chat as one of the host: it lives on without its chat.
    await page.evaluate(() => {
      const [a, b] = document.querySelectorAll('ai-agent-chat')
      a?.addEventListener('aiagent-ready', event =>
        Object.assign(globalThis, { agent: (event as CustomEvent).detail.agent }),
      )
      b?.remove()
      a?.setAttribute('endpoint', (a.getAttribute('endpoint') ?? '').replace('127.0.0.1', 'localhost'))
    })
    await expect.poll(() => page.evaluate(() => Object(globalThis).agent?.getState())).toBe('CONNECTED')
    const before = received(stage.service).sockets
    await page.evaluate(() => {
      const host = document.createElement('ai-agent-chat')
      host.id = 'c'
      host.agent = Object(globalThis).agent
      document.body.append(host)
    })
    await online(page, '#c')
    await page.evaluate(() => document.querySelector('#c')?.remove())
    expect(await page.evaluate(() => Object(globalThis).agent.getState())).toBe('CONNECTED')
    expect(received(stage.service).sockets).toBe(before)
  })

  it('[EL-35] opens one chat where the host sets its config while the code is loaded', async () => {
    stage = await stages.open()
    let release = () => {}
    const released = new Promise<void>(resolve => {
      release = resolve
    })
    const { page } = await stage.open(
      `<script>
        let ready = 0
        addEventListener('aiagent-ready', () => ready++)
      </script>${CHAT}`,
      {
        prepare: page =>
          page.route(CHAT_FILES, async route => {
            await released
            await route.continue()
          }),
      },
    )
    await page.waitForFunction(() => customElements.get('ai-agent-chat'))
    await page.evaluate(() => {
      const chat = document.querySelector('ai-agent-chat')
      if (chat) chat.config = { context: { page: 'basket' } }
    })
    release()
    await online(page)
    expect(await page.evaluate('ready')).toBe(1)
    expect(received(stage.service).sessionCalls).toBe(1)
    const [session] = stage.service.emulator.world.sessions.values()
    expect(session?.context).toMatchObject({ page: 'basket' })
  })

  it('[EL-61] keeps the chat where its config is set to an equal one, and calls the newest functions', async () => {
    stage = await stages.open()
    const { page } = await stage.open('<ai-agent-chat></ai-agent-chat>')
    await page.waitForFunction(() => customElements.get('ai-agent-chat'))
    const token = (subject: string) => stage.service.emulator.control.issueToken({ subject, lifeSeconds: 3_600 })
    const run = (script: string) => page.evaluate(script)
    /** Whether a task sets another config: then the chat closes, and another one opens. */
    const opensAnother = async (script: string) => {
      const before = await run('opened')
      await run(script)
      await run('new Promise(resolve => setTimeout(resolve))')
      await expect.poll(() => page.locator('ai-agent-chat[ready]').count()).toBe(1)
      await online(page)
      return (await run('opened')) !== before
    }
    await page.evaluate(
      ([endpoint, accessToken]) => {
        class Store {
          data = new Map()
          get = (key: string) => this.data.get(key) ?? null
          set = (key: string, value: unknown) => void this.data.set(key, value)
          delete = (key: string) => void this.data.delete(key)
          clear = () => this.data.clear()
          keys = () => [...this.data.keys()]
        }
        const chat = document.querySelector('ai-agent-chat')
        const page: Record<string, unknown> = {
          endpoint,
          token: accessToken,
          chat,
          Store,
          adapter: new Store(),
          opened: 0,
          calls: [],
        }
        page['configOf'] = (name: string, changes = {}) => ({
          endpoint,
          id: 'account',
          auth: {
            token: Object(globalThis).token,
            getToken() {
              Object(globalThis).calls.push(name)
              return this.token
            },
          },
          context: { page: { name: 'basket', tags: ['a', 'b'] } },
          cache: { adapter: page['adapter'] },
          ...changes,
        })
        Object.assign(globalThis, page)
        addEventListener('aiagent-ready', () => Object(globalThis).opened++)
      },
      [stage.service.url, token('customer')] as const,
    )
    expect(await opensAnother('chat.config = configOf("first")')).toBe(true)
    await page.getByRole('textbox').pressSequentially('half a sent')
    for (const name of ['second', 'third']) expect(await opensAnother(`chat.config = configOf("${name}")`)).toBe(false)
    await page.keyboard.type('ence')
    expect(await page.getByRole('textbox').inputValue()).toBe('half a sentence')
    await run('calls.length = 0')
    stage.service.emulator.control.expireTokens()
    await write(page, 'hello')
    await expect.poll(() => run('calls')).toContain('third')
    expect(await run('calls')).not.toContain('first')
    // Circular data is compared too.
    const circular = 'const config = configOf("x"); config.auth.owner = config; chat.config = config'
    await run(`token = '${token('customer')}'`)
    expect(await opensAnother(`{ ${circular} }`)).toBe(true)
    expect(await opensAnother(`{ ${circular} }`)).toBe(false)
    for (const other of [
      'configOf("x")',
      'configOf("x", { context: { page: { name: "basket", tags: ["a"] } } })',
      'configOf("x", { cache: { adapter: new Store() } })',
      `configOf("x", { auth: { type: 'pre-auth', accessToken: '${token('customer')}' } })`,
      `configOf("x", { auth: { type: 'pre-auth', accessToken: '${token('new-customer')}' } })`,
      'configOf("x", { endpoint: endpoint + "/" })',
      // A change in the host's own object.
      '(chat.config.context.page.name = "checkout", chat.config)',
    ])
      expect([other, await opensAnother(`chat.config = ${other}`)]).toEqual([other, true])
  })

  it('[EL-08] passes on what the host sets on the launcher, before it is loaded, before and after the chat opens', async () => {
    stage = await stages.open()
    const { page, complaints } = await stage.open(
      `<ai-agent-launcher endpoint="ENDPOINT" agent-id="help"></ai-agent-launcher>
       <script>document.querySelector('ai-agent-launcher').strings = { emptyTitle: 'Early' }</script>`,
      { search: '?lazy' },
    )
    await page.getByRole('button', { name: 'Chat' }).click()
    await page.getByText('Early').waitFor()
    await page.evaluate(() => {
      const launcher = document.querySelector('ai-agent-launcher') as HTMLElement & { strings?: unknown }
      launcher.strings = { emptyTitle: 'Late' }
      launcher.setAttribute('heading', 'Router help')
    })
    await page.getByText('Late').waitFor()
    await page.getByRole('heading', { name: 'Router help' }).waitFor()
    await page.evaluate(() => {
      const launcher = document.querySelector('ai-agent-launcher') as HTMLElement & { strings?: unknown }
      launcher.strings = undefined
      launcher.removeAttribute('heading')
      launcher.setAttribute('lang', 'de')
    })
    await page.getByRole('heading', { name: 'Help Centre' }).waitFor()
    await page.getByRole('textbox', { name: 'Ihre Nachricht' }).waitFor()
    expect(received(stage.service)).toMatchObject({ sessionCalls: 1, sockets: 1 })
    expect(complaints).toEqual([])
  })

  it('[EL-08] loads the chat with the first click on the launcher, counts unread messages, and keeps the conversation', async () => {
    stage = await stages.open()
    const { page, requests } = await stage.open(
      '<ai-agent-launcher endpoint="ENDPOINT" agent-id="help" label="Help"><p slot="empty">Ask us</p></ai-agent-launcher>',
      { search: '?lazy' },
    )
    const button = page.getByRole('button', { name: 'Help', exact: true })
    await button.waitFor()
    expect(requests.filter(line => !line.includes(stage.origin))).toEqual([])
    expect(requests.filter(line => CHAT_FILES.test(line) || ELEMENT_FILE.test(line))).toEqual([])
    await button.click()
    await page.getByText('Ask us').waitFor()
    await online(page)
    expect(await page.locator('textarea').evaluate(field => field.matches(':focus'))).toBe(true)
    await write(page, 'hello')
    await expect.poll(() => bubbles(page)).toEqual(['hello', 'You said: hello'])
    await page.keyboard.press('Escape')
    expect(await page.getByRole('dialog').count()).toBe(0)
    expect(await button.evaluate(node => node.matches(':focus'))).toBe(true)
    stage.service.emulator.control.say(sessions()[0] ?? '', { content: 'News' })
    await expect.poll(() => page.locator('ai-agent-launcher .badge').textContent()).toBe('1')
    await page.getByRole('button', { name: 'Help, 1 new message', exact: true }).press('Enter')
    await expect.poll(() => bubbles(page).then(all => all.at(-1))).toBe('News')
    await expect.poll(() => page.locator('ai-agent-launcher .badge').textContent()).toBe('')
    await page.getByRole('button', { name: 'Close' }).click()
    await expect.poll(() => button.getAttribute('aria-expanded')).toBe('false')
    expect(received(stage.service)).toMatchObject({ sessionCalls: 1, sockets: 1 })
  })

  it('[EL-18] says that the chat of a launcher could not be loaded, and loads it after a reload of the page', async () => {
    stage = await stages.open()
    const { page } = await stage.open(
      `<script>addEventListener('aiagent-error', event => { globalThis.reported = String(event.detail.error) })</script>
<ai-agent-launcher endpoint="ENDPOINT" agent-id="help" lang="de"></ai-agent-launcher>`,
      { search: '?lazy', prepare: target => target.route(ELEMENT_FILE, route => route.abort()) },
    )
    const button = page.getByRole('button', { name: 'Chat', exact: true })
    const failure = page.getByRole('dialog').getByRole('alert').getByText('Der Chat konnte nicht geladen werden.')
    const again = page.getByRole('button', { name: 'Erneut versuchen' })
    await button.click()
    await failure.waitFor()
    expect(await page.evaluate(() => Object(globalThis).reported)).toMatch(/import|fetch/)
    expect(await again.evaluate(node => node.matches(':focus'))).toBe(true)
    // Closing works, and the next click tries again.
    await page.keyboard.press('Escape')
    expect(await page.getByRole('dialog').count()).toBe(0)
    await button.click()
    await failure.waitFor()
    await page.unroute(ELEMENT_FILE)
    await page.getByRole('button', { name: 'Seite neu laden' }).click()
    await button.click()
    await page.getByText('Wie können wir helfen?').waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
    expect(await page.locator('textarea').evaluate(field => field.matches(':focus'))).toBe(true)
    await expect.poll(() => received(stage.service).sessionCalls).toBe(1)
  })

  it(
    '[EL-09] works in a frame of another site: with partitioned storage it resumes, without any it starts again',
    needs('cookie controls'),
    async () => {
      const needed = ['cookie controls'] as const
      const [partitioned, blocked] = await Promise.all([
        launchChromium({ needs: needed, persistentProfile: { profile: { cookie_controls_mode: 0 } } }),
        launchChromium({ needs: needed }),
      ])
      stage = await stages.open()
      const chat = CHAT.replace('ENDPOINT', stage.service.url)
      stage.serve(
        '/inner',
        `<!doctype html><html lang="en"><title>Chat</title>${chat}<script type="module" src="/entry.js"></script>`,
      )
      const address = `${stage.origin.replace('127.0.0.1', 'localhost')}/inner`
      /** Talks in the frame, and loads it again. */
      const talk = async (context: BrowserContext) => {
        const { page, complaints } = await stage.open(`<iframe title="Chat" src="${address}"></iframe>`, { context })
        const frame = page.frameLocator('iframe')
        await frame.getByText('Online').waitFor()
        await frame.getByRole('textbox').fill('framed')
        await frame.getByRole('textbox').press('Enter')
        await frame.getByText('You said: framed', { exact: true }).waitFor()
        const inner = page.frames()[1] as Frame
        const hasStorage = await inner.evaluate(() => {
          try {
            return sessionStorage.length > 0
          } catch {
            return false
          }
        })
        const before = received(stage.service).sockets
        await inner.evaluate(() => location.reload())
        await expect.poll(() => received(stage.service).sockets).toBe(before + 1)
        await frame.getByText('Online').waitFor()
        return { frame, hasStorage, complaints }
      }
      try {
        const first = await talk(partitioned.context)
        await first.frame.getByText('You said: framed', { exact: true }).waitFor()
        expect(received(stage.service).sessionCalls).toBe(1)
        expect(first).toMatchObject({ hasStorage: true, complaints: [] })
        // A private window gives frames of other sites no storage at all.
        const second = await talk(blocked.context)
        await second.frame.getByText('How can we help?').waitFor()
        expect(received(stage.service).sessionCalls).toBe(3)
        expect(second).toMatchObject({ hasStorage: false, complaints: [] })
      } finally {
        await Promise.all([partitioned.close(), blocked.close()])
      }
    },
  )
})
