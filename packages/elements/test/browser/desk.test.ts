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
    await page.getByText('You are chatting with Our team').waitFor()
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
    await page.getByText('The colleague has left').first().waitFor()
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
    await page.getByText('You are chatting with Our team').waitFor()
    await page.evaluate("desk.heard.push = () => { throw new Error('cut') }")
    await write(page, 'My router is broken')
    await page.getByRole('button', { name: 'Send again' }).waitFor()
    await page.getByRole('button', { name: 'Back to the assistant' }).click()
    await page.getByText('The colleague has left').first().waitFor()
    expect(await page.getByRole('button', { name: 'Send again' }).count()).toBe(0)
    expect(await page.locator('ai-agent-chat .below.trouble').count()).toBe(1)
    await stage.close()
    await window.close()
  })
})
