import type { AiAgent } from '@aiagent/client'
import type { Reply } from '@aiagent/emulator'
import { hasChromium } from '@aiagent/test-support/chromium'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { type ChatStage, write } from './chat-page.ts'
import { chatStages } from './chat-stages.ts'

const LAUNCHER = '<ai-agent-launcher endpoint="ENDPOINT" agent-id="help" open></ai-agent-launcher>'

/** An answer of about 150 words, with a short message after it where one is wanted. */
const LONG = `**Short answer: no, you keep your settings.**

${'Press the button on the back for ten seconds, until the light turns orange, and wait until it is green again. '.repeat(5)}

1. Wait until the light is green.
2. Open the settings of the router in your browser.
3. Enter the name and the password from the label.
4. If it turns red, check the cable and press the button again.

${'The label is below the device, beside the number of the series, and has both in large letters. '.repeat(3)}`

const reply: Reply = ({ text }) => {
  if (/more/.test(text)) return [{ content: LONG }, { content: 'Would you like to know more?' }]
  if (/long/.test(text)) return { content: LONG }
  return { content: `You said: ${text}` }
}

describe.skipIf(!hasChromium())('a new answer', () => {
  const stages = chatStages()
  let stage: ChatStage

  const open = async (width: number, height: number, prepare?: (page: Page) => Promise<void>) => {
    stage = await stages.open({ reply, settings: { historyLimit: 200 } })
    const { page } = await stage.open(LAUNCHER, {
      async prepare(page) {
        await page.setViewportSize({ width, height })
        await prepare?.(page)
      },
    })
    await page.getByText('Online').waitFor()
    return page
  }
  const bubble = (page: Page, text: string | RegExp) => page.locator('ai-agent-chat .bubble', { hasText: text }).last()
  const toEnd = (page: Page) => page.locator('ai-agent-chat .to-end')
  const say = (content: string) => {
    const { control, world } = stage.service.emulator
    control.say([...world.sessions.keys()][0] ?? '', { content })
  }
  /** Distance of the top of a message, with its author, from that of the list. */
  const top = (page: Page, text: string | RegExp) =>
    bubble(page, text).evaluate(node => {
      const list = node.closest('.log') as HTMLElement
      let top = -list.scrollTop - list.offsetTop
      const message = node.parentElement?.querySelector('.by') ?? node
      for (let at = message as HTMLElement | null; at && at !== list.parentElement; at = at.offsetParent as HTMLElement)
        top += at.offsetTop
      return Math.round(top)
    })
  /** Distances of the top and the bottom of a bubble from the top of the list. */
  const edges = (page: Page, text: string | RegExp) =>
    bubble(page, text).evaluate(node => {
      const { top, bottom } = node.getBoundingClientRect()
      const list = node.closest('.log')?.getBoundingClientRect().top ?? 0
      return [top, bottom].map(edge => Math.round(edge - list))
    })
  /** Distance of the view from the end of the list. */
  const below = (page: Page) =>
    page.getByRole('log').evaluate(list => Math.round(list.scrollHeight - list.clientHeight - list.scrollTop))
  const unread = (page: Page) => page.locator('ai-agent-launcher .badge').textContent()
  const ask = async (page: Page, text: string, answer: string | RegExp = `You said: ${text}`) => {
    await write(page, text)
    await bubble(page, answer).waitFor()
  }
  /** Waits until what was rendered has its final height, with its Markdown. */
  const settled = async (page: Page) => {
    await page.locator('ai-agent-chat .text ol').last().waitFor()
    await page.evaluate(() => new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(resolve))))
  }

  it.each([
    [1440, 900],
    [1366, 650],
    [390, 844],
  ])('[EL-25] is shown from its beginning, and a button leads to its end, at %i x %i', async (width, height) => {
    const page = await open(width, height)
    for (const text of ['one', 'two', 'three']) await ask(page, text)
    await ask(page, 'a long one', /Short answer/)
    await settled(page)
    await expect.poll(async () => (await edges(page, 'a long one'))[0]).toBe(8)
    expect(await top(page, /Short answer/)).toBeLessThan(100)
    await toEnd(page).waitFor()
    expect(await toEnd(page).getAttribute('aria-label')).toBe('To the latest message')
    expect(await unread(page)).toBe('')
    expect(await page.locator('ai-agent-chat .divider.unread').count()).toBe(0)
    await toEnd(page).click()
    await expect.poll(() => below(page)).toBe(0)
    expect(await toEnd(page).count()).toBe(0)
    // The user's own message leads to the end from wherever the list is, and so does a short answer.
    await ask(page, 'a long one', /Short answer/)
    await toEnd(page).waitFor()
    await ask(page, 'thanks')
    await expect.poll(() => below(page)).toBe(0)
  })

  it('[EL-25] stays at its beginning when a short message of the same turn follows', async () => {
    const page = await open(1366, 650)
    await page.locator('ai-agent-chat').evaluate(chat => {
      const reported: number[] = []
      Reflect.set(window, 'reported', reported)
      chat.addEventListener('aiagent-unread', event =>
        reported.push((event as CustomEvent<{ count: number }>).detail.count),
      )
    })
    await ask(page, 'long, and more', 'Would you like to know more?')
    await settled(page)
    await expect.poll(async () => (await edges(page, 'long, and more'))[0]).toBe(8)
    say('One more thing.')
    await bubble(page, 'One more thing.').waitFor()
    expect((await edges(page, 'long, and more'))[0]).toBe(8)
    expect(await unread(page)).toBe('')
    await toEnd(page).click()
    await expect.poll(() => below(page)).toBe(0)
    // What the user sees as it arrives was at no time unread.
    expect(new Set(await page.evaluate(() => Reflect.get(window, 'reported')))).toEqual(new Set([0]))
    // At the end again, what comes is followed.
    say('And another one.')
    await bubble(page, 'And another one.').waitFor()
    await expect.poll(() => below(page)).toBe(0)
  })

  it('[EL-25] that fits is followed until its beginning would leave the view', async () => {
    const page = await open(1440, 900)
    await ask(page, 'first')
    for (let index = 0; index < 20; index++) say(`Line ${index} of an answer in many messages.`)
    await bubble(page, 'Line 19').waitFor()
    await expect.poll(async () => (await edges(page, /^first/))[0]).toBe(8)
    await toEnd(page).waitFor()
  })

  it('[EL-110] leaves one line of a long question in view, and in a low chat none', async () => {
    const page = await open(1366, 650)
    const question = `${'This is a question with many words. '.repeat(12)}Is a long answer possible?`
    await ask(page, question, /Short answer/)
    await settled(page)
    const { line, padding } = await bubble(page, /^This is/).evaluate(node => {
      const { lineHeight, paddingBlockEnd } = getComputedStyle(node)
      return { line: Number.parseFloat(lineHeight), padding: Number.parseFloat(paddingBlockEnd) }
    })
    await expect.poll(async () => Math.abs(((await edges(page, /^This is/))[1] ?? 0) - line - padding)).toBeLessThan(2)
    await page.setViewportSize({ width: 1366, height: 340 })
    await expect.poll(() => top(page, /Short answer/)).toBe(8)
  })

  it('[EL-110] offers to go to its end wherever something of it is cut', async () => {
    const page = await open(1366, 650)
    await ask(page, 'a long one', /Short answer/)
    await settled(page)
    await toEnd(page).click()
    for (const [distance, count] of [
      [40, 1],
      [7, 0],
      [10, 1],
    ] as const) {
      await page.getByRole('log').evaluate((list, px) => {
        list.scrollTop = list.scrollHeight - list.clientHeight - px
      }, distance)
      await expect.poll(() => toEnd(page).count()).toBe(count)
    }
    // That near, the list follows nevertheless.
    say('One more thing.')
    await bubble(page, 'One more thing.').waitFor()
    await expect.poll(() => below(page)).toBe(0)
  })

  it('[EL-25] keeps the place of a user who reads above', async () => {
    const page = await open(390, 844)
    for (let index = 0; index < 8; index++) await ask(page, `question ${index}`)
    await expect.poll(() => unread(page)).toBe('')
    await page.getByRole('log').evaluate(list => list.scrollTo(0, 0))
    await toEnd(page).waitFor()
    const before = await top(page, 'You said: question 0')
    say(LONG)
    await page.getByText('1 new message').waitFor()
    await settled(page)
    expect(await top(page, 'You said: question 0')).toBe(before)
    expect(await unread(page)).toBe('1')
  })

  it('[EL-25] that arrived while the launcher was closed is shown from the divider above it', async () => {
    const page = await open(1366, 650)
    for (let index = 0; index < 8; index++) await ask(page, `question ${index}`)
    await expect.poll(() => unread(page)).toBe('')
    await page.keyboard.press('Escape')
    say(LONG)
    await expect.poll(() => unread(page)).toBe('1')
    await page.getByRole('button', { name: 'Chat, 1 new message', exact: true }).click()
    await settled(page)
    const divider = page.locator('ai-agent-chat .divider.unread')
    const offset = () =>
      divider.evaluate(
        node => node.getBoundingClientRect().top - (node.closest('.log')?.getBoundingClientRect().top ?? 0),
      )
    // A page scrolls by whole pixels, so that half a pixel may be left.
    await expect.poll(async () => Math.abs((await offset()) - 8)).toBeLessThanOrEqual(0.5)
  })

  it('[EL-25] that arrives as soon as the one before is read is read too', async () => {
    const page = await open(1366, 650, async page => {
      await page.clock.install()
      await page.addInitScript(() =>
        addEventListener('aiagent-ready', event => Reflect.set(window, 'agent', (event as CustomEvent).detail.agent)),
      )
    })
    await ask(page, 'first')
    await expect.poll(() => unread(page)).toBe('')
    // Without frames, what happens now is not rendered before the clock goes on.
    await page.evaluate(() => {
      const agent = Reflect.get(window, 'agent') as AiAgent
      agent.markRead = () => Reflect.set(window, 'isRead', true)
    })
    await page.clock.pauseAt(Date.now() + 60_000)
    say('The first answer.')
    await expect
      .poll(async () => {
        await page.clock.runFor(1)
        return page.evaluate(() => Reflect.get(window, 'isRead'))
      })
      .toBe(true)
    say('The second answer.')
    await expect
      .poll(() =>
        page.evaluate(() => (Reflect.get(window, 'agent') as AiAgent).getTranscript().at(-1)?.message.content),
      )
      .toBe('The second answer.')
    await page.clock.resume()
    await bubble(page, 'The second answer.').waitFor()
    await page.keyboard.press('Escape')
    say('While it is closed.')
    await expect.poll(() => unread(page)).toBe('1')
  })

  it('[EL-25] of a restored conversation is shown at its end', async () => {
    const page = await open(390, 844)
    await ask(page, 'a long one', /Short answer/)
    await toEnd(page).waitFor()
    await page.reload()
    await bubble(page, /Short answer/).waitFor()
    await page.getByText('Online').waitFor()
    await settled(page)
    await expect.poll(() => below(page)).toBe(0)
  })
})
