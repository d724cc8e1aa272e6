import { hasChromium } from '@aiagent/test-support/chromium'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { type ChatStage, listen, received, write } from './chat-page.ts'
import { chatStages } from './chat-stages.ts'

const CHAT = '<ai-agent-chat endpoint="ENDPOINT" agent-id="help" support-email="help@shop.example"></ai-agent-chat>'
/** The next automatic attempt is later than any test. */
const SLOW = `${CHAT}<script>document.querySelector('ai-agent-chat').config =
  { baseReconnectDelay: 600000, maxReconnectDelay: 600000 }</script>`

describe.skipIf(!hasChromium())('the connection line', () => {
  const stages = chatStages()
  let stage: ChatStage

  const notice = (page: Page) => page.locator('ai-agent-chat .notice')
  const tryNow = (page: Page) => page.getByRole('button', { name: 'Try now' })
  const email = (page: Page) => page.getByRole('link', { name: 'Write an email' })
  const sessions = () => received(stage.service).sessionCalls
  const lose = async (page: Page) => {
    const { faults } = stage.service.emulator
    faults.add({ kind: 'refuse-upgrade', status: 503 })
    faults.add({ kind: 'drop' })
    await page.waitForFunction(
      () => document.querySelector('ai-agent-chat')?.view?.getSnapshot().connection.state === 'reconnecting',
    )
  }

  /** Lets time pass by `runFor()` alone. */
  const pause = async (page: Page) => page.clock.pauseAt((await page.evaluate(() => Date.now())) + 1_000)
  const state = (page: Page) =>
    page.evaluate(() => document.querySelector('ai-agent-chat')?.view?.getSnapshot().connection.state)

  it('[EL-82] offers other ways after fifteen seconds without a first connection, once a second', async () => {
    stage = await stages.open()
    const { faults } = stage.service.emulator
    faults.add({ kind: 'answer', route: 'POST */session', status: 503 })
    const { page } = await stage.open(SLOW, { prepare: page => page.clock.install() })
    await expect.poll(sessions).toBe(1)
    await page.clock.runFor(4_000)
    await notice(page).getByText('Connecting').waitFor()
    expect(await tryNow(page).count()).toBe(0)
    const spoken = await listen(page)
    await page.clock.runFor(12_000)
    await notice(page).getByText('We cannot reach the service.').waitFor()
    expect(await email(page).getAttribute('href')).toBe('mailto:help@shop.example')
    expect(await notice(page).textContent()).toMatch(/Next attempt in \d+ minutes?\./)
    expect(await spoken()).toEqual(['We cannot reach the service.'])
    await pause(page)
    const click = () => tryNow(page).evaluate(node => (node as HTMLElement).click())
    for (const expected of [2, 3]) {
      await click()
      await expect.poll(sessions).toBe(expected)
      await expect.poll(() => state(page)).toBe('reconnecting')
      await page.clock.runFor(900)
      await click()
      await page.clock.runFor(50)
      expect(await state(page)).toBe('reconnecting')
      await page.clock.runFor(100)
    }
    expect(sessions()).toBe(3)
    faults.lift()
    await page.clock.resume()
    await tryNow(page).click()
    await page.getByText('Online').waitFor()
    expect(await notice(page).count()).toBe(0)
    // The button is gone, and the focus moves to the next control.
    expect(await page.getByRole('textbox').evaluate(node => node.matches(':focus'))).toBe(true)
  })

  it('[EL-82] shows when the next attempt follows after a lost connection, whatever the clock says', async () => {
    stage = await stages.open()
    const { page } = await stage.open(SLOW.replaceAll('600000', '30000'), { prepare: page => page.clock.install() })
    await page.getByText('Online').waitFor()
    await lose(page)
    await page.clock.runFor(4_000)
    await notice(page).getByText('Connection lost').waitFor()
    const seconds = async () => Number(/in (\d+) seconds/.exec((await notice(page).textContent()) ?? '')?.[1])
    await pause(page)
    // What the clock has passed is drawn.
    await page.clock.runFor(1_000)
    const before = await seconds()
    expect(before).toBeGreaterThan(15)
    expect(before).toBeLessThanOrEqual(26)
    expect(await email(page).count()).toBe(0)
    await page.evaluate(() => {
      const { now } = Date
      Date.now = () => now() - 3_600_000
    })
    await page.clock.runFor(2_000)
    await expect.poll(seconds).toBe(before - 2)
    await page.clock.resume()
    stage.service.emulator.faults.lift()
    await tryNow(page).click()
    await page.getByText('Online').waitFor()
    await write(page, 'hello')
    await page.getByText('You said: hello').first().waitFor()
  })

  it('[EL-83] shows a wait that the service has asked for in place of "Try now"', async () => {
    stage = await stages.open()
    const { faults } = stage.service.emulator
    faults.add({ kind: 'answer', route: 'POST */session', status: 503, headers: { 'retry-after': '60' } })
    const { page } = await stage.open(
      `${CHAT}<script>document.querySelector("ai-agent-chat").config = { maxReconnectDelay: 60000 }</script>`,
      {
        prepare: page => page.clock.install(),
      },
    )
    await expect.poll(sessions).toBe(1)
    await page.waitForFunction(
      () => document.querySelector('ai-agent-chat')?.view?.getSnapshot().connection.isWaitAsked,
    )
    await page.clock.runFor(16_000)
    await notice(page)
      .getByText(/^The service is busy.\s*Next attempt in \d\d seconds./)
      .waitFor()
    expect(await email(page).count()).toBe(1)
    expect(await tryNow(page).count()).toBe(0)
    faults.lift()
    await page.clock.runFor(45_000)
    await page.getByText('Online').waitFor()
  })

  it('[EL-84] announces what becomes of messages, once, and together as one sentence', async () => {
    stage = await stages.open({ settings: { sendHistory: false } })
    const { page } = await stage.open(CHAT)
    await page.getByText('Online').waitFor()
    const spoken = await listen(page)
    const { faults } = stage.service.emulator
    faults.add({ kind: 'lose-frames', direction: 'to-service' })
    for (const text of ['one', 'two']) await write(page, text)
    await page.getByText('Sent', { exact: true }).waitFor()
    faults.lift()
    faults.add({ kind: 'drop' })
    await expect.poll(spoken, { timeout: 10_000 }).toContain('2 messages may not have arrived.')
    await page.getByText('Online').waitFor()
    await page.getByRole('button', { name: 'Send again' }).first().click()
    await expect.poll(spoken, { timeout: 10_000 }).toContain('1 message was sent.')
    await page.getByText('You said: one').first().waitFor()
    const lines = (await spoken()).filter(line => /arrived|sent/.test(line))
    expect(lines).toEqual(['2 messages may not have arrived.', '1 message was sent.'])
    // Nothing of it is news after a reload.
    await page.reload()
    await page.getByText('Online').waitFor()
    const later = await listen(page)
    await write(page, 'three')
    await page.getByText('You said: three').first().waitFor()
    expect((await later()).filter(line => /arrived|sent/.test(line))).toEqual([])
  })

  it('[EL-84] says a single state as it is shown, and nothing of a user who has left', async () => {
    stage = await stages.open({ reply: () => [] })
    const { page } = await stage.open(
      `${SLOW}<script>addEventListener('aiagent-ready', event => { window.agent = event.detail.agent })</script>`,
    )
    await page.getByText('Online').waitFor()
    const spoken = await listen(page)
    await lose(page)
    await write(page, 'waits')
    await page.getByText('Waiting to be sent').waitFor()
    await page.evaluate(() => {
      Reflect.get(window, 'agent').clearQueue()
    })
    await expect.poll(spoken, { timeout: 5_000 }).toContain('Not sent.')
    await write(page, 'waits too')
    await page.getByText('Waiting to be sent').waitFor()
    await page.evaluate(() => Reflect.get(window, 'agent').logout())
    await page.getByText('waits too').waitFor({ state: 'detached' })
    expect((await spoken()).filter(line => /sent|arrived/i.test(line))).toEqual(['Not sent.'])
  })
})
