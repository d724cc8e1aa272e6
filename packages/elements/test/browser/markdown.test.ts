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

  it('[EL-102] has the direction of its own first letter in each paragraph, item, quote and cell, and code from left to right', async () => {
    const arabic = '\u0645\u0631\u062d\u0628\u0627'
    const content = [
      'Hello',
      `${arabic} Hello`,
      `- one\n- ${arabic}`,
      `> ${arabic}`,
      `## ${arabic}`,
      `| a | b |\n|---|---|\n| c | ${arabic} |`,
      `\`\`\`\n${arabic}\n\`\`\``,
    ].join('\n\n')
    const stage = await stages.open({ reply: () => ({ content }) })
    const { page } = await stage.open(CHAT)
    await page.getByText('Online').waitFor()
    await write(page, 'mixed?')
    await page.locator('ai-agent-chat .agent table').waitFor()
    /** Whether the text of each element begins at its left or right side. */
    const sides = (selector: string) =>
      page.locator(`ai-agent-chat .agent .text ${selector}`).evaluateAll(all =>
        all.map(element => {
          const range = document.createRange()
          range.selectNodeContents(element)
          const [text, box] = [range.getBoundingClientRect(), element.getBoundingClientRect()]
          return text.left - box.left < box.right - text.right ? 'left' : 'right'
        }),
      )
    expect(await sides('> p')).toEqual(['left', 'right'])
    expect(await sides('li')).toEqual(['left', 'right'])
    expect(await sides('blockquote p, h3')).toEqual(['right', 'right'])
    expect(await sides('pre')).toEqual(['left'])
    const directions = await page
      .locator('ai-agent-chat .agent .text :is(li, blockquote, .code)')
      .evaluateAll(all => all.map(element => getComputedStyle(element).direction))
    expect(directions).toEqual(['ltr', 'rtl', 'rtl', 'ltr'])
  })

  it('[EL-103] has headings below that of the chat, and boxes of tasks with the text of their line as name', async () => {
    const content =
      '## Steps\n\n#### First\n\n- [ ] Unpack &amp; **check**\n- [x] Plug in\n\n1. [ ] Loose\n\n2. [x] `Lamp`'
    const stage = await stages.open({ reply: () => ({ content }) })
    const { page } = await stage.open(CHAT)
    await page.getByText('Online').waitFor()
    await write(page, 'steps?')
    for (const [name, checked] of [
      ['Unpack & check', false],
      ['Plug in', true],
      ['Loose', false],
      ['Lamp', true],
    ] as const)
      await page.getByRole('checkbox', { name, exact: true, checked }).waitFor()
    const names = await page
      .locator('ai-agent-chat .text :is(h1, h2, h3, h4, h5, h6)')
      .evaluateAll(all => all.map(each => each.localName))
    expect(names).toEqual(['h3', 'h4'])
    expect(
      await page
        .locator('ai-agent-chat .text ul > li')
        .first()
        .evaluate(item => getComputedStyle(item).listStyleType),
    ).toBe('none')
  })
})
