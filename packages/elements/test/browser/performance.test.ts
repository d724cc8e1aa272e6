import { hasChromium, type LaunchedChromium, launchChromium } from '@aiagent/test-support/chromium'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bundleElements, openChatStage } from './chat-page.ts'

const MESSAGES = 2000
describe.skipIf(!hasChromium())('<ai-agent-chat> with a long conversation', () => {
  let chromium: LaunchedChromium
  let files: Readonly<Record<string, string>>
  beforeAll(async () => {
    ;[chromium, files] = await Promise.all([launchChromium(), bundleElements()])
  })
  afterAll(() => chromium?.close())

  it('[EL-13] opens 2,000 messages with a screen of them, keeps the place while it shows earlier ones, and types within a frame', async () => {
    const stage = await openChatStage(chromium.context, files, { settings: { historyLimit: MESSAGES } })
    const { page } = await stage.open('', { search: '?sdk' })
    await page.waitForFunction(() => customElements.get('ai-agent-chat'))
    await page.evaluate(async endpoint => {
      const agent = new (Object(globalThis).sdk.AiAgent)({ id: 'help', endpoint })
      Object.assign(globalThis, { agent })
      await agent.initialize()
      await agent.connect()
    }, stage.service.url)
    const { control, world } = stage.service.emulator
    const [session = ''] = world.sessions.keys()
    const text = 'A **longer** answer with [a link](https://shop.test) and `code`, over more than one line of the chat.'
    for (let index = 0; index < MESSAGES; index++) control.say(session, { content: `${index}: ${text}` })
    const size = () => page.evaluate(() => Object(globalThis).agent.getTranscriptSize() as number)
    await expect.poll(size, { timeout: 20_000 }).toBe(MESSAGES)

    const rows = await page.evaluate(async () => {
      const chat = document.createElement('ai-agent-chat')
      chat.agent = Object(globalThis).agent
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
    expect(rows).toMatchObject({ count: 20, isShown: true, text: expect.stringContaining('1999: '), marked: 'longer' })

    const log = page.getByRole('log')
    const count = () => page.locator('ai-agent-chat [role=list] .row[role=listitem]').count()
    await expect.poll(count).toBe(50)
    // The times follow the messages.
    await expect.poll(() => page.locator('ai-agent-chat .first time').first().textContent()).toMatch(/\d:\d\d/)
    /** How far the first row of the beginning is below the top of the list. */
    const place = (thenClicks = false) =>
      log.evaluate((list, thenClicks) => {
        if (thenClicks) list.scrollTo(0, 0)
        const row = [...list.querySelectorAll('.row')].find(found => found.textContent?.includes('1950: ')) as Element
        const found = row.getBoundingClientRect().top - list.getBoundingClientRect().top
        if (thenClicks) list.querySelector<HTMLElement>('.earlier button')?.click()
        return found
      }, thenClicks)
    // Scrolls and clicks in one task: a slow page learns of the scrolling after the click.
    const before = await place(true)
    await expect.poll(count).toBe(150)
    await expect.poll(async () => Math.abs((await place()) - before)).toBeLessThan(60)

    // What the browser may skip has the height that it will have in view: nothing moves.
    const skipped = page.locator('ai-agent-chat .group.skipped')
    await expect.poll(() => skipped.count()).toBe(15)
    expect(await skipped.first().evaluate(group => getComputedStyle(group).contentVisibility)).toBe('auto')
    const heights = await log.evaluate(async list => {
      const found: number[] = []
      for (const top of [list.scrollHeight, 0, list.scrollHeight / 2, list.scrollHeight]) {
        list.scrollTo(0, top)
        await new Promise(resolve => setTimeout(resolve))
        found.push(list.scrollHeight)
      }
      return Math.max(...found) - Math.min(...found)
    })
    expect(heights).toBeLessThan(20)

    let isTyping = true
    const arriving = (async () => {
      for (let index = 0; isTyping; index++) {
        control.say(session, { content: `more ${index}: ${text}` })
        await new Promise(resolve => setImmediate(resolve))
        if (index % 5 === 0) await page.evaluate(() => new Promise(requestAnimationFrame))
      }
    })()
    const typed = await page.evaluate(async () => {
      const field = document
        .querySelector('ai-agent-chat')
        ?.shadowRoot?.querySelector('textarea') as HTMLTextAreaElement
      field.focus()
      const times: number[] = []
      for (let index = 0; index < 60; index++) {
        const start = performance.now()
        document.execCommand('insertText', false, 'a')
        field.getBoundingClientRect()
        times.push(performance.now() - start)
        await new Promise(requestAnimationFrame)
      }
      return { middle: times.sort((one, other) => one - other)[30] ?? Number.NaN, text: field.value }
    })
    isTyping = false
    await arriving
    expect(typed.middle).toBeLessThan(16)
    expect(typed.text).toBe('a'.repeat(60))
    await stage.close()
  })
})
