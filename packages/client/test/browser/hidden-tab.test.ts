import { eventually } from '@aiagent/test-support'
import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { AWAKE_MS, awakeAfter, NOISE_MS, openNotedHost } from './awake-page.ts'
import { openHost, said } from './client-page.ts'
import { describeInRealTabs, hide, until } from './hidden-tabs.ts'

/** Time limit of a flush of 1,000 in a hidden tab after connecting, in milliseconds. */
const FLUSH_MS = 700
/** Tolerance for a busy machine, in milliseconds. */
const FLUSH_NOISE_MS = 2_000

describeInRealTabs('a tab in the background', at => {
  it('[FLOW-05] sends 1,000 queued messages soon after it is connected', async () => {
    const page = await openNotedHost(at.context, at.stage)
    await page.evaluate(() => host.initialize())
    await hide(page)
    const texts = Array.from({ length: 1_000 }, (_, index) => `message ${index}`)
    await page.evaluate(all => host.sendAll(all), texts)
    await page.evaluate(() => host.connect())
    await until(page, () => host.of('queueFlushed').length > 0)
    const tookMs = await page.evaluate(() => host.lastAt('queueFlushed') - host.lastAt('connected'))
    console.info(`A flush of 1,000 in a hidden tab took ${tookMs.toFixed(0)} ms.`)
    expect(tookMs).toBeLessThan(FLUSH_MS + FLUSH_NOISE_MS)
    await eventually(() => said(at.stage).length === 1_000)
    expect(said(at.stage)).toEqual(texts)
    expect(await page.evaluate(() => document.visibilityState)).toBe('hidden')
  })

  it('reconnects immediately when it becomes visible', async () => {
    const page = await openNotedHost(at.context, at.stage)
    await page.evaluate(() => host.open())
    await hide(page)
    at.stage.service.emulator.faults.add({ kind: 'drop' })
    await until(page, () => host.getState() === 'RECONNECTING')
    await page.bringToFront()
    await until(page, () => host.getState() === 'CONNECTED')
    await expectAwake(page, 'becoming visible')
  })

  it('reconnects immediately when it is resumed from a freeze', async () => {
    const page = await openNotedHost(at.context, at.stage)
    await page.evaluate(() => host.open())
    await hide(page)
    at.stage.service.emulator.faults.add({ kind: 'drop' })
    await until(page, () => host.getState() === 'RECONNECTING')
    const session = await at.context.newCDPSession(page)
    await session.send('Page.setWebLifecycleState', { state: 'frozen' })
    await session.send('Page.setWebLifecycleState', { state: 'active' })
    await page.bringToFront()
    await until(page, () => host.getState() === 'CONNECTED')
    await expectAwake(page, 'a freeze')
  })

  /** Opens a page with an agent behind another one. */
  async function hiddenHost() {
    const page = await openHost(at.context, at.stage, { baseReconnectDelay: 1500, maxReconnectDelay: 1500 })
    await page.evaluate(() => host.open())
    await hide(page)
    return page
  }

  it('sends queued messages while it is hidden', async () => {
    const page = await hiddenHost()
    at.stage.service.emulator.control.dropSockets()
    await until(page, () => host.getState() === 'RECONNECTING')
    await page.evaluate(() => host.send('from a hidden tab'))
    expect(await page.evaluate(() => host.getQueueSize())).toBe(1)
    await eventually(() => said(at.stage).length === 1)
    expect(said(at.stage)).toEqual(['from a hidden tab'])
    expect(await page.evaluate(() => document.visibilityState)).toBe('hidden')
  })

  it('[FLOW-05] completes a flush of 200 in order although every timer is late', async () => {
    const page = await hiddenHost()
    await page.evaluate(() => host.disconnect())
    const texts = Array.from({ length: 200 }, (_, index) => `message ${index}`)
    await page.evaluate(all => host.sendAll(all), texts)
    expect(await page.evaluate(() => host.getQueueSize())).toBe(200)
    await page.evaluate(() => host.connect())
    await eventually(() => said(at.stage).length === 200)
    expect(said(at.stage)).toEqual(texts)
    await until(page, () => host.of('queueFlushed').length > 0)
    expect(await page.evaluate(() => host.of('queueFlushed'))).toEqual([{ count: 200 }])
    expect(await page.evaluate(() => document.visibilityState)).toBe('hidden')
  })

  async function expectAwake(page: Page, what: string): Promise<void> {
    const afterMs = await awakeAfter(page, ['pageshow', 'visibilitychange', 'resume'])
    console.info(`After ${what} a reconnect started within ${afterMs.toFixed(1)} ms.`)
    expect(afterMs).toBeLessThan(AWAKE_MS + NOISE_MS)
    expect(await page.evaluate(() => globalThis.moments.sockets.length)).toBe(2)
  }
})
