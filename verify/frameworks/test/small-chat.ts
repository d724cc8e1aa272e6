import type { Locator } from 'playwright-core'
import type { ChatPage } from './conversation.ts'
import type { Stage } from './pages.ts'

/** A page of `examples/` or `templates/`, and where its parts are. */
export interface Example {
  readonly chat: ChatPage
  /** The boxes of the messages, in order. */
  readonly messages: Locator
  readonly option: (text: string) => Locator
  /** Buttons that rate messages. */
  readonly ratings: Locator
  readonly input: Locator
}

/** The small chat, which has the same elements in each framework and without one. */
export function smallChat({ page }: Pick<Stage, 'page'>): Example {
  const input = page.getByLabel('Message')
  const option = (text: string) => page.getByRole('button', { name: text })
  const ratings = page.getByRole('button', { name: 'Helpful' })
  const chat: ChatPage = {
    texts: () => page.locator('li > p').allTextContents(),
    async send(text) {
      await input.fill(text)
      await page.getByRole('button', { name: 'Send' }).click()
    },
    choose: text => option(text).click(),
    async rate() {
      await ratings.last().click()
      await page.getByRole('button', { name: 'Helpful', pressed: true }).waitFor()
    },
    seeOutage: () => page.getByRole('status').filter({ hasText: 'reconnecting' }).waitFor(),
  }
  return { chat, messages: page.locator('li:not(.working)'), option, ratings, input }
}
