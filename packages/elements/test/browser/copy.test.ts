import { hasChromium } from '@aiagent/test-support/chromium'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { bubbles, type ChatStage, write } from './chat-page.ts'
import { chatStages } from './chat-stages.ts'

const CHAT = '<ai-agent-chat endpoint="ENDPOINT" agent-id="help" show-copy></ai-agent-chat>'
const CODE = 'const one = 1\n\nconst two = `2`'
const ANSWER = `Use **this**:\n\n\`\`\`ts\n${CODE}\n\`\`\`\n\n    indented`
const WRITTEN = `<!-- HIDDEN -->${ANSWER.replace('`ts', '`ts HIDDEN\u202e')}\n\n[x]: https://shop.test/ "HIDDEN"`
const HOSTILE =
  'a\u200bb \u05d0\u200f! \u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f} `c\u001b[201~\u2066`'

/** Replaces the clipboard of a page: `copied` holds what it was given, and a clipboard that `refuses` rejects. */
const fakeClipboard = (page: Page) =>
  page.addInitScript(() => {
    const copied: string[] = []
    Object.assign(globalThis, { copied })
    const writeText = async (text: string) => {
      if (Object(globalThis).refuses) throw new DOMException('Write permission denied.', 'NotAllowedError')
      copied.push(text)
    }
    Object.defineProperty(navigator, 'clipboard', { value: { writeText }, configurable: true })
  })

describe.skipIf(!hasChromium())('what <ai-agent-chat> copies', () => {
  const stages = chatStages()
  let stage: ChatStage

  const openChat = async (body = CHAT) => {
    stage = await stages.open({
      reply: ({ text }) => ({
        content: text === 'code' ? WRITTEN : text === 'hostile' ? HOSTILE : `You said: ${text}`,
      }),
    })
    const { page, complaints, requests } = await stage.open(body, { prepare: fakeClipboard })
    await page.getByText('Online').waitFor()
    const copied = () => page.evaluate(() => Object(globalThis).copied as string[])
    const answer = page.getByRole('button', { name: 'Copy answer' })
    const code = page.getByRole('button', { name: 'Copy code' })
    return { page, complaints, requests, copied, answer, code }
  }

  it('[EL-39] [SEC-105] is what is shown of an answer in Markdown, and a block of code with its language, also by keyboard', async () => {
    const { page, complaints, copied, answer, code } = await openChat()
    await write(page, 'code')
    await expect.poll(() => code.count()).toBe(2)
    expect(await page.locator('ai-agent-chat .code-language').allTextContents()).toEqual(['ts', ''])
    await code.first().click()
    await page.getByText('Copied').first().waitFor()
    await code.last().press('Enter')
    await answer.press('Enter')
    await expect.poll(copied).toEqual([CODE, 'indented', ANSWER])
    await expect.poll(() => page.locator('ai-agent-chat [aria-live] p').allTextContents()).toContain('Copied')
    // The result is gone later, and the focus is where it was.
    await expect.poll(() => page.getByText('Copied').count(), { timeout: 10_000 }).toBe(0)
    await page.keyboard.press('Enter')
    await expect.poll(() => copied().then(all => all.length)).toBe(4)
    for (const button of [answer, code.first()]) {
      const { width = 0, height = 0 } = (await button.boundingBox()) ?? {}
      expect(Math.min(width, height)).toBeGreaterThanOrEqual(24)
    }
    expect(complaints).toEqual([])
  })

  it('[SEC-105] [SEC-106] has no control and invisible characters but those that it is spelled with', async () => {
    const { page, copied, answer } = await openChat()
    await write(page, 'hostile')
    await answer.click()
    await expect
      .poll(copied)
      .toEqual([['\u200b', '\u001b', '\u2066'].reduce((text, removed) => text.replace(removed, ''), HOSTILE)])
    expect(await page.locator('ai-agent-chat .text code').textContent()).not.toContain('\u2066')
  })

  it('[EL-39] is told as not copied where the browser refuses, or has no clipboard', async () => {
    const { page, complaints, copied, answer } = await openChat()
    await write(page, 'hello')
    await page.evaluate(() => Object.assign(globalThis, { refuses: true }))
    await answer.click()
    await page.getByText('This could not be copied.').first().waitFor()
    await page.evaluate(() => Object.assign(globalThis, { refuses: false }))
    await answer.click()
    await page.getByText('Copied').first().waitFor()
    expect(await copied()).toEqual(['You said: hello'])
    await page.evaluate(() => Object.defineProperty(navigator, 'clipboard', { value: undefined }))
    await answer.click()
    await page.getByText('This could not be copied.').first().waitFor()
    expect(complaints).toEqual([])
  })

  it('[EL-39] is masked as it is shown', async () => {
    const { page, copied, answer } = await openChat(CHAT.replace('help', 'billing'))
    await write(page, 'card 4111 1111 1111 1111 ok')
    await answer.click()
    await expect.poll(copied).toEqual(['You said: card ***************1111 ok'])
    // Nothing copies what the user wrote, and what the host draws.
    expect(await answer.count()).toBe(1)
    await page.evaluate(() => {
      const chat = document.querySelector('ai-agent-chat')
      if (chat) chat.renderMessage = () => document.createElement('hr')
    })
    await expect.poll(() => answer.count()).toBe(0)
  })

  it('[EL-39] has its code with the attribute, of the launcher too, and without it is not offered', async () => {
    const { page, requests, answer, code } = await openChat(CHAT.replace('show-copy', ''))
    const loaded = () => requests.filter(request => /copy/.test(request)).length
    await write(page, 'code')
    await expect.poll(() => bubbles(page).then(all => all.length)).toBe(2)
    await page.getByText('const one').first().waitFor()
    expect([await answer.count(), await code.count(), loaded()]).toEqual([0, 0, 0])
    const show = (showCopy: boolean) =>
      page.evaluate(value => document.querySelector('ai-agent-chat')?.toggleAttribute('show-copy', value), showCopy)
    await show(true)
    await expect.poll(() => code.count()).toBe(2)
    expect(loaded()).toBe(1)
    await show(false)
    await expect.poll(() => code.count()).toBe(0)
    await page.close()
    const launcher = await stage.open(
      '<ai-agent-launcher endpoint="ENDPOINT" agent-id="help" show-copy></ai-agent-launcher>',
    )
    await launcher.page.getByRole('button', { name: 'Chat' }).click()
    await launcher.page.getByText('Online').waitFor()
    await write(launcher.page, 'hello')
    await launcher.page.getByRole('button', { name: 'Copy answer' }).waitFor()
  })
})
