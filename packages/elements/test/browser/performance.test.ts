import { hasChromium, type LaunchedChromium, launchChromium, recordTasks } from '@aiagent/test-support/chromium'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bundleElements, openChatStage } from './chat-page.ts'

const MESSAGES = 2000
/** Number of messages that are rendered unasked. */
const UNASKED = 500
const TEXT = 'A **longer** answer with [a link](https://shop.test) and `code`, over more than one line of the chat.'

describe.skipIf(!hasChromium())('<ai-agent-chat> with a long conversation', () => {
  let chromium: LaunchedChromium
  let files: Readonly<Record<string, string>>
  beforeAll(async () => {
    ;[chromium, files] = await Promise.all([launchChromium(), bundleElements()])
  })
  afterAll(() => chromium?.close())

  /** A page with a connected agent, to which the service has said a number of things. */
  const openWithMessages = async (messages: number, prepare?: (page: Page) => Promise<unknown>) => {
    const stage = await openChatStage(chromium.context, files, { settings: { historyLimit: MESSAGES } })
    const { page, complaints } = await stage.open('', { search: '?sdk', ...(prepare && { prepare }) })
    await page.waitForFunction(() => customElements.get('ai-agent-chat'))
    await page.evaluate(async endpoint => {
      const agent = new (Object(globalThis).sdk.AiAgent)({ id: 'help', endpoint })
      const chat = document.createElement('ai-agent-chat')
      // Rows have fractions of pixels in their heights, with any font.
      chat.style.setProperty('--aiagent-font-size', '15.3px')
      chat.agent = agent
      Object.assign(globalThis, { agent, chat })
      await agent.initialize()
      await agent.connect()
    }, stage.service.url)
    const { control, world } = stage.service.emulator
    const [session = ''] = world.sessions.keys()
    const say = (content: string) => control.say(session, { content })
    for (let index = 0; index < messages; index++) say(`${index}: ${TEXT}`)
    const size = () => page.evaluate(() => Object(globalThis).agent.getTranscriptSize() as number)
    await expect.poll(size, { timeout: 20_000 }).toBe(messages)
    return { stage, page, complaints, say }
  }
  /** Numbers of the messages that are rendered, in their order. */
  const numbers = (page: Page) =>
    page
      .locator('ai-agent-chat .row .text')
      .evaluateAll(texts => texts.map(({ textContent }) => Number.parseInt(textContent ?? '', 10)))
  /** How much the height of the list changes when the browser skips nothing: a jump for the user who scrolls there. */
  const wrongBy = (page: Page) =>
    page.getByRole('log').evaluate(list => {
      const before = list.scrollHeight
      const groups = [...list.querySelectorAll<HTMLElement>('.group')]
      for (const { style } of groups) style.contentVisibility = 'visible'
      const wrong = Math.abs(list.scrollHeight - before)
      for (const { style } of groups) style.contentVisibility = ''
      return wrong
    })
  const upTo = (end: number, count: number) => Array.from({ length: count }, (_, index) => end - count + index)

  it('[EL-13] opens 2,000 messages with a screen of them, adds the earlier ones unasked without moving, and types within a frame', async () => {
    const { stage, page, say } = await openWithMessages(MESSAGES)
    const rows = await page.evaluate(async () => {
      const chat = Object(globalThis).chat as HTMLElement
      const ready = new Promise(resolve => chat.addEventListener('aiagent-ready', resolve, { once: true }))
      document.body.append(chat)
      await ready
      const all = chat.shadowRoot?.querySelectorAll('.row') ?? []
      const last = all[all.length - 1]
      return {
        count: all.length,
        isShown: (last?.getBoundingClientRect().height ?? 0) > 0,
        text: last?.textContent,
        marked: last?.querySelector('strong')?.textContent,
      }
    })
    expect(rows).toMatchObject({
      count: 20,
      isShown: true,
      text: expect.stringContaining(`${MESSAGES - 1}: `),
      marked: 'longer',
    })
    // The user scrolls up at once: more is there without an idle moment, and what is in view stays where it is.
    const log = page.getByRole('log')
    const count = () => page.locator('ai-agent-chat [role=list] .row[role=listitem]').count()
    const moved = await log.evaluate(async list => {
      const top = (row: Element) => row.getBoundingClientRect().top - list.getBoundingClientRect().top
      const rows = () => list.querySelectorAll('.row')
      for (let round = 1; ; round++) {
        list.scrollTo(0, 0)
        const row = rows()[1] as HTMLElement
        const before = top(row)
        const count = rows().length
        while (rows().length === count) await new Promise(requestAnimationFrame)
        await new Promise(requestAnimationFrame)
        const more = rows().length - count
        // An idle moment may have been quicker, until 500 are there.
        if (more >= 100 || round === 40) return { by: Math.abs(top(row) - before), more, text: row.textContent }
      }
    })
    expect(moved.by).toBeLessThan(2)
    expect(moved.more).toBeGreaterThanOrEqual(100)
    // Messages arrive meanwhile; the rest follows unasked, up to a limit.
    const place = () =>
      log.evaluate((list, text) => {
        const row = [...list.querySelectorAll('.row')].find(({ textContent }) => textContent === text)
        return (row?.getBoundingClientRect().top ?? Number.NaN) - list.getBoundingClientRect().top
      }, moved.text)
    const before = await place()
    say(`${MESSAGES}: ${TEXT}`)
    const earlier = page.getByRole('button', { name: 'Show earlier messages' })
    await earlier.waitFor({ timeout: 60_000 })
    const shown = await numbers(page)
    expect(shown.length).toBeGreaterThanOrEqual(UNASKED)
    expect(shown.length).toBeLessThan(UNASKED + 110)
    expect(shown).toEqual(upTo(MESSAGES + 1, shown.length))
    expect(Math.abs((await place()) - before)).toBeLessThan(2)
    // The times follow the messages.
    await expect.poll(() => page.locator('ai-agent-chat .first time').first().textContent()).toMatch(/\d:\d\d/)
    // Without scrolling to it, which would add messages too.
    await earlier.dispatchEvent('click')
    await expect.poll(count).toBe(shown.length + 100)

    // What the browser may skip has the height that it will have in view: nothing moves.
    const skipped = page.locator('ai-agent-chat .group.skipped')
    await expect.poll(() => skipped.count()).toBe(Math.floor((shown.length + 100) / 10))
    expect(await skipped.first().evaluate(group => getComputedStyle(group).contentVisibility)).toBe('auto')
    expect(await wrongBy(page)).toBeLessThan(2)

    let isTyping = true
    const arriving = (async () => {
      for (let index = 0; isTyping; index++) {
        say(`more ${index}: ${TEXT}`)
        await new Promise(resolve => setImmediate(resolve))
        if (index % 5 === 0) await page.evaluate(() => new Promise(requestAnimationFrame))
      }
    })()
    const stop = await recordTasks(page)
    const typed = await page.evaluate(async () => {
      const field = document
        .querySelector('ai-agent-chat')
        ?.shadowRoot?.querySelector('textarea') as HTMLTextAreaElement
      field.focus()
      for (let index = 0; index < 60; index++) {
        await new Promise<void>(resolve => {
          setTimeout(function typeLetter() {
            document.execCommand('insertText', false, 'a')
            field.getBoundingClientRect()
            resolve()
          })
        })
        await new Promise(requestAnimationFrame)
      }
      return field.value
    })
    const times = (await stop()).calls('typeLetter').sort((one, other) => one - other)
    isTyping = false
    await arriving
    // Of the processor, so that a busy machine does not count.
    expect(times).toHaveLength(60)
    expect(times[30]).toBeLessThan(16)
    expect(typed).toBe('a'.repeat(60))
    await stage.close()
  })

  it('[EL-13] keeps the height of what is out of view right: a rating that moves on, another width, a font that is loaded late', async () => {
    // The last group is full, and shows the rating.
    const { stage, page, say } = await openWithMessages(100)
    await page.evaluate(() => void document.body.append(Object(globalThis).chat))
    const skipped = page.locator('ai-agent-chat .group.skipped')
    await expect.poll(() => skipped.count()).toBe(10)
    const log = page.getByRole('log')
    await log.evaluate(list => list.scrollTo(0, 0))
    say(`100: ${TEXT}`)
    await expect.poll(() => numbers(page).then(all => all.length)).toBe(101)
    await expect.poll(() => wrongBy(page)).toBeLessThan(2)
    await page.setViewportSize({ width: 400, height: 720 })
    await expect.poll(() => skipped.count()).toBe(10)
    await expect.poll(() => wrongBy(page)).toBeLessThan(2)
    await page.evaluate(() => {
      Object(globalThis).chat.style.setProperty('--aiagent-font-size', '19px')
      document.fonts.dispatchEvent(new Event('loadingdone'))
    })
    await expect.poll(() => wrongBy(page)).toBeLessThan(2)
    await stage.close()
  })

  it('[EL-22] completes a conversation in a hidden page, in a chat that is shown later, and in one that was removed meanwhile', async () => {
    const { stage, page, complaints, say } = await openWithMessages(200, target =>
      target.addInitScript(() => {
        const spoken: string[] = []
        Object.assign(globalThis, { spoken, isHidden: true })
        Object.defineProperty(document, 'hidden', { get: () => Object(globalThis).isHidden })
        // In a hidden page, they may not come at all.
        const request = requestIdleCallback.bind(globalThis)
        globalThis.requestIdleCallback = (...given) => (Object(globalThis).isHidden ? 0 : request(...given))
      }),
    )
    const complete = (end: number) => expect.poll(() => numbers(page), { timeout: 30_000 }).toEqual(upTo(end, end))
    const append = () => page.evaluate(() => void document.body.append(Object(globalThis).chat))
    await append()
    await complete(200)

    // The page is shown again, and the chat is removed before anything could be added.
    const remove = () => page.evaluate(() => Object(globalThis).chat.remove())
    const isEmpty = () => page.evaluate(() => Object(globalThis).chat.shadowRoot.childElementCount === 0)
    await remove()
    await expect.poll(isEmpty).toBe(true)
    const rows = await page.evaluate(async () => {
      const chat = Object(globalThis).chat as HTMLElement
      const ready = new Promise(resolve => chat.addEventListener('aiagent-ready', resolve, { once: true }))
      Object.assign(globalThis, { isHidden: false })
      document.body.append(chat)
      await ready
      const rows = chat.shadowRoot?.querySelectorAll('.row').length
      chat.remove()
      return rows
    })
    expect(rows).toBe(20)
    await expect.poll(isEmpty).toBe(true)
    // It comes back out of view.
    await page.evaluate(() => Object.assign(Object(globalThis).chat.style, { display: 'none' }))
    await append()
    say(`200: ${TEXT}`)
    await expect.poll(() => numbers(page)).toEqual(upTo(201, 21))
    // A focused button stays focused while rows are added above it, and nothing of them is announced.
    await page.evaluate(() => {
      const chat = Object(globalThis).chat as HTMLElement
      const region = chat.shadowRoot?.querySelector('[aria-live=polite]') as Element
      // The text of an earlier message may leave the region meanwhile.
      new MutationObserver(changes => {
        const added = changes.flatMap(({ addedNodes }) => [...addedNodes])
        Object(globalThis).spoken.push(...added.map(({ textContent }) => textContent))
      }).observe(region, { childList: true })
      chat.style.display = ''
      const button = [...(chat.shadowRoot?.querySelectorAll<HTMLElement>('.rating button') ?? [])].at(-1)
      Object.assign(globalThis, { button })
      button?.focus()
    })
    await complete(201)
    const isFocused = await page.evaluate(() => {
      const { chat, button } = Object(globalThis)
      return chat.shadowRoot.activeElement === button
    })
    expect(isFocused).toBe(true)
    expect(await page.evaluate(() => Object(globalThis).spoken)).toEqual([])
    const list = page.getByRole('log')
    expect(await list.evaluate(log => log.scrollHeight - log.scrollTop - log.clientHeight)).toBeLessThan(48)
    expect(complaints).toEqual([])
    await stage.close()
  })
})
