import { hasChromium } from '@aiagent/test-support/chromium'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { bubbles, type ChatStage, received, write } from './chat-page.ts'
import { chatStages } from './chat-stages.ts'

const CHAT = '<ai-agent-chat endpoint="ENDPOINT" agent-id="help"></ai-agent-chat>'

describe.skipIf(!hasChromium())('<ai-agent-chat> without a mouse', () => {
  const stages = chatStages()
  let stage: ChatStage

  const online = (page: Page) => page.getByText('Online').waitFor()
  /** Name or text of the focused element in the chat. */
  const focused = (page: Page) =>
    page.evaluate(() => {
      const element = document.querySelector('ai-agent-chat')?.shadowRoot?.activeElement
      return element?.getAttribute('aria-label') ?? element?.textContent?.trim() ?? '(outside)'
    })
  /** Presses Tab until the element with a name has the focus. */
  const tabTo = async (page: Page, name: string, key = 'Tab') => {
    const seen: string[] = []
    for (let step = 0; step < 30; step++) {
      await page.keyboard.press(key)
      const at = await focused(page)
      if (at === name) return
      seen.push(at)
    }
    throw new Error(`"${name}" was not reached. Reached: ${seen.join(', ')}`)
  }

  it('[EL-10] does everything by keyboard, and never loses the focus', async () => {
    stage = await stages.open({
      reply: ({ text }) =>
        text === 'options'
          ? { content: 'Which one?', role: 'follow up question agent', messageData: { options: ['Red', 'Blue'] } }
          : { content: `You said: ${text}` },
    })
    const { page } = await stage.open(CHAT)
    await online(page)
    await tabTo(page, 'Your message')
    await page.keyboard.type('options')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Blue' }).waitFor()
    await tabTo(page, 'Blue', 'Shift+Tab')
    await page.keyboard.press('Space')
    await expect.poll(() => bubbles(page).then(all => all.at(-1))).toBe('You said: Blue')
    // The button is gone; the next thing to do has the focus.
    expect(await focused(page)).toBe('Your message')
    await page.keyboard.type('two')
    await page.keyboard.press('Shift+Enter')
    await page.keyboard.type('lines')
    await page.keyboard.press('Enter')
    await expect.poll(() => received(stage.service).texts.at(-1)).toBe('two\nlines')
    await expect.poll(() => page.getByRole('button', { name: 'Helpful', exact: true }).count()).toBe(2)
    await tabTo(page, 'Helpful', 'Shift+Tab')
    await page.keyboard.press('Enter')
    await expect.poll(() => page.locator('ai-agent-chat [aria-pressed=true]').count()).toBe(1)
    expect(await focused(page)).toBe('Helpful')
    await tabTo(page, 'Conversation', 'Shift+Tab')
    await tabTo(page, 'More', 'Shift+Tab')
    await page.keyboard.press('Enter')
    await tabTo(page, 'Download conversation')
    await page.keyboard.press('Escape')
    expect(await focused(page)).toBe('More')
    await page.keyboard.press('Enter')
    await tabTo(page, 'New conversation')
    await page.keyboard.press('Enter')
    // It asks first, and a key that is held down keeps the conversation.
    await expect.poll(() => focused(page)).toBe('Cancel')
    await tabTo(page, 'New conversation', 'Shift+Tab')
    await page.keyboard.press('Enter')
    await page.locator('[part="session-mark"]').waitFor()
    await expect.poll(() => focused(page)).toBe('Your message')
    await online(page)
    stage.service.emulator.faults.add({ kind: 'drop', code: 1000 })
    await page.getByText('This conversation has ended.').first().waitFor()
    expect(await focused(page)).toBe('Your message')
    await tabTo(page, 'New conversation', 'Shift+Tab')
    await page.keyboard.press('Enter')
    await expect.poll(() => focused(page)).toBe('Cancel')
    await page.keyboard.press('Enter')
    await expect.poll(() => focused(page)).toBe('Your message')
    await tabTo(page, 'Continue', 'Shift+Tab')
    await page.keyboard.press('Enter')
    await expect.poll(() => focused(page)).toBe('Your message')
  })

  it('[EL-11] tells a screen reader each message once, as plain text, and the history not at all', async () => {
    // The first answer waits until the page has said that one is being written: a slow page would skip that.
    let answer = () => {}
    const mayAnswer = new Promise<void>(resolve => (answer = resolve))
    stage = await stages.open({
      reply: async ({ text }) => {
        await mayAnswer
        return { content: `**You** said: [${text}](https://shop.test)\n\n* one\n* two` }
      },
    })
    const { page } = await stage.open(CHAT, {
      prepare: target =>
        target.addInitScript(() => {
          const spoken: string[] = []
          Object.assign(globalThis, { spoken })
          const watch = (root: ShadowRoot) =>
            new MutationObserver(records => {
              for (const { addedNodes, target } of records) {
                const live = (target as Element).closest?.('[aria-live="polite"]')
                if (live) for (const node of addedNodes) spoken.push(node.textContent ?? '')
              }
            }).observe(root, { childList: true, subtree: true })
          const attach = Element.prototype.attachShadow
          Element.prototype.attachShadow = function (init) {
            const root = attach.call(this, init)
            watch(root)
            return root
          }
        }),
    })
    const spoken = () => page.evaluate(() => Object(globalThis).spoken as string[])
    const region = page.locator('ai-agent-chat [aria-live="polite"]')
    await online(page)
    expect(await region.count()).toBe(1)
    expect(await page.getByRole('log').getAttribute('aria-live')).toBe('off')
    await write(page, 'hello')
    await expect.poll(spoken).toEqual(['Help Centre is writing …'])
    answer()
    await expect.poll(() => bubbles(page).then(all => all.length)).toBe(2)
    await expect.poll(spoken).toEqual(['Help Centre is writing …', 'Help Centre: You said: hello\none\ntwo'])
    await expect.poll(() => region.textContent(), { timeout: 10_000 }).toBe('')
    await page.getByRole('button', { name: 'Helpful', exact: true }).click()
    await write(page, 'again')
    await expect.poll(() => spoken().then(lines => lines.at(-1))).toBe('Help Centre: You said: again\none\ntwo')
    expect((await spoken()).filter(line => line.includes('hello'))).toHaveLength(1)
    await page.reload()
    await expect.poll(() => bubbles(page).then(all => all.length)).toBe(4)
    await online(page)
    expect(await spoken()).toEqual([])
    stage.service.emulator.faults.add({ kind: 'drop', code: 1000 })
    await expect.poll(() => spoken().then(lines => lines.at(-1))).toBe('This conversation has ended.')
  })

  it('[EL-12] prints all messages that it shows, without what is for input only', async () => {
    stage = await stages.open()
    const { page } = await stage.open(CHAT)
    await online(page)
    for (let index = 0; index < 6; index++) {
      await write(page, `Message ${index}`)
      await expect.poll(() => bubbles(page).then(all => all.length)).toBe(2 * (index + 1))
    }
    const overflow = () => page.getByRole('log').evaluate(log => log.scrollHeight - log.clientHeight)
    expect(await overflow()).toBeGreaterThan(0)
    await page.emulateMedia({ media: 'print' })
    expect(await overflow()).toBe(0)
    expect(await page.getByRole('textbox').isVisible()).toBe(false)
  })

  it('[EL-12] stays usable at 200 % zoom, in forced colours and without motion, and follows the theme', async () => {
    stage = await stages.open()
    const { page } = await stage.open(CHAT, {
      prepare: async target => {
        // 200 % zoom of a window of 640 by 800.
        await target.setViewportSize({ width: 320, height: 400 })
        await target.emulateMedia({ forcedColors: 'active', reducedMotion: 'reduce', colorScheme: 'dark' })
      },
    })
    await online(page)
    await write(page, 'A_very_long_word_without_any_space_in_it_'.repeat(5))
    await expect.poll(() => bubbles(page).then(all => all.length)).toBe(2)
    const facts = await page.evaluate(() => {
      const root = document.querySelector('ai-agent-chat')?.shadowRoot as ShadowRoot
      const log = root.querySelector('[role=log]') as HTMLElement
      const input = root.querySelector('textarea') as HTMLElement
      const running = root.getAnimations().filter(({ playState }) => playState === 'running').length
      return {
        overflows: log.scrollWidth > log.clientWidth || document.documentElement.scrollWidth > innerWidth,
        inputWidth: input.clientWidth > 120,
        logHeight: log.clientHeight > 100,
        running,
      }
    })
    expect(facts).toEqual({ overflows: false, inputWidth: true, logHeight: true, running: 0 })
    // The box of the text field shows the focus, whose colours and shadows the system takes away.
    await page.getByRole('textbox').focus()
    const box = page.locator('ai-agent-chat .composer-box')
    expect(await box.evaluate(element => getComputedStyle(element).outlineStyle)).toBe('solid')
    await page.emulateMedia({ forcedColors: 'none', colorScheme: 'dark' })
    const background = () =>
      page.locator('ai-agent-chat .frame').evaluate(frame => getComputedStyle(frame).backgroundColor)
    const dark = await background()
    await page.evaluate(() => document.querySelector('ai-agent-chat')?.setAttribute('theme', 'light'))
    expect(await background()).not.toBe(dark)
    await page.evaluate(() => document.querySelector('ai-agent-chat')?.setAttribute('lang', 'ar'))
    await page.getByText('متصل').waitFor()
    expect(await page.locator('ai-agent-chat .chat').evaluate(chat => getComputedStyle(chat).direction)).toBe('rtl')
  })
})
