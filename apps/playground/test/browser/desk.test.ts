import { examineByAxe } from '@aiagent/test-support/axe'
import { hasChromium } from '@aiagent/test-support/chromium'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { run } from '../../../../packages/cli/src/run.ts'
import { createFakeIo } from '../../../../packages/cli/test/fake-io.ts'
import { type Stage, serveStatically, startStage, Visitor } from './stage.ts'

const ASK = 'I want to talk to a human'

describe.skipIf(!hasChromium())('the desk of the playground', () => {
  let stage: Stage
  let host: Awaited<ReturnType<typeof serveStatically>>
  const undo: (() => Promise<unknown>)[] = []
  beforeAll(async () => {
    ;[host, stage] = await Promise.all([serveStatically(), startStage()])
  })
  afterEach(async () => {
    for (const step of undo.splice(0).reverse()) await step()
  })
  afterAll(() => Promise.all([stage?.close(), host?.close()]))

  const open = async (address: string) => {
    const page = await stage.open(address)
    undo.push(() => page.close())
    const visitor = new Visitor(page)
    await visitor.sees('connected')
    /** Messages of the chat, oldest first. */
    const bubbles = () => page.locator('ai-agent-chat .row:not(:has(.working)) .bubble').allTextContents()
    const answers = async (text: string) => {
      const desk = await visitor.inspects('Desk')
      await desk.getByLabel('Answer').fill(text)
      await desk.getByLabel('Answer').press('Enter')
      await visitor.reads(text)
    }
    return { page, visitor, bubbles, answers }
  }

  it('[PLAY-12] answers as the colleague, in the page alone, and over a reload', async () => {
    const { page, visitor, bubbles, answers } = await open(host.page)
    await visitor.says(ASK)
    await page.getByRole('tab', { name: 'Desk open' }).click()
    await page.getByRole('button', { name: 'Chat 1 waiting' }).waitFor()
    await answers('Good day, how can I help?')
    await visitor.reads('You are chatting with Support')
    await visitor.says('My router <b>blinks</b>')
    await page.getByRole('log', { name: 'Messages' }).getByText('My router <b>blinks</b>').waitFor()
    await expect.poll(bubbles).toHaveLength(4)
    const before = await bubbles()

    await page.reload()
    await visitor.reads('You are chatting with Support')
    expect(await bubbles()).toEqual(before)
    await answers('I am still here.')
    await expect.poll(bubbles).toEqual([...before, 'I am still here.'])
    await page.getByRole('button', { name: 'End the conversation' }).click()
    await visitor.reads('The colleague has left')
    await visitor.says('thanks')
    await visitor.reads('You are welcome')
    expect(stage.complaints).toEqual([])
  })

  it('[PLAY-12] answers at a served emulator, also on its page', async () => {
    const fake = createFakeIo()
    const ended = run(['emulate', '--port', '0', '--playground'], fake.io)
    undo.push(() => {
      fake.interrupt()
      return ended
    })
    await fake.outHas('Press Ctrl-C')
    const address = (name: string) => new RegExp(`^${name}: (\\S+)`, 'm').exec(fake.out())?.[1] ?? ''
    const { page, visitor, answers } = await open(address('Playground'))
    await visitor.says(ASK)
    await page.getByRole('tab', { name: 'Desk open' }).waitFor()
    await answers('Good day')
    const desk = await stage.open(address('Desk'))
    undo.push(() => desk.close())
    await desk.getByRole('button', { name: 'Chat 1 open' }).waitFor()
    await visitor.breaks('Cut')
    await desk.getByLabel('Answer').fill('Another colleague')
    await desk.getByLabel('Answer').press('Enter')
    await visitor.reads('Another colleague')
    await page.locator('ai-agent-chat').getByRole('button', { name: 'Back to the assistant' }).click()
    await desk.getByText('The conversation has ended.').waitFor()
    expect(stage.complaints).toEqual([])
  })

  it('[PLAY-12] is a tab that keys reach, and keeps the rules of axe with all others', async () => {
    const { page, visitor } = await open(host.page)
    await visitor.says(ASK)
    await page.getByRole('tab', { name: 'Desk open' }).waitFor()
    await page.getByRole('tab', { name: 'Events' }).focus()
    for (const [key, tab] of [
      ['ArrowRight', 'REST'],
      ['ArrowRight', 'Frames'],
      ['ArrowRight', 'Delivery'],
      ['End', 'Desk'],
      ['ArrowLeft', 'Context'],
      ['ArrowLeft', 'Transcript'],
      ['Home', 'Events'],
    ] as const) {
      await page.keyboard.press(key)
      const chosen = page.getByRole('tab', { selected: true })
      expect(await chosen.textContent()).toContain(tab)
      expect(await chosen.evaluate(each => each === document.activeElement)).toBe(true)
      expect(await examineByAxe(page)).toEqual([])
    }
    await page.keyboard.press('ArrowLeft')
    expect(await page.getByRole('tab', { selected: true }).textContent()).toContain('Desk')
    expect(stage.complaints).toEqual([])
  })
})
