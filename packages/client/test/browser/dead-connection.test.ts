import { type FaultProxy, serveEmulator, startFaultProxy } from '@aiagent/emulator/node'
import { hasChromium, type LaunchedChromium, launchChromium, servePages } from '@aiagent/test-support/chromium'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { AWAKE_MS, awakeAfter, LONG_WAIT, NOISE_MS, openNotedHost } from './awake-page.ts'
import { bundleHost, type Stage } from './client-page.ts'

/** A service behind a proxy that can make connections half-open. */
async function openProxiedStage(bundle: string, capabilities: readonly ('receipts' | 'resume')[]) {
  let target = ''
  const proxy: FaultProxy = await startFaultProxy({ target: () => target })
  const reply = ({ text }: { text: string }) => ({ content: `You said: ${text}` })
  const service = await serveEmulator({ reply, settings: { capabilities }, origin: proxy.url })
  target = service.url
  const pages = await servePages({
    '/': '<!doctype html><title>Host</title><script src="/host.js"></script>',
    '/host.js': bundle,
  })
  const stage: Stage & { proxy: FaultProxy } = {
    service: Object.create(service, { url: { value: proxy.url } }),
    pages,
    proxy,
    close: async () => {
      await proxy.close()
      await Promise.all([service.close(), pages.close()])
    },
  }
  return stage
}

describe.skipIf(!hasChromium())('a half-open connection of a page', () => {
  let bundle = ''
  let chromium: LaunchedChromium
  let stage: Awaited<ReturnType<typeof openProxiedStage>> | undefined
  beforeAll(async () => {
    bundle = await bundleHost()
    chromium = await launchChromium()
  })
  afterAll(() => chromium?.close())
  afterEach(async () => {
    await chromium.context.setOffline(false)
    for (const page of chromium.context.pages()) await page.close()
    await stage?.close()
    stage = undefined
  })

  it('[REL-101] is replaced when the network is back, and what was missed is recovered', async () => {
    stage = await openProxiedStage(bundle, [])
    const page = await openNotedHost(chromium.context, stage, LONG_WAIT)
    await page.evaluate(() => host.open())
    await page.evaluate(() => host.send('before'))
    await page.waitForFunction(() => host.answers().length === 1)
    // A first reconnect shows that the service sends its history.
    await page.evaluate(() => host.disconnect())
    await page.evaluate(() => host.connect())
    await page.evaluate(() => host.send('still there'))
    await page.waitForFunction(() => host.answers().length === 2)
    stage.proxy.stall()
    const { emulator } = stage.service
    const [session] = [...emulator.world.sessions.values()]
    session?.history.add({
      messageId: 'missed',
      persona: 'agent',
      role: 'customer support agent',
      content: 'said into the void',
      timestamp: Date.now(),
    })
    await chromium.context.setOffline(true)
    await chromium.context.setOffline(false)
    await page.waitForFunction(() => host.answers().includes('said into the void'))
    const afterMs = await awakeAfter(page, ['online'])
    console.info(`Chromium, plain wire: a half-open connection was replaced ${afterMs.toFixed(0)} ms after 'online'.`)
    expect(afterMs).toBeLessThan(AWAKE_MS + NOISE_MS)
    expect(await page.evaluate(() => host.of('closed').at(-1))).toMatchObject({
      cause: 'dead_connection',
      willReconnect: true,
    })
    expect(await page.evaluate(() => host.of('messagesRecovered').length)).toBe(1)
  })

  it('[REL-101] is found within 20 s by the pings of the extension, although the page is idle', async () => {
    stage = await openProxiedStage(bundle, ['receipts', 'resume'])
    const window = await chromium.newWindow()
    try {
      const { clock } = window.context
      await clock.install()
      const page = await openNotedHost(window.context, stage, LONG_WAIT)
      await page.evaluate(() => host.open())
      await page.evaluate(() => host.send('before'))
      await page.waitForFunction(() => host.answers().length === 1)
      stage.proxy.stall()
      let seconds = 0
      while (await page.evaluate(() => host.of('closed').length === 0)) {
        expect(seconds++).toBeLessThan(20)
        await clock.runFor(1_000)
      }
      console.info(`Chromium, with the extension: a half-open connection was noticed after ${seconds} s.`)
      expect(await page.evaluate(() => host.of('closed'))).toMatchObject([{ cause: 'dead_connection' }])
      await page.waitForFunction(() => host.getState() === 'CONNECTED')
    } finally {
      await window.close()
    }
  })
})
