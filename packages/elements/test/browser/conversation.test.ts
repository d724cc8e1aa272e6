import { hasChromium, type LaunchedChromium, launchChromium } from '@aiagent/test-support/chromium'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { bubbles, bundleElements, type ChatStage, openChatStage, write } from './chat-page.ts'

const CHAT = '<ai-agent-chat endpoint="ENDPOINT" agent-id="help"></ai-agent-chat>'

describe.skipIf(!hasChromium())('<ai-agent-chat>', () => {
  let chromium: LaunchedChromium
  let files: Readonly<Record<string, string>>
  let stage: ChatStage
  beforeAll(async () => {
    ;[chromium, files] = await Promise.all([launchChromium(), bundleElements()])
  })
  afterAll(() => chromium?.close())
  afterEach(() => stage?.close())

  it('[EL-01] holds a conversation: text, Markdown, sources, options, rating', async () => {
    stage = await openChatStage(chromium.context, files, {
      reply: ({ text }) =>
        text === 'options'
          ? [
              {
                content: 'Look **here**.',
                messageData: { sources: [{ title: 'Manual', url: 'https://shop.test/m' }] },
              },
              { content: 'Which one?', role: 'follow up question agent', messageData: { options: ['Red', 'Blue'] } },
            ]
          : { content: `You said: ${text}` },
    })
    const { page, complaints } = await stage.open(CHAT)
    await page.getByText('Online').waitFor()
    await write(page, 'hello')
    await expect.poll(() => bubbles(page)).toEqual(['hello', 'You said: hello'])
    await write(page, 'options')
    await page.getByRole('button', { name: 'Blue' }).click()
    await expect.poll(() => bubbles(page).then(all => all.at(-1))).toBe('You said: Blue')
    expect(await page.locator('ai-agent-chat .bubble strong').textContent()).toBe('here')
    expect(await page.getByRole('link', { name: /Manual/ }).getAttribute('href')).toBe('https://shop.test/m')
    await page.getByRole('button', { name: 'Helpful', exact: true }).last().click()
    const { world } = stage.service.emulator
    await expect
      .poll(() => [...world.sessions.values()].flatMap(({ feedback }) => feedback.map(({ rating }) => rating)))
      .toEqual(['up'])
    expect(await page.locator('ai-agent-chat [aria-pressed=true]').count()).toBe(1)
    expect(complaints).toEqual([])
  })
})
