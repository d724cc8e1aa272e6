import { hasChromium } from '@aiagent/test-support/chromium'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { bubbles, type ChatStage, write } from './chat-page.ts'
import { chatStages } from './chat-stages.ts'

const repeat = (unit: string, length: number) => unit.repeat(Math.ceil(length / unit.length)).slice(0, length)
const SIZE = 128 * 1024
const COLUMNS = 1000

/** Texts of 128 kB, by what they consist of, and some that a lexer needs seconds for although they are short. */
const ANSWERS: Readonly<Record<string, string>> = {
  delimiters: repeat('*a_', SIZE),
  'short delimiters': repeat('*a_', 5000),
  'a table': `${repeat('|a', 2 * COLUMNS)}|\n${repeat('|-', 2 * COLUMNS)}|\n${repeat('|\n', SIZE)}`,
  'a short table': `${repeat('|a', 2 * COLUMNS)}|\n${repeat('|-', 2 * COLUMNS)}|\n${repeat('|\n', 1000)}`,
  quotes: repeat('> ', SIZE),
  'quotes that go on': Array.from({ length: 24 }, (_, at) => `${'>'.repeat(24 - at)} a`).join('\n'),
  lists: repeat('- a\n', SIZE),
  brackets: repeat('![](', SIZE),
  links: repeat('[a](https://shop.test) ', SIZE),
  entities: repeat('&amp;', SIZE),
  'combining marks': repeat('e\u0301', SIZE),
  'code of many lines': `\`\`\`\n${repeat('a\n', SIZE)}`,
  words: repeat('**word** and `code`, ', SIZE),
}

/** Longest task of the page, in milliseconds. A busy machine makes it many times longer than the 100 ms that are intended. */
const LIMIT_MS = 1500

describe.skipIf(!hasChromium())('costly answers in <ai-agent-chat>', () => {
  const stages = chatStages()
  let stage: ChatStage

  const watch = (page: Page) =>
    page.addInitScript(() => {
      const tasks: number[] = []
      Object.assign(globalThis, { tasks })
      new PerformanceObserver(list => tasks.push(...list.getEntries().map(({ duration }) => duration))).observe({
        type: 'longtask',
        buffered: true,
      })
    })
  const longest = (page: Page) =>
    page.evaluate(async () => {
      // Further slices of a text are shown in later tasks: twice idle with half a frame left, they are done.
      for (let idle = 0; idle < 2; ) {
        const deadline = await new Promise<IdleDeadline>(resolve => requestIdleCallback(resolve))
        idle = deadline.timeRemaining() > 8 ? idle + 1 : 0
      }
      return Math.max(0, ...(Object(globalThis).tasks as number[]).splice(0))
    })

  it('[EL-33] shows 128 kB of any kind, and a history of them after a reload, without stopping the page', async () => {
    stage = await stages.open({ reply: ({ text }) => ({ content: `${ANSWERS[text] ?? 'none'} LAST` }) })
    const { page, complaints } = await stage.open(
      '<ai-agent-chat endpoint="ENDPOINT" agent-id="help" resume></ai-agent-chat>',
      { prepare: watch },
    )
    await page.getByText('Online').waitFor()
    await longest(page)
    const times: Record<string, number> = {}
    for (const name of Object.keys(ANSWERS)) {
      await write(page, name)
      const answered = () =>
        bubbles(page).then(texts => texts.at(-2) === name && (texts.at(-1)?.includes('LAST') ?? false))
      await expect.poll(answered, { timeout: 30_000 }).toBe(true)
      times[name] = await longest(page)
    }
    await page.reload()
    const shown = () => bubbles(page).then(texts => texts.filter(text => text.includes('LAST')).length)
    await expect.poll(shown, { timeout: 60_000 }).toBe(Object.keys(ANSWERS).length)
    times['history'] = await longest(page)
    if (process.env['SHOW_TIMES']) console.log(times)
    expect(Object.entries(times).filter(([, ms]) => ms > LIMIT_MS)).toEqual([])
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
    const { page } = await stage.open('<ai-agent-chat endpoint="ENDPOINT" agent-id="help"></ai-agent-chat>', {
      prepare: watch,
    })
    await page.getByText('Online').waitFor()
    await write(page, 'options')
    const buttons = page.locator('ai-agent-chat button.option')
    await expect.poll(() => buttons.count()).toBe(100)
    expect(await longest(page)).toBeLessThan(LIMIT_MS)
    const more = page.locator('ai-agent-chat .options').getByRole('button', { name: '+14,900' })
    await more.click()
    await expect.poll(() => buttons.count()).toBe(200)
    await buttons.nth(149).click()
    await expect.poll(() => bubbles(page).then(texts => texts.at(-1))).toBe('You said: Option 150')
    // The chosen one is among those that are shown.
    expect(await page.locator('ai-agent-chat .option.chosen').first().textContent()).toBe('Option 150')
  })
})
