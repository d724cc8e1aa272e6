import type { Locator } from 'playwright-core'
import { afterAll, afterEach, expect, it, vi } from 'vitest'
import { type ChatPage, holdConversation } from './conversation.ts'
import { expectReadable, takePicture } from './look.ts'
import { buildExample, launchChromium, openSite, received, type Stage } from './pages.ts'
import { type Example, smallChat } from './small-chat.ts'
import { expectApart, expectVisible } from './visible-parts.ts'

const chromium = await launchChromium()
afterAll(() => chromium.close())

let stage: Stage | undefined
afterEach(async () => {
  await stage?.page.context().setOffline(false)
  await stage?.close()
})

function webChat({ page }: Stage): Example {
  const input = page.getByRole('textbox')
  // Its live region has the options too.
  const suggestions = page.getByRole('toolbar', { name: 'Suggested actions' })
  const option = (text: string) => suggestions.getByRole('button', { name: text })
  const ratings = page.getByRole('button', { name: 'Like', exact: true })
  const chat: ChatPage = {
    texts: () => page.locator('.webchat__bubble__content .webchat__text-content').allInnerTexts(),
    async send(text) {
      await input.fill(text)
      // Until it is connected, WebChat leaves the text in the box.
      const sent = async () => {
        if (await input.inputValue()) await input.press('Enter')
        return input.inputValue()
      }
      await expect.poll(sent).toBe('')
    },
    choose: text => option(text).click(),
    rate: () => ratings.last().click(),
    seeOutage: () => page.getByRole('status').filter({ hasText: 'reconnecting' }).waitFor(),
  }
  return { chat, messages: page.locator('.webchat__bubble'), option, ratings, input }
}

it.each([
  { name: 'templates/vite', open: smallChat, restoresRatings: true },
  { name: 'examples/ai-sdk-vue', open: smallChat, restoresRatings: true },
  { name: 'examples/webchat', open: webChat, restoresRatings: false },
])(
  'the page $name holds the conversation, shows it again after a reload, and shows each part on the screen',
  async ({ name, open, restoresRatings }) => {
    const picture = name.replace(/.*\//, '')
    stage = await openSite(chromium, await buildExample(name))
    const { page } = stage
    // The window of a phone.
    await page.setViewportSize({ width: 420, height: 800 })
    const { chat, messages, option, ratings, input } = open(stage)
    await holdConversation(stage, chat)
    // Without the effects of a pointer that rests where a button was.
    await page.mouse.move(0, 0)
    await takePicture(page, picture)
    const pressed = page.locator('li, article', {
      has: page.getByRole('button', { name: /Like|Helpful/, pressed: true }),
    })
    expect(await pressed.allInnerTexts()).toEqual([expect.stringContaining('You said: Blue')])

    const texts = await chat.texts()
    await page.reload()
    await expect.poll(chat.texts).toEqual(texts)
    await expect.poll(() => pressed.count()).toBe(restoresRatings ? 1 : 0)
    expect(received(stage.service).sessionCalls).toBe(1)

    await chat.send('options')
    await expect.poll(() => chat.texts().then(all => all.at(-1))).toBe('Which one?')
    const red = option('Red').last()
    await red.waitFor()
    await page.context().setOffline(true)
    const line = page.getByRole('status').filter({ hasText: 'You are offline.' })
    await line.waitFor()
    await takePicture(page, `${picture}-offline`)
    const parts = [messages.nth(-3), messages.nth(-2), messages.last(), input, line]
    const [question, answer] = parts as [Locator, Locator]
    // A library may replace elements while it is looked at.
    await vi.waitFor(
      async () => {
        await expectVisible(page, { question, answer, option: red, rating: ratings.last(), input, line })
        await expectApart(parts)
        await expectReadable(page, { question, answer, option: red, line })
      },
      { timeout: 20_000, interval: 200 },
    )
  },
  // Building and drawing WebChat takes most of it, on a busy machine.
  180_000,
)
