import { hasChromium } from '@aiagent/test-support/chromium'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { type ChatPage, type ChatStage, received, write } from './chat-page.ts'
import { chatStages } from './chat-stages.ts'

const LAUNCHER =
  '<input aria-label="Search" autofocus><ai-agent-launcher resume="idle" endpoint="ENDPOINT" agent-id="help"></ai-agent-launcher>'
/** An answer that does not fit into the chat. */
const LONG = `**No, you keep your settings.**\n\n${'Press the button on the back for ten seconds.\n\n'.repeat(40)}`

describe.skipIf(!hasChromium())('a launcher after a page change', () => {
  const stages = chatStages()
  let stage: ChatStage

  const open = async (body = LAUNCHER, size = { width: 1366, height: 650 }): Promise<ChatPage> => {
    stage = await stages.open({ reply: ({ text }) => (/later/.test(text) ? [] : { content: `You said: ${text}` }) })
    return stage.open(body, { search: '?lazy', prepare: page => page.setViewportSize(size) })
  }
  const button = (page: Page, name: string | RegExp = 'Chat') => page.getByRole('button', { name, exact: true })
  const isOpen = (page: Page) => page.locator('ai-agent-launcher').evaluate(element => element.hasAttribute('open'))
  const say = (content: string) => {
    const { control, world } = stage.service.emulator
    control.say([...world.sessions.keys()][0] ?? '', { content })
  }
  /** Opens the chat, and asks. */
  const ask = async (page: Page, text: string) => {
    await button(page).click()
    await page.getByText('Online').waitFor()
    await write(page, text)
    await page.locator('ai-agent-chat .bubble', { hasText: text }).first().waitFor()
  }
  /** What the launcher has loaded and called when the page has come to rest. */
  const settled = async ({ page, requests }: ChatPage) => {
    await page.waitForLoadState('networkidle')
    return requests.filter(line => /[/]chat-/.test(line) || !line.includes(stage.origin))
  }
  const kept = (page: Page) =>
    page.evaluate(() => Object.entries({ ...sessionStorage }).filter(([key]) => key.startsWith('aiagent_launcher')))

  it('[EL-42] shows what arrived meanwhile in its badge, says it, and opens at the divider above it', async () => {
    const { page } = await open()
    await ask(page, 'an answer for later')
    await page.keyboard.press('Escape')
    await page.goto('about:blank')
    say(LONG)
    await page.goto(stage.servePage(LAUNCHER, { search: '?lazy' }))
    const named = button(page, 'Chat, 1 new message')
    await named.waitFor()
    expect(await page.locator('.badge').textContent()).toBe('1')
    expect(await page.locator('ai-agent-launcher .said').textContent()).toBe('1 new message')
    expect(await isOpen(page)).toBe(false)
    expect(received(stage.service)).toMatchObject({ sessionCalls: 1 })
    await named.click()
    const offset = () =>
      page
        .locator('ai-agent-chat .divider.unread')
        .evaluate(node => node.getBoundingClientRect().top - (node.closest('.log')?.getBoundingClientRect().top ?? 0))
    await expect.poll(async () => Math.abs((await offset()) - 8)).toBeLessThanOrEqual(0.5)
    await page.locator('ai-agent-chat .to-end').click()
    await expect.poll(() => page.locator('.badge').textContent()).toBe('')
    // What was read stays read.
    await page.keyboard.press('Escape')
    await page.reload()
    await page.locator('ai-agent-chat[ready]').waitFor({ state: 'attached' })
    await page.getByText('Online').waitFor({ state: 'attached' })
    expect(await page.locator('.badge').textContent()).toBe('')
  })

  it('[EL-42] opens at the unread message, below an answer to the same question that was read', async () => {
    const { page } = await open()
    await ask(page, 'an answer for later')
    say(LONG)
    await page.locator('ai-agent-chat .to-end').click()
    await expect.poll(() => page.locator('.badge').textContent()).toBe('')
    await page.keyboard.press('Escape')
    say('One more thing.')
    await button(page, 'Chat, 1 new message').waitFor()
    await page.reload()
    await button(page, 'Chat, 1 new message').click()
    await page.locator('ai-agent-chat .bubble', { hasText: 'One more thing.' }).waitFor()
    const edge = (name: string) =>
      page.locator(`ai-agent-chat ${name}`).evaluate(node => {
        const list = node.closest('.log')?.getBoundingClientRect()
        return list
          ? [node.getBoundingClientRect().top - list.top, list.bottom - node.getBoundingClientRect().bottom]
          : []
      })
    for (const name of ['.divider.unread', '.bubble >> nth=-1'])
      await expect.poll(async () => Math.min(...(await edge(name)))).toBeGreaterThanOrEqual(0)
  })

  it('[EL-42] is open again where it was open, and leaves the focus where it is', async () => {
    const { page } = await open()
    await ask(page, 'hello')
    await page.reload()
    await page.getByText('You said: hello').waitFor()
    await page.getByText('Online').waitFor()
    expect(await isOpen(page)).toBe(true)
    expect(await page.getByLabel('Search').evaluate(node => node.matches(':focus'))).toBe(true)
    await page.getByRole('button', { name: 'Close' }).click()
    await button(page).click()
    expect(await page.locator('textarea').evaluate(node => node.matches(':focus'))).toBe(true)
    await page.keyboard.press('Escape')
    await page.reload()
    await page.locator('ai-agent-chat[ready]').waitFor({ state: 'attached' })
    expect(await isOpen(page)).toBe(false)
  })

  it('[EL-42] does not cover the page of a phone again', async () => {
    const { page } = await open(LAUNCHER, { width: 390, height: 800 })
    await ask(page, 'hello')
    await page.reload()
    await page.locator('ai-agent-chat[ready]').waitFor({ state: 'attached' })
    expect(await isOpen(page)).toBe(false)
  })

  it('[EL-42] loads and stores nothing in a tab without a conversation, nor without the attribute', async () => {
    const opened = await open()
    expect(await settled(opened)).toEqual([])
    expect(await kept(opened.page)).toEqual([])
    const other = await open(LAUNCHER.replace(' resume="idle"', ''))
    await ask(other.page, 'hello')
    expect(await kept(other.page)).toEqual([])
    other.requests.length = 0
    await other.page.reload()
    expect(await settled(other)).toEqual([])
  })

  it('[EL-06] loads and stores nothing where the user is asked for consent again', async () => {
    const opened = await open(LAUNCHER.replace('resume', 'consent="required" resume'))
    const { page } = opened
    await button(page).click()
    await page.getByRole('button', { name: 'Agree and start' }).waitFor()
    expect(await kept(page)).toEqual([])
    await page.getByRole('button', { name: 'Agree and start' }).click()
    await page.getByText('Online').waitFor()
    await expect.poll(() => kept(page)).toHaveLength(1)
    opened.requests.length = 0
    await page.reload()
    expect(await settled(opened)).toEqual([])
  })

  it.each(['{ resume: false }', '{ cache: { enabled: false } }', "{ cache: { storageType: 'memory' } }"])(
    '[EL-42] forgets a conversation that ends with its page: %s',
    async config => {
      const opened = await open(
        `${LAUNCHER}<script>document.querySelector('ai-agent-launcher').config = ${config}</script>`,
      )
      await ask(opened.page, 'hello')
      expect(await kept(opened.page)).toEqual([])
      opened.requests.length = 0
      await opened.page.reload()
      expect(await settled(opened)).toEqual([])
    },
  )

  it('[EL-42] forgets the conversation and shows no badge after a sign-out', async () => {
    const opened = await open(
      `${LAUNCHER}<script>addEventListener('aiagent-ready', event => { window.agent = event.detail.agent })</script>`,
    )
    const { page } = opened
    await ask(page, 'hello')
    await page.keyboard.press('Escape')
    say('One more thing.')
    await button(page, 'Chat, 1 new message').waitFor()
    await expect.poll(() => kept(page)).toHaveLength(1)
    await page.evaluate(() => Reflect.get(window, 'agent').logout())
    await button(page).waitFor()
    expect(await page.locator('.badge').textContent()).toBe('')
    expect(await kept(page)).toEqual([])
    opened.requests.length = 0
    await page.reload()
    expect(await settled(opened)).toEqual([])
  })
})
