import { afterAll, expect, it } from 'vitest'
import { type ChatPage, holdConversation } from './conversation.ts'
import { buildExample, bundlePage, launchChromium, openPage, openSite, type Stage, unexpected } from './pages.ts'

const chromium = await launchChromium()
afterAll(() => chromium.close())

/** What a user does in each of these pages. */
function chatPage({ page }: Stage): ChatPage {
  const button = (name: string | RegExp) => page.getByRole('button', { name }).last()
  return {
    texts: () => page.locator('.user p, .agent p').allTextContents(),
    send: async text => {
      await page.getByLabel('Message').fill(text)
      await button('Send').click()
    },
    choose: option => button(option).click(),
    rate: () => button(/helpful/i).click(),
    seeOutage: () => expect.poll(() => page.getByRole('status').textContent()).toMatch(/reconnecting|connecting/),
  }
}

it.each(['ai-sdk', 'assistant-ui'])('the example %s holds the conversation', async name => {
  const stage = await openSite(chromium, await buildExample(`examples/${name}`))
  await holdConversation(stage, chatPage(stage))
  expect(unexpected(stage)).toEqual([])
  await stage.close()
})

it.each([
  ['7', {}, false],
  // It has no queue.
  ['6', { ai: 'ai-6', '@ai-sdk/react': 'ai-sdk-react-6' }, true],
])(
  'useChat() of the AI SDK %s holds the conversation over the chat transport',
  async (_version, alias, showsAtOnce) => {
    const stage = await openPage(chromium, await bundlePage('use-chat.tsx', '19', alias))
    const { rate, seeOutage, ...chat } = chatPage(stage)
    await holdConversation(stage, { ...chat, showsAtOnce })
    expect(unexpected(stage)).toEqual([])
    await stage.close()
  },
)

it('the runtime of assistant-ui for the AI SDK holds the conversation over useAiAgentChat()', async () => {
  const stage = await openPage(chromium, await bundlePage('ai-sdk-runtime.tsx'))
  const { rate, ...chat } = chatPage(stage)
  await holdConversation(stage, chat)
  expect(unexpected(stage)).toEqual([])
  await stage.close()
})
