import { hasChromium } from '@aiagent/test-support/chromium'
import { describe, expect, it } from 'vitest'
import { bubbles, write } from './chat-page.ts'
import { chatStages } from './chat-stages.ts'

const CHAT = '<ai-agent-chat endpoint="ENDPOINT" agent-id="help"></ai-agent-chat>'

describe.skipIf(!hasChromium())('an answer in Markdown', () => {
  const stages = chatStages()

  it('[EL-51] resolves character references in text and addresses, and none in code', async () => {
    const content =
      '9&ndash;17, 5&nbsp;&euro;, &#8364; &rarr; [A&amp;B](https://shop.test/?a=1&amp;b=2) &bogus; `&amp;`'
    const stage = await stages.open({ reply: () => ({ content }) })
    const { page } = await stage.open(CHAT)
    await page.getByText('Online').waitFor()
    await write(page, 'hours?')
    const text = '9\u201317, 5\u00a0\u20ac, \u20ac \u2192 A&B (opens in a new window) &bogus; &amp;'
    await expect.poll(() => bubbles(page)).toEqual(['hours?', text])
    expect(await page.locator('ai-agent-chat .agent a').getAttribute('href')).toBe('https://shop.test/?a=1&b=2')
  })
})
