import { hasChromium, recordTasks, slownessOf } from '@aiagent/test-support/chromium'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { costlyText, KINDS } from '../costly-texts.ts'
import { bubbles, type ChatStage, write } from './chat-page.ts'
import { chatStages } from './chat-stages.ts'

const SIZE = 128 * 1024

/** Texts of 128 kB of each kind, and some that a lexer needs seconds for although they are short. */
const ANSWERS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(KINDS.map(kind => [kind, costlyText(kind, SIZE)])),
  'short delimiters': costlyText('delimiters', 5000),
  'a short table': costlyText('a wide table', 1000),
  'short lists': costlyText('lists', 8000),
}

/**
 * Longest task of the page, in milliseconds of processor time on a machine with two cores: the other tasks of a busy machine do not
 * count, and a slower one has more time.
 */
const LIMIT_MS = 100
/** The same for the start of a page with a history of all texts. */
const HISTORY_LIMIT_MS = 18 * Object.keys(ANSWERS).length

describe.skipIf(!hasChromium())('costly answers in <ai-agent-chat>', () => {
  const stages = chatStages()
  let stage: ChatStage

  /** Waits until further slices of a text are shown, in later tasks: twice idle with half a frame left, they are. */
  const idle = (page: Page) =>
    page.evaluate(async () => {
      for (let idle = 0; idle < 2; ) {
        const deadline = await new Promise<IdleDeadline>(resolve => requestIdleCallback(resolve))
        idle = deadline.timeRemaining() > 8 ? idle + 1 : 0
      }
    })
  /** How the texts of the bubbles end, in order: to read megabytes of text would be the longest task. */
  const endings = (page: Page) =>
    page.evaluate(() => {
      const root = document.querySelector('ai-agent-chat')?.shadowRoot
      const endOf = (node: Node | null | undefined): string => {
        for (let last = node?.lastChild; last; last = last.previousSibling) {
          const text = last.nodeType === Node.TEXT_NODE ? (last.nodeValue ?? '').trimEnd() : endOf(last)
          if (text) return text.slice(-4)
        }
        return ''
      }
      return [...(root?.querySelectorAll('.bubble') ?? [])].map(endOf)
    })
  /** The longest task of the page until a function is done, and the page idle. */
  const longest = async (page: Page, run: () => Promise<unknown>) => {
    const stop = await recordTasks(page)
    await run()
    await idle(page)
    return (await stop()).longest
  }

  it('[EL-33] shows 128 kB of any kind, and a history of them after a reload, without stopping the page', async () => {
    stage = await stages.open({ reply: ({ text }) => ({ content: `${ANSWERS[text] ?? 'none'} LAST` }) })
    const { page, complaints } = await stage.open(
      '<ai-agent-chat endpoint="ENDPOINT" agent-id="help" resume></ai-agent-chat>',
    )
    await page.getByText('Online').waitFor()
    await idle(page)
    const slowness = await slownessOf(page)
    const times: Record<string, number> = {}
    for (const name of Object.keys(ANSWERS)) {
      const answered = () => endings(page).then(texts => texts.at(-2) === name.slice(-4) && texts.at(-1) === 'LAST')
      times[name] = await longest(page, async () => {
        await write(page, name)
        await expect.poll(answered, { timeout: 30_000 }).toBe(true)
      })
    }
    const shown = () => endings(page).then(texts => texts.filter(text => text === 'LAST').length)
    times['history'] = await longest(page, async () => {
      await page.reload()
      await expect.poll(shown, { timeout: 60_000 }).toBe(Object.keys(ANSWERS).length)
    })
    if (process.env['SHOW_TIMES']) console.log(slowness, times)
    const { history, ...answers } = times
    expect(Object.entries(answers).filter(([, ms]) => ms > LIMIT_MS * slowness)).toEqual([])
    expect(history).toBeLessThan(HISTORY_LIMIT_MS * slowness)
    expect(complaints).toEqual([])
  }, 180_000)

  it('[EL-33] shows the first hundred of 15,000 options and sources, and the others on request', async () => {
    const options = Array.from({ length: 15_000 }, (_, at) => `Option ${at + 1}`)
    const sources = options.map(title => ({ title, url: 'https://shop.test/' }))
    stage = await stages.open({
      reply: ({ text }) => ({
        content: `You said: ${text}`,
        ...(text === 'options' && { role: 'follow up question agent', messageData: { options, sources } }),
      }),
    })
    const { page } = await stage.open('<ai-agent-chat endpoint="ENDPOINT" agent-id="help"></ai-agent-chat>')
    await page.getByText('Online').waitFor()
    const buttons = page.locator('ai-agent-chat button.option')
    const slowness = await slownessOf(page)
    const ms = await longest(page, async () => {
      await write(page, 'options')
      await expect.poll(() => buttons.count()).toBe(100)
    })
    if (process.env['SHOW_TIMES']) console.log(slowness, ms)
    expect(ms).toBeLessThan(LIMIT_MS * slowness)
    const more = page.locator('ai-agent-chat .options').getByRole('button', { name: '+14,900' })
    await more.click()
    await expect.poll(() => buttons.count(), { timeout: 10_000 }).toBe(200)
    await buttons.nth(149).click()
    await expect.poll(() => bubbles(page).then(texts => texts.at(-1))).toBe('You said: Option 150')
    // The chosen one is among those that are shown.
    expect(await page.locator('ai-agent-chat .option.chosen').first().textContent()).toBe('Option 150')
  })
})
