import { examineByAxe } from '@aiagent/test-support/axe'
import { hasChromium, type LaunchedChromium, launchChromium } from '@aiagent/test-support/chromium'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type EmulatorServer, serveEmulator } from '../../src/node/index.ts'

const WAITING = 'a'.repeat(32)
const OTHER = 'b'.repeat(32)

describe.skipIf(!hasChromium())('the desk page', () => {
  let chromium: LaunchedChromium
  let server: EmulatorServer
  let page: Page
  const complaints: string[] = []
  beforeAll(async () => {
    chromium = await launchChromium()
  })
  beforeEach(async () => {
    complaints.length = 0
    server = await serveEmulator({ reply: () => [] })
    page = await chromium.newPage()
    page.on('console', message => complaints.push(message.text()))
    page.on('pageerror', error => complaints.push(error.message))
    await page.goto(server.deskUrl)
  })
  afterEach(async () => {
    await page.close()
    await server.close()
  })
  afterAll(() => chromium?.close())

  const messages = () => page.getByRole('log').locator('p').allTextContents()

  it('[PLAY-11] shows who waits, and answers by keyboard', async () => {
    await page.getByText('No conversation yet').waitFor()
    const { desk } = server.emulator
    desk.open(WAITING)
    const chat = desk.chats[0]
    await page.getByRole('button', { name: 'Chat 1 waiting' }).waitFor()
    expect(await page.getByRole('status').textContent()).toBe('Chat 1: a customer waits.')
    expect(await page.title()).toBe('(1) Desk of the emulator')
    chat?.receive('1', '<img src=x onerror=alert(1)> hello')

    await page.getByLabel('Your name').fill('Support 7')
    await page.getByLabel('Answer').pressSequentially('Good day')
    await expect.poll(() => [chat?.isTyping, chat?.name]).toEqual([true, 'Support 7'])
    await page.keyboard.press('Shift+Enter')
    await page.keyboard.type('How can I help?')
    await page.keyboard.press('Enter')
    await expect.poll(messages).toEqual(['<img src=x onerror=alert(1)> hello', 'Good day\nHow can I help?'])
    expect(chat?.isTyping).toBe(false)
    expect(await page.getByLabel('Answer').evaluate(field => field === document.activeElement)).toBe(true)
    expect(await page.locator('img').count()).toBe(0)

    await page.getByLabel('Answer').fill('a draft')
    await expect.poll(() => chat?.isTyping).toBe(true)
    await page.getByLabel('Answer').fill('')
    await expect.poll(() => chat?.isTyping).toBe(false)
    await page.getByRole('button', { name: 'End the conversation' }).press('Enter')
    await page.getByText('The conversation has ended.').waitFor()
    expect(chat?.state).toBe('ended')
    expect(await page.getByRole('heading', { name: 'Chat 1' }).evaluate(each => each === document.activeElement)).toBe(
      true,
    )
    expect(complaints).toEqual([])
  })

  it('[PLAY-11] shows the conversation before the chat', async () => {
    const { desk } = server.emulator
    desk.open(WAITING, [
      { from: 'customer', text: 'My router <b>blinks</b>', at: 1 },
      { from: 'agent', name: 'Help Centre', text: 'A colleague takes over.', at: 2 },
    ])
    desk.open(OTHER)
    await page.getByRole('button', { name: 'Chat 1 waiting' }).click()
    const before = page.getByRole('list', { name: 'Before the hand-over' })
    await expect
      .poll(() => before.locator('p').allTextContents())
      .toEqual(['My router <b>blinks</b>', 'A colleague takes over.'])
    expect(await before.locator('small').last().textContent()).toContain('Help Centre')
    desk.chats[0]?.receive('1', 'hello?')
    await page.getByText('hello?').last().waitFor()
    expect(await messages()).toHaveLength(3)
    expect(await examineByAxe(page)).toEqual([])
    await page.getByRole('button', { name: 'Chat 2 waiting' }).click()
    await expect.poll(() => before.isVisible()).toBe(false)
    expect(complaints).toEqual([])
  })

  it('[PLAY-11] sends nothing with the Enter that confirms a composition', async () => {
    const { desk } = server.emulator
    desk.open(WAITING)
    await page.getByRole('button', { name: 'Chat 1 waiting' }).waitFor()
    const field = page.getByLabel('Answer')
    await field.fill('nihongo')
    const press = (init: { keyCode: number; isComposing?: boolean }) =>
      field.evaluate((element, init) => {
        const event = new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true, ...init })
        element.dispatchEvent(event)
        return event.defaultPrevented
      }, init)
    // Safari ends the composition first, and then reports the key by this code.
    expect(await press({ keyCode: 229 })).toBe(false)
    expect(await press({ keyCode: 13, isComposing: true })).toBe(false)
    expect(await field.inputValue()).toBe('nihongo')
    expect(await press({ keyCode: 13 })).toBe(true)
    await expect.poll(messages).toEqual(['nihongo'])
  })

  it('[PLAY-11] keeps a draft with its conversation', async () => {
    const { desk } = server.emulator
    desk.open(WAITING)
    await page.getByRole('button', { name: 'Chat 1' }).waitFor()
    desk.open(OTHER)
    await page.getByLabel('Answer').fill('for the first')
    await page.getByRole('button', { name: 'Chat 2' }).click()
    expect(await page.getByLabel('Answer').inputValue()).toBe('')
    await page.getByLabel('Answer').fill('for the second')
    await page.keyboard.press('Enter')
    await expect.poll(() => desk.chats[1]?.messages.map(({ text }) => text)).toEqual(['for the second'])
    await page.getByRole('button', { name: 'Chat 1' }).click()
    expect(await page.getByLabel('Answer').inputValue()).toBe('for the first')
    expect(desk.chats[0]?.messages).toEqual([])
    expect(complaints).toEqual([])
  })

  it('[PLAY-11] gives an answer that could not be sent back to its conversation', async () => {
    const { desk } = server.emulator
    desk.open(WAITING)
    await page.getByRole('button', { name: 'Chat 1' }).waitFor()
    desk.open(OTHER)
    let refuse = () => {}
    const asked = new Promise<void>(resolve => {
      refuse = resolve
    })
    await page.route(/chat-1\/say/, async route => {
      await asked
      await route.fulfill({ status: 503, json: { message: 'not now' } })
    })
    await page.getByLabel('Answer').fill('for the first')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Chat 2' }).click()
    refuse()
    await page.getByRole('alert').getByText('not now').waitFor()
    expect(await page.getByLabel('Answer').inputValue()).toBe('')
    await page.getByRole('button', { name: 'Chat 1' }).click()
    expect(await page.getByLabel('Answer').inputValue()).toBe('for the first')
  })

  it('[PLAY-11] says when the emulator is away, and goes on when it is back', async () => {
    server.emulator.desk.open(WAITING)
    await page.getByRole('button', { name: 'Chat 1' }).waitFor()
    server.emulator.faults.add({ kind: 'restart', downMs: 300 })
    await page.getByRole('alert').getByText('The emulator does not answer').waitFor()
    server.emulator.desk.chats[0]?.receive('1', 'still here')
    await expect.poll(messages, { timeout: 5000 }).toEqual(['still here'])
    expect(await page.getByRole('alert').textContent()).toBe('')
  })

  it('[PLAY-11] keeps the rules of axe, in light and dark', async () => {
    const { desk } = server.emulator
    expect(await examineByAxe(page)).toEqual([])
    desk.open(WAITING)
    desk.open(OTHER)
    desk.chats[0]?.receive('1', 'hello')
    desk.chats[0]?.say('Good day')
    await page.getByRole('button', { name: 'Chat 1' }).click()
    await expect.poll(messages).toEqual(['hello', 'Good day'])
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      expect(await examineByAxe(page)).toEqual([])
    }
  })
})
