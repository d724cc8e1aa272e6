import { hasChromium, type LaunchedChromium, launchChromium } from '@aiagent/test-support/chromium'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bubbles, bundleElements, openChatStage, received, write } from './chat-page.ts'
import { emulatorOf, SCENES, WITH_DESK } from './scenes.ts'

describe.skipIf(!hasChromium())('a chat with a colleague in the element', () => {
  let chromium: LaunchedChromium
  let files: Readonly<Record<string, string>>
  beforeAll(async () => {
    ;[chromium, files] = await Promise.all([launchChromium(), bundleElements()])
  })
  afterAll(() => chromium?.close())

  it('[VIEW-40] continues in place, survives a reload, and returns to the agent', async () => {
    const window = await chromium.newWindow()
    const stage = await openChatStage(window.context, files, emulatorOf(SCENES[0] as (typeof SCENES)[number]))
    const { page, complaints } = await stage.open(WITH_DESK)
    const heard = () => page.evaluate<string[]>('desk.heard')
    await page.getByText('Online').waitFor()
    await write(page, 'I want to talk to a person')
    await page.getByText('Waiting for a colleague').first().waitFor()
    // The way out is not offered while the colleague is here.
    expect(await page.locator('ai-agent-chat .escalation').count()).toBe(0)
    await page.evaluate("desk.say('Good day, this is Support.')")
    await page.locator('ai-agent-chat .colleague').getByText('Good day').waitFor()
    await write(page, 'My router is broken')
    await page.getByText('Sent').waitFor()
    expect(await heard()).toEqual(['My router is broken'])
    const before = await bubbles(page)

    await page.reload()
    await page.getByText('You are chatting with Our team').waitFor()
    expect(await page.evaluate('desk.opened')).toEqual(['chat-1'])
    expect(await bubbles(page)).toEqual(before)
    await write(page, 'I am back')
    await page.waitForFunction("desk.heard.includes('I am back')")

    await page.getByRole('button', { name: 'Back to the assistant' }).click()
    await page.getByText('The chat with our team has ended').first().waitFor()
    expect(await page.locator('ai-agent-chat .escalation').count()).toBe(1)
    await write(page, 'thanks')
    await page.locator('ai-agent-chat .agent').getByText('You said: thanks').waitFor()
    expect(received(stage.service).texts).toEqual(['I want to talk to a person', 'thanks'])
    expect(complaints).toEqual([])
    await stage.close()
    await window.close()
  })

  it('[VIEW-42] offers to send a message again that has failed, while the colleague is here', async () => {
    const window = await chromium.newWindow()
    const stage = await openChatStage(window.context, files, emulatorOf(SCENES[0] as (typeof SCENES)[number]))
    const { page } = await stage.open(WITH_DESK)
    await page.getByText('Online').waitFor()
    await write(page, 'I want to talk to a person')
    await page.getByText('Waiting for a colleague').first().waitFor()
    await page.evaluate("desk.heard.push = () => { throw new Error('cut') }")
    await write(page, 'My router is broken')
    await page.getByRole('button', { name: 'Send again' }).waitFor()
    await page.getByRole('button', { name: 'Back to the assistant' }).click()
    await page.getByText('The chat with our team has ended').first().waitFor()
    expect(await page.getByRole('button', { name: 'Send again' }).count()).toBe(0)
    expect(await page.locator('ai-agent-chat .below.trouble').count()).toBe(1)
    await stage.close()
    await window.close()
  })

  /** A page whose user has asked for a person, and what it says to screen readers. */
  const asked = async (body = WITH_DESK) => {
    const window = await chromium.newWindow()
    const stage = await openChatStage(window.context, files, emulatorOf(SCENES[0] as (typeof SCENES)[number]))
    const { page, complaints } = await stage.open(body)
    await page.getByText('Online').waitFor()
    await page.evaluate(`globalThis.said = []
      new MutationObserver(records => {
        for (const { addedNodes } of records) for (const node of addedNodes) said.push(node.textContent)
      }).observe(document.querySelector('ai-agent-chat').shadowRoot.querySelector('[aria-live="polite"]'), { childList: true })`)
    await write(page, 'I want to talk to a person')
    await page.getByText('Waiting for a colleague').first().waitFor()
    const said = () => page.evaluate<string[]>('said')
    const marks = () => page.locator('[part=desk-mark]').allTextContents()
    const close = async () => {
      expect(complaints.filter(line => !line.includes('could not be sent to the live desk'))).toEqual([])
      await stage.close()
      await window.close()
    }
    return { page, said, marks, close }
  }

  it('[EL-90] says who is waited for, who has joined, that a text may not have arrived, and that the chat has ended', async () => {
    const { page, said, marks, close } = await asked()
    const notice = page.locator('[part="notice desk"]')
    expect(await notice.textContent()).toContain('Waiting for a colleague …')
    expect(await page.locator('.status').count()).toBe(0)
    expect(await marks()).toEqual(['The assistant has handed over to our team.'])
    await expect.poll(said).toEqual(expect.arrayContaining(['Waiting for a colleague …']))

    await page.evaluate("desk.name = 'Anna'; desk.queue.push({}); desk.wake()")
    await notice.getByText('You are chatting with Anna').waitFor()
    expect(await page.locator('.status').textContent()).toBe('Anna')
    expect(await marks()).toEqual(['Anna has joined'])
    await expect.poll(async () => (await said()).filter(text => text === 'Anna has joined')).toHaveLength(1)

    await page.evaluate("desk.push = desk.heard.push; desk.heard.push = () => { throw new Error('cut') }")
    await write(page, 'My router is broken')
    const failed = page.locator('.notice.trouble')
    await failed.getByText('A message to our team may not have arrived.').waitFor()
    expect(await page.getByText('continue here with the assistant').count()).toBe(0)
    // The row of the message says the same as the line, and no more than is known.
    expect(await page.getByText('Not sent.').count()).toBe(0)
    expect(await notice.textContent()).toContain('You are chatting with Anna')
    await page.evaluate('desk.heard.push = desk.push')
    await page.getByRole('button', { name: 'Send again' }).click()
    await failed.waitFor({ state: 'detached' })

    await page.evaluate("desk.heard.push = () => { throw new Error('cut') }")
    await write(page, 'And the light blinks')
    await failed.waitFor()
    await page.getByRole('button', { name: 'Back to the assistant' }).click()
    await notice.waitFor({ state: 'detached' })
    expect(await failed.count()).toBe(0)
    expect(await marks()).toEqual(['Anna has joined', 'The chat with our team has ended. The assistant continues.'])
    expect(await page.locator('.status').textContent()).toBe('Online')
    expect((await said()).filter(text => text.startsWith('The chat with our team has ended'))).toHaveLength(1)
    await close()
  })

  it('[EL-91] leads from the card back to the desk in place, and to its address where no desk is open now', async () => {
    const { page, close } = await asked()
    await page.getByRole('button', { name: 'Back to the assistant' }).click()
    const again = page.locator('.escalation').getByRole('button', { name: 'Start a live chat' })
    await again.click()
    await page.getByText('Waiting for a colleague').first().waitFor()
    expect(await page.evaluate('desk.opened')).toEqual(['new', 'new'])
    expect(page.context().pages()).toHaveLength(1)
    await page.getByRole('button', { name: 'Back to the assistant' }).click()
    await page.evaluate("document.querySelector('ai-agent-chat').escalate = () => undefined")
    await again.click()
    await page.locator('.escalation').getByRole('link', { name: 'Start a live chat' }).waitFor()
    expect(await page.locator('.escalation').textContent()).toContain('Please try again later')
    await close()
  })

  it('[EL-92] gives the desk the conversation, unless an attribute leaves it out', async () => {
    for (const [body, count] of [
      [WITH_DESK, 2],
      [WITH_DESK.replace('agent-id="help"', 'agent-id="help" desk-conversation="none"'), undefined],
    ] as const) {
      const { page, close } = await asked(body)
      expect(await page.evaluate('desk.conversations[0]?.length')).toBe(count)
      await close()
    }
  })
})
