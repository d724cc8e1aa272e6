import { eventually } from '@aiagent/test-support'
import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { AWAKE_MS, awakeAfter, NOISE_MS, openNotedHost } from './awake-page.ts'
import { said } from './client-page.ts'
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

  async function expectAwake(page: Page, what: string): Promise<void> {
    const afterMs = await awakeAfter(page, ['pageshow', 'visibilitychange', 'resume'])
    console.info(`After ${what} a reconnect started within ${afterMs.toFixed(1)} ms.`)
    expect(afterMs).toBeLessThan(AWAKE_MS + NOISE_MS)
    expect(await page.evaluate(() => globalThis.moments.sockets.length)).toBe(2)
  }
})
