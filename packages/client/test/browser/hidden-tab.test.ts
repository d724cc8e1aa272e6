import { eventually } from '@aiagent/test-support'
import { expect, it } from 'vitest'
import { openHost, said } from './client-page.ts'
import { describeInRealTabs, hide, until } from './hidden-tabs.ts'

describeInRealTabs('the client in a hidden tab', at => {
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
})
