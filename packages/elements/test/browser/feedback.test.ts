import { hasChromium } from '@aiagent/test-support/chromium'
import { describe, expect, it } from 'vitest'
import { bubbles, type ChatStage, received, write } from './chat-page.ts'
import { chatStages } from './chat-stages.ts'

const CHAT = '<ai-agent-chat endpoint="ENDPOINT" agent-id="help" support-email="help@shop.test"></ai-agent-chat>'
const REQUEST = 'I would like to talk to a person.'

describe.skipIf(!hasChromium())('feedback in <ai-agent-chat>', () => {
  const stages = chatStages()
  let stage: ChatStage

  /** Opens a chat whose agent answers with two messages that can be rated, and a question. */
  const openChat = async () => {
    stage = await stages.open({
      reply: ({ text }) =>
        text === REQUEST
          ? { content: 'Wait.', messageData: { escalation: true, escalationData: { live: false, email: true } } }
          : [
              { content: `First ${text}` },
              { content: `Second ${text}` },
              { content: 'More?', role: 'follow up question agent', messageData: { options: ['Yes'] } },
            ],
    })
    const { page, complaints } = await stage.open(CHAT)
    await page.getByText('Online').waitFor()
    const up = page.getByRole('button', { name: 'Helpful', exact: true })
    const down = page.getByRole('button', { name: 'Not helpful' })
    const request = page.getByRole('button', { name: REQUEST })
    /** Texts of the messages that show thumbs. */
    const rateable = () => page.locator('ai-agent-chat .row:has([part=rating]) .bubble').allTextContents()
    const talk = async (text: string) => {
      const count = (await bubbles(page)).length
      await write(page, text)
      await expect.poll(() => bubbles(page).then(all => all.length)).toBe(count + 4)
    }
    /** Ratings that the service has received, with the text of the message. */
    const ratings = async () => {
      const { control, world } = stage.service.emulator
      const [session = ''] = world.sessions.keys()
      const messages = await page.evaluate(() => document.querySelector('ai-agent-chat')?.view?.getSnapshot().messages)
      return control.frames(session).flatMap(({ message }) => {
        const { feedback } = Object(message?.messageData) as {
          feedback?: { rating: string; answerMessageId: string }
        }
        const answer = messages?.find(({ messageId }) => messageId === feedback?.answerMessageId)
        return feedback ? [`${feedback.rating}: ${answer?.content}`] : []
      })
    }
    return { page, complaints, up, down, request, rateable, talk, ratings }
  }

  it('[EL-37] shows one pair of thumbs for a turn of the agent, and rates the last message that can be rated', async () => {
    const { page, complaints, up, request, rateable, talk, ratings } = await openChat()
    await talk('one')
    expect(await rateable()).toEqual(['Second one'])
    await talk('two')
    expect(await rateable()).toEqual(['Second one', 'Second two'])
    await up.last().click()
    await page.getByText('Thank you').first().waitFor()
    await expect.poll(ratings).toEqual(['up: Second two'])
    expect(await request.count()).toBe(0)
    // What the agent adds to its turn does not take the rating away.
    const [session = ''] = stage.service.emulator.world.sessions.keys()
    stage.service.emulator.control.say(session, { content: 'And another thing.' })
    await page.getByText('And another thing.').first().waitFor()
    expect(await rateable()).toEqual(['Second one', 'Second two'])
    expect(await page.locator('ai-agent-chat .rating span').allTextContents()).toEqual(['Thank you'])
    await talk('three')
    expect(await page.locator('ai-agent-chat .rating span').count()).toBe(0)
    await page.reload()
    await expect.poll(rateable).toEqual(['Second one', 'Second two', 'Second three'])
    expect(await up.nth(1).getAttribute('aria-pressed')).toBe('true')
    expect(complaints).toEqual([])
  })

  it('[EL-37] offers the way to a human after a bad rating, as a message of the user, until the agent names the ways', async () => {
    const { page, complaints, down, request, talk, ratings } = await openChat()
    await talk('one')
    await down.click()
    await request.waitFor()
    await expect.poll(ratings).toEqual(['down: Second one'])
    const email = page.getByRole('link', { name: 'Write an email' })
    expect(await email.getAttribute('href')).toBe('mailto:help@shop.test')
    await request.dblclick()
    await expect.poll(() => bubbles(page).then(all => all.slice(-2))).toEqual([REQUEST, 'Wait.'])
    expect(received(stage.service).texts).toEqual(['one', REQUEST])
    expect(await request.count()).toBe(0)
    await down.last().click()
    await page.getByText('Thank you').first().waitFor()
    expect(await request.count()).toBe(0)
    expect(await email.count()).toBe(1)
    expect(complaints).toEqual([])
  })

  it('[EL-37] offers no human where the host has no text for it', async () => {
    const { page, down, request, talk } = await openChat()
    await page.evaluate(() =>
      Object.assign(document.querySelector('ai-agent-chat') ?? {}, { strings: { askPerson: '' } }),
    )
    await talk('one')
    await down.click()
    await page.getByRole('link', { name: 'Write an email' }).waitFor()
    expect(await request.count()).toBe(0)
    expect(await page.getByRole('group', { name: 'Suggested answers' }).count()).toBe(1)
  })

  it('[EL-38] asks before a new conversation is started, and keeps the present one until then', async () => {
    const { page, complaints, talk } = await openChat()
    await talk('one')
    const more = page.getByRole('button', { name: 'More', exact: true })
    const restart = page.getByRole('button', { name: 'New conversation' })
    await more.click()
    await restart.dblclick()
    await page.getByText('until you leave this page.').waitFor()
    await page.getByRole('button', { name: 'Cancel' }).click()
    expect(await restart.count()).toBe(0)
    expect(await bubbles(page)).toHaveLength(4)
    await more.click()
    await restart.click()
    await page.keyboard.press('Escape')
    await more.click()
    // It asks again.
    await page.getByRole('button', { name: 'Download conversation' }).waitFor()
    await restart.click()
    await page.getByText('until you leave this page.').waitFor()
    expect(received(stage.service).sessionCalls).toBe(1)
    await restart.click()
    await expect.poll(() => received(stage.service).sessionCalls).toBe(2)
    expect(complaints).toEqual([])
  })
})
