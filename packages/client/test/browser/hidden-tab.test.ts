import { eventually, turnEventLoop } from '@aiagent/test-support'
import { hasChromium } from '@aiagent/test-support/chromium'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { bundleHost, openHost, openStage, type Stage, said } from './client-page.ts'
import { launchRealTabs, type RealTabs } from './real-tabs.ts'

describe.skipIf(!hasChromium())('the client in a hidden tab', () => {
  let bundle = ''
  let tabs: RealTabs
  let stage: Stage
  beforeAll(async () => {
    bundle = await bundleHost()
    tabs = await launchRealTabs()
  })
  afterAll(() => tabs?.close())
  beforeEach(async () => {
    stage = await openStage(bundle)
  })
  afterEach(() => stage.close())

  /** A page with an agent, behind another one. */
  async function hiddenHost() {
    const page = await openHost(tabs.context, stage, { baseReconnectDelay: 1500, maxReconnectDelay: 1500 })
    await page.evaluate(() => host.open())
    const other = await tabs.context.newPage()
    await other.bringToFront()
    await until(page, () => document.visibilityState === 'hidden')
    return page
  }

  it('sends what is queued while nobody looks', async () => {
    const page = await hiddenHost()
    stage.service.emulator.control.dropSockets()
    await until(page, () => host.getState() === 'RECONNECTING')
    await page.evaluate(() => host.send('from behind'))
    expect(await page.evaluate(() => host.getQueueSize())).toBe(1)
    await eventually(() => said(stage).length === 1)
    expect(said(stage)).toEqual(['from behind'])
    expect(await page.evaluate(() => document.visibilityState)).toBe('hidden')
  })

  it('[FLOW-05] completes a flush of 200 in order, although every timer comes late', async () => {
    const page = await hiddenHost()
    await page.evaluate(() => host.disconnect())
    const texts = Array.from({ length: 200 }, (_, index) => `message ${index}`)
    await page.evaluate(all => host.sendAll(all), texts)
    expect(await page.evaluate(() => host.getQueueSize())).toBe(200)
    await page.evaluate(() => host.connect())
    await eventually(() => said(stage).length === 200)
    expect(said(stage)).toEqual(texts)
    await until(page, () => host.of('queueFlushed').length > 0)
    expect(await page.evaluate(() => host.of('queueFlushed'))).toEqual([{ count: 200 }])
    expect(await page.evaluate(() => document.visibilityState)).toBe('hidden')
  })
})

/** Asks the page until it says yes, from outside: its own timers are slow while it is hidden. */
async function until(page: Page, probe: () => boolean): Promise<void> {
  while (!(await page.evaluate(probe))) await turnEventLoop()
}
