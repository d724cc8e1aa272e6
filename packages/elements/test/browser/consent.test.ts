import { hasChromium } from '@aiagent/test-support/chromium'
import type { Page } from 'playwright-core'
import { beforeEach, describe, expect, it } from 'vitest'
import { bubbles, type ChatStage, received, write } from './chat-page.ts'
import { chatStages } from './chat-stages.ts'

const CHAT = '<ai-agent-chat endpoint="ENDPOINT" agent-id="account" consent="required"></ai-agent-chat>'

describe.skipIf(!hasChromium())('the consent of a user', () => {
  const stages = chatStages()
  let stage: ChatStage
  beforeEach(async () => {
    stage = await stages.open()
  })

  const tokenOf = (subject: string) => stage.service.emulator.control.issueToken({ subject })
  /** A page whose chat has a token and more configuration; `window.agent` is its agent. */
  const pageOf = (more = '', body = CHAT) =>
    `${body}<script>
      const chat = document.querySelector('ai-agent-chat')
      chat.config = { auth: { type: 'pre-auth', accessToken: '${tokenOf('customer')}' }, ${more} }
      addEventListener('aiagent-ready', event => { window.agent = event.detail.agent })
    </script>`
  const question = (page: Page) => page.getByRole('button', { name: 'Agree and start' })
  const agree = async (page: Page) => {
    await question(page).click()
    await page.getByText('Online').waitFor()
  }
  /** What the page stores. */
  const stored = (page: Page) => page.evaluate('JSON.stringify([{ ...sessionStorage }, { ...localStorage }])')
  /** Waits until whatever the page has begun is over. */
  const settled = async (page: Page) => {
    await page.waitForLoadState('networkidle')
    await page.evaluate(() => new Promise(resolve => requestIdleCallback(resolve)))
  }
  const talk = async (page: Page) => {
    await agree(page)
    await write(page, 'PRIVATE')
    await page.locator('.bubble').getByText('You said: PRIVATE').waitFor()
  }

  it.each([
    ['a logout', 'agent.logout()', true],
    ['a change of the user', "agent.updateAccessToken('OTHER')", false],
  ])(
    '[SEC-101] is asked for again after %s, and until then nothing is requested, stored or shown',
    async (_, leave, needsToken) => {
      const other = tokenOf('new-customer')
      const { page, requests, complaints } = await stage.open(pageOf())
      await talk(page)
      await page.getByRole('textbox').focus()
      await page.evaluate(leave.replace('OTHER', other))
      await question(page).waitFor()
      // A key that the user was about to press agrees to nothing.
      expect(await page.evaluate("chat.shadowRoot.activeElement.className.includes('consent')")).toBe(true)
      expect(await page.locator('ai-agent-chat .chat').count()).toBe(0)
      await settled(page)
      requests.length = 0
      const { sessionCalls, sockets } = received(stage.service)
      expect(await stored(page)).not.toContain('PRIVATE')
      const before = await stored(page)
      if (needsToken) await page.evaluate(`agent.updateAccessToken('${other}')`)
      await settled(page)
      expect(requests).toEqual([])
      expect(received(stage.service)).toMatchObject({ sessionCalls, sockets })
      expect(await stored(page)).toBe(before)

      await agree(page)
      expect(await bubbles(page)).toEqual([])
      await write(page, 'mine')
      await page.locator('.bubble').getByText('You said: mine').waitFor()
      expect(stage.service.emulator.world.sessions.size).toBe(2)
      expect(complaints).toEqual([])
    },
  )

  it('[SEC-101] is asked of the user after one who has declined', async () => {
    const { page } = await stage.open(pageOf())
    await talk(page)
    await page.evaluate(`agent.updateAccessToken('${tokenOf('new-customer')}')`)
    await page.getByRole('button', { name: 'No, thanks' }).click()
    await page.getByText('The chat stays off.').waitFor()
    await page.evaluate(`agent.updateAccessToken('${tokenOf('customer')}')`)
    await page.getByRole('button', { name: 'No, thanks' }).waitFor()
    expect(await page.getByText('The chat stays off.').count()).toBe(0)
  })

  it('[SEC-101] is asked for again where the user of an agent of the host has left while the element was in no page', async () => {
    const { page } = await stage.open(CHAT, { search: '?sdk' })
    await page.waitForFunction('globalThis.sdk')
    await page.evaluate(`globalThis.chat = document.querySelector('ai-agent-chat')
      globalThis.agent = new sdk.AiAgent({
        id: 'account', endpoint: chat.getAttribute('endpoint'), resume: true,
        auth: { type: 'pre-auth', accessToken: '${tokenOf('customer')}' },
      })
      chat.agent = agent`)
    await talk(page)
    await page.evaluate('chat.remove()')
    await page.evaluate(`agent.updateAccessToken('${tokenOf('new-customer')}')`)
    await page.evaluate('document.body.append(chat)')
    await agree(page)
    expect(await bubbles(page)).toEqual([])
  })

  it('[SEC-101] counts on when an anonymous visitor signs in', async () => {
    const { page } = await stage.open(
      `${CHAT.replace('account', 'help')}<script>
        addEventListener('aiagent-ready', event => { window.agent = event.detail.agent })
      </script>`,
    )
    await talk(page)
    await page.evaluate(`agent.updateAccessToken('${tokenOf('customer')}')`)
    await write(page, 'still here')
    await page.locator('.bubble').getByText('You said: still here').waitFor()
    expect(await question(page).count()).toBe(0)
    expect(await bubbles(page)).toContain('PRIVATE')
  })

  it('[SEC-101] is decided by the host for each user', async () => {
    const { page } = await stage.open(`${pageOf()}<script>
      customElements.whenDefined('ai-agent-chat').then(() => chat.grantConsent())
    </script>`)
    await page.getByText('Online').waitFor()
    await write(page, 'PRIVATE')
    await page.locator('.bubble').getByText('You said: PRIVATE').waitFor()
    // At once, in the task of the change.
    await page.evaluate(
      `agent.on('phaseChanged', ({ payload }) => { if (payload.at === 'leaving') chat.grantConsent() })`,
    )
    await page.evaluate(`agent.updateAccessToken('${tokenOf('new-customer')}')`)
    await page.getByText('How can we help?').waitFor()
    await page.getByText('Online').waitFor()
    expect(await bubbles(page)).toEqual([])
    expect(await question(page).count()).toBe(0)
    await write(page, 'mine')
    await page.locator('.bubble').getByText('You said: mine').waitFor()
  })

  it('[SEC-101] is asked for at once when the store of the former user does not answer', async () => {
    const { page } = await stage.open(
      pageOf(`cache: { contextPrefix: 'a:', adapter: {
        async get(key) { return waiting() ?? entries.get(key) ?? null },
        async set(key, entry) { return waiting() ?? void entries.set(key, entry) },
        async delete(key) { return waiting() ?? void entries.delete(key) },
        async clear() { return waiting() ?? entries.clear() },
        async keys() { return waiting() ?? [...entries.keys()] },
      } }`).replace(
        '<script>',
        '<script>const entries = new Map(), waiting = () => window.hangs && new Promise(() => {});',
      ),
    )
    await talk(page)
    await page.evaluate('window.hangs = true')
    await page.evaluate('void agent.logout()')
    await question(page).waitFor()
    expect(await page.locator('ai-agent-chat .chat').count()).toBe(0)
  })

  /** The configuration with the token of a user; undefined for a visitor. */
  const configOf = (subject?: string) =>
    subject ? `{ auth: { type: 'pre-auth', accessToken: '${tokenOf(subject)}' } }` : '{}'

  it.each([
    ['another user', 'new-customer', 'account'],
    ['a visitor', undefined, 'help'],
  ])(
    '[SEC-101] is asked for again when the configuration of a user becomes that of %s',
    async (_name, next, agentId) => {
      const { page, requests, complaints } = await stage.open(pageOf('', CHAT.replace('account', agentId)))
      await talk(page)
      await settled(page)
      requests.length = 0
      const { sessionCalls, sockets } = received(stage.service)
      await page.evaluate(`chat.config = ${configOf(next)}`)
      await question(page).waitFor()
      expect(await page.locator('ai-agent-chat .chat').count()).toBe(0)
      await settled(page)
      expect(requests).toEqual([])
      expect(received(stage.service)).toMatchObject({ sessionCalls, sockets })
      await agree(page)
      expect(await bubbles(page)).toEqual([])
      expect(await stored(page)).not.toContain('PRIVATE')
      expect(complaints).toEqual([])
    },
  )

  it('[SEC-101] counts on where the configuration brings another token of the user, or the one of a visitor who signs in', async () => {
    const { page } = await stage.open(CHAT.replace('account', 'help'))
    await agree(page)
    for (const change of [configOf('customer'), configOf('customer'), `{ ...${configOf('customer')}, context: {} }`]) {
      await page.evaluate(`window.chat = document.querySelector('ai-agent-chat')
        new Promise(resolve => {
          addEventListener('aiagent-ready', resolve, { once: true })
          chat.config = ${change}
        })`)
      expect(await question(page).count()).toBe(0)
    }
  })

  it('[SEC-101] is asked for where the user has changed while there was no configuration, and after one who has declined', async () => {
    const { page } = await stage.open(pageOf('', CHAT.replace(' agent-id="account"', '')))
    await page.evaluate("chat.config = { ...chat.config, id: 'account' }")
    await talk(page)
    await page.evaluate('chat.config = undefined')
    await expect.poll(() => page.locator('ai-agent-chat .chat').count()).toBe(0)
    await page.evaluate(`chat.config = { ...${configOf('new-customer')}, id: 'account' }`)
    await page.getByRole('button', { name: 'No, thanks' }).click()
    await page.getByText('The chat stays off.').waitFor()
    await page.evaluate(`chat.config = { ...${configOf('customer')}, id: 'account' }`)
    await page.getByRole('button', { name: 'No, thanks' }).waitFor()
    // At once, in the task of the change.
    await page.evaluate(`chat.config = { ...${configOf('new-customer')}, id: 'account' }; chat.grantConsent()`)
    await page.getByText('Online').waitFor()
    expect(await bubbles(page)).toEqual([])
  })

  it('[SEC-101] is asked for again in every tab, and after a reload', async () => {
    const shared = pageOf("tabs: 'share'", CHAT)
    const first = await stage.open(shared)
    await talk(first.page)
    const address = first.page.url()
    const second = await stages.context.newPage()
    await second.goto(address)
    await agree(second)
    await first.page.evaluate('agent.logout()')
    await question(first.page).waitFor()
    await question(second).waitFor()
    await second.reload()
    await question(second).waitFor()
    expect(await stored(second)).not.toContain('PRIVATE')
    await second.close()
  })

  it('[SEC-101] ends with the element: the agent of a user who has left is not kept', async () => {
    const { page } = await stage.open(pageOf())
    await talk(page)
    await page.evaluate('agent.logout()')
    await question(page).waitFor()
    await page.evaluate('chat.remove()')
    await expect.poll(() => page.evaluate('agent.status.phase.at')).toBe('destroyed')
  })
})
