import { setTimeout as delay } from 'node:timers/promises'
import { eventually } from '@aiagent/test-support'
import { launchChromium } from '@aiagent/test-support/chromium'
import { needs } from '@aiagent/test-support/needs'
import type { Page } from 'playwright-core'
import { afterEach, expect, it } from 'vitest'
import { AWAKE_MS, awakeAfter, LONG_WAIT, NOISE_MS, openNotedHost } from './awake-page.ts'
import { describeInPages, makeHost, said } from './client-page.ts'

describeInPages('a page under faults', at => {
  afterEach(() => at.context.setOffline(false))

  it('reconnects after a lost connection and sends queued messages', async () => {
    const page = await openNotedHost(at.context, at.stage, { baseReconnectDelay: 50, maxReconnectDelay: 50 })
    await page.evaluate(() => host.open())
    await page.evaluate(() => host.send('before'))
    // What the restart meets on its way is lost.
    await expect.poll(() => said(at.stage)).toEqual(['before'])
    at.stage.service.emulator.faults.add({ kind: 'restart', downMs: 100, code: 1006 })
    await page.waitForFunction(() => host.of('closed').length > 0)
    await page.evaluate(() => host.send('meanwhile'))
    await page.waitForFunction(() => host.answers().includes('You said: meanwhile'))
    expect(said(at.stage)).toEqual(['before', 'meanwhile'])
    expect(await page.evaluate(() => host.of('closed'))).toMatchObject([{ code: 1006, willReconnect: true }])
    expect(await page.evaluate(() => host.getState())).toBe('CONNECTED')
  })

  it('reconnects immediately when the network is back', async () => {
    const page = await openNotedHost(at.context, at.stage)
    await page.evaluate(() => host.open())
    await at.context.setOffline(true)
    at.stage.service.emulator.faults.add({ kind: 'drop' })
    await page.waitForFunction(() => host.getState() === 'RECONNECTING')
    await page.evaluate(() => host.send('while offline'))
    await at.context.setOffline(false)
    await page.waitForFunction(() => host.answers().length > 0)
    const afterMs = await awakeAfter(page, ['online'])
    console.info(`After 'online' a reconnect started within ${afterMs.toFixed(1)} ms.`)
    expect(afterMs).toBeLessThan(AWAKE_MS + NOISE_MS)
    expect(said(at.stage)).toEqual(['while offline'])
  })

  it('reconnects immediately when it returns from the back/forward cache', needs('back/forward cache'), async () => {
    const caching = await launchChromium({
      needs: ['back/forward cache'],
      ignoreDefaultArgs: ['--disable-back-forward-cache'],
    })
    try {
      const page = await openNotedHost(caching.context, at.stage)
      await page.evaluate(() => host.open())
      await page.evaluate(() => host.send('before'))
      await page.waitForFunction(() => host.answers().length === 1)
      // The server has no such page, so this is another document.
      await page.goto(`${at.stage.pages.url}/elsewhere`)
      // A page from the cache does not load, but goBack() would wait for that.
      await page.evaluate(() => void setTimeout(() => history.back()))
      await until(page, () => globalThis.host?.getState() === 'CONNECTED' && globalThis.moments.sockets.length > 1)
      await page.evaluate(() => host.send('after'))
      await until(page, () => host.answers().includes('You said: after'))
      const sockets = await page.evaluate(() => globalThis.moments.sockets.length)
      const afterMs = await awakeAfter(page, ['pageshow', 'visibilitychange', 'resume'])
      console.info(`After a return from the back/forward cache a reconnect started within ${afterMs.toFixed(1)} ms.`)
      // The same page with the same agent and another socket.
      expect([sockets, await page.evaluate(() => host.answers())]).toEqual([2, ['You said: before', 'You said: after']])
      expect(afterMs).toBeLessThan(AWAKE_MS + NOISE_MS)
    } finally {
      await caching.close()
    }
  })

  it.each([401, 404, 503])('settles connect() when the service refuses with %i', async status => {
    const page = await openNotedHost(at.context, at.stage)
    await page.evaluate(() => host.initialize())
    at.stage.service.emulator.faults.add({ kind: 'refuse-upgrade', status, times: 1 })
    // Browsers do not report the status.
    expect(await page.evaluate(() => host.connectOutcome())).toBe('CONNECTION_ERROR refused')
    expect(await page.evaluate(() => host.getState())).toBe('RECONNECTING')
    expect(await page.evaluate(() => host.connectOutcome())).toBe('connected')
    expect(await page.evaluate(() => globalThis.moments.sockets.length)).toBe(2)
  })

  it('settles connect() when the port is closed', async () => {
    const page = await openNotedHost(at.context, at.stage)
    await page.evaluate(() => host.initialize())
    await at.stage.service.close()
    expect(await page.evaluate(() => host.connectOutcome())).toBe('CONNECTION_ERROR refused')
  })

  it('settles connect() after ten seconds when the service hangs, and connects when it responds again', async () => {
    const page = await at.context.newPage()
    await page.clock.install()
    await page.goto(at.stage.pages.url)
    await makeHost(page, at.stage, LONG_WAIT)
    await page.evaluate(() => host.initialize())
    const { faults } = at.stage.service.emulator
    faults.add({ kind: 'hang-upgrade' })
    const outcome = page.evaluate(() => host.connectOutcome())
    await eventually(() => faults.inForce().some(({ hits }) => hits > 0))
    await page.clock.runFor(10_000)
    expect(await outcome).toBe('CONNECTION_ERROR timeout')
    faults.lift()
    expect(await page.evaluate(() => host.connectOutcome())).toBe('connected')
    await page.evaluate(() => host.send('at last'))
    await eventually(() => said(at.stage).length === 1)
  })
})

/** Evaluates a condition in the page until it is true, also across navigations. */
async function until(page: Page, probe: () => boolean): Promise<void> {
  while (!(await page.evaluate(probe).catch(() => false))) await delay(10)
}
