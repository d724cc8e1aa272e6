import { hasChromium } from '@aiagent/test-support/chromium'
import type { Locator } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Stage, serveStatically, startStage, Visitor } from './stage.ts'

describe.skipIf(!hasChromium())('the faults of the playground', () => {
  let stage: Stage
  let host: Awaited<ReturnType<typeof serveStatically>>
  beforeAll(async () => {
    ;[host, stage] = await Promise.all([serveStatically(), startStage()])
  })
  afterAll(() => Promise.all([stage?.close(), host?.close()]))

  const open = async () => {
    const visitor = new Visitor(await stage.open(host.page))
    await visitor.sees('connected')
    await visitor.page.getByLabel('Time for an answer').fill('0')
    return visitor
  }
  const spans = (visitor: Visitor, name: string) =>
    visitor.page.locator('.lane', { hasText: 'Faults' }).locator('.mark', { hasText: name })

  it('[PLAY-05] break the connection: cut, half-open, slow', async () => {
    const visitor = await open()
    const { page } = visitor
    await page.getByRole('button', { name: 'Cut', exact: true }).focus()
    await page.getByText('Breaks the chat connection without a close frame').waitFor()
    await visitor.breaks('Cut')
    await visitor.sawEvent('closed', '1006')
    await spans(visitor, 'Cut').waitFor()
    await visitor.sees('connected')
    expect(await page.locator('.lane', { hasText: 'Connection' }).textContent()).toContain('RECONNECTING')

    await visitor.breaks('Half-open')
    await visitor.says('Is somebody there?')
    const isHalfOpen = () => page.getByRole('button', { name: 'Half-open' }).getAttribute('aria-pressed')
    await expect.poll(isHalfOpen).toBe('true')
    const frames = await visitor.inspects('Frames')
    await frames.locator('[data-direction="out"]', { hasText: 'Is somebody there?' }).waitFor()
    expect(await frames.locator('.row').last().textContent()).toContain('Is somebody there?')
    await visitor.breaks('Half-open')
    await frames.locator('[data-direction="in"]', { hasText: 'I am sorry' }).waitFor()
    await expect.poll(isHalfOpen).toBe('false')

    await visitor.breaks('Slow')
    // The service may not have all faults of the action yet.
    await expect.poll(() => page.getByRole('button', { name: 'Slow' }).getAttribute('aria-pressed')).toBe('true')
    const start = performance.now()
    await visitor.says('thanks')
    await visitor.reads('You are welcome')
    // A frame in each direction.
    expect(performance.now() - start).toBeGreaterThan(2 * 1200)
    await visitor.breaks('Mend all')
  })

  it('[PLAY-05] break the service: refuse, restart, forget and end a session', async () => {
    const visitor = await open()
    const { page } = visitor
    const isRefusing = () => page.getByRole('button', { name: 'Refuse' }).getAttribute('aria-pressed')
    await visitor.breaks('Refuse')
    await expect.poll(isRefusing).toBe('true')
    await visitor.breaks('Cut')
    await page
      .getByText(/HTTP status 503/)
      .first()
      .waitFor()
    await visitor.sees('reconnecting')
    await visitor.breaks('Refuse')
    await expect.poll(isRefusing).toBe('false')
    // After several refusals the next attempt may be far away. A network that comes back causes one at once.
    await page.evaluate(() => dispatchEvent(new Event('online')))
    await visitor.sees('connected')

    await visitor.breaks('Restart')
    await visitor.sawEvent('closed', '1001')
    await visitor.sees('connected')

    await visitor.breaks('Forget')
    await visitor.sawEvent('closed', '4404')
    const calls = await visitor.inspects('REST')
    await calls.getByText('POST').last().waitFor()
    await visitor.sees('connected')

    await visitor.breaks('End')
    await visitor.sawEvent('closed', '1000')
    await visitor.sees('closed')
  })

  /** Each button of the panel can be scrolled to, and nothing covers it. A press does not move it. */
  const expectReachable = async (panel: Locator) => {
    await panel.getByRole('button', { name: 'Cut', exact: true }).waitFor()
    const buttons = await panel.getByRole('button', { disabled: false }).all()
    expect(buttons.length).toBeGreaterThan(10)
    const covered: string[] = []
    for (const button of buttons) {
      await button.scrollIntoViewIfNeeded()
      const isOnTop = await button.evaluate(element => {
        const { left, top, width, height } = element.getBoundingClientRect()
        return element.contains(document.elementFromPoint(left + width / 2, top + height / 2))
      })
      if (!isOnTop) covered.push((await button.textContent()) ?? '')
      await button.click({ trial: true })
    }
    expect(covered).toEqual([])
  }

  it.each([390, 688, 780, 781, 1180])('[PLAY-05] can be reached in a page of %d px', async width => {
    const visitor = new Visitor(await stage.open(host.page))
    const { page } = visitor
    await visitor.sees('connected')
    await page.setViewportSize({ width, height: 720 })
    if (width <= 780) await visitor.turnsTo('Faults')
    const panel = page.getByLabel('Faults', { exact: true })
    await expectReachable(panel)
    expect(await page.getByLabel('Time for an answer').isVisible()).toBe(true)
    if (width <= 780) expect(await page.locator('.inspector').isVisible()).toBe(false)
    await visitor.breaks('Half-open')
    await expect.poll(() => panel.getByRole('button', { name: 'Mend all' }).isEnabled()).toBe(true)
    await visitor.breaks('Mend all')
    await page.close()
  })

  it.each([
    [390, 340],
    [1280, 622],
  ])('[PLAY-05] can be reached in the frame of a document, in a window of %d px', async (width, inner) => {
    const page = await stage.open(host.document)
    await page.setViewportSize({ width, height: 844 })
    const frame = page.frameLocator('iframe')
    const visitor = new Visitor(page, frame)
    await visitor.turnsTo('Inspector')
    await visitor.sees('connected')
    expect(await frame.locator('.app').evaluate(() => [innerWidth, innerHeight])).toEqual([inner, 734])
    await visitor.turnsTo('Faults')
    await expectReachable(frame.getByLabel('Faults', { exact: true }))
    // With this label the button fills its line.
    await visitor.breaks('Expire the token')
    await visitor.breaks('Cut')
    await visitor.turnsTo('Inspector')
    await visitor.sawEvent('closed', '1006')
    await visitor.sees('connected')
    await page.close()
  })

  it('[PLAY-05] push frames, and change the user', async () => {
    const visitor = await open()
    const { page } = visitor
    await visitor.pushes('Unasked message')
    await visitor.reads('Your router was shipped')
    await visitor.pushes('Message with options')
    await page.locator('ai-agent-chat').getByRole('button', { name: 'The repeater' }).click()
    await visitor.pushes('Unreadable frame')
    const frames = await visitor.inspects('Frames')
    await frames.locator('[data-tone="bad"]', { hasText: 'not even JSON' }).waitFor()
    await visitor.pushes('Error of the service')
    await visitor.sawEvent('errorMessage', 'The agent is not available.')
    await page.getByLabel('Fault as JSON').fill('{ "kind": "no such" }')
    await visitor.breaks('Push')
    await page.getByRole('alert').getByText('"kind" must be one of').waitFor()

    // The user before the first one is anonymous: that is not a change.
    await visitor.breaks('customer')
    await visitor.breaks('new-customer')
    await visitor.sawEvent('userChanged')
    await visitor.sees('connected')
    expect(await page.locator('ai-agent-chat').textContent()).not.toContain('Your router was shipped')
  })
})
