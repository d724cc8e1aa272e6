import { serveEmulator } from '@aiagent/emulator/node'
import { bundleForPage, hasChromium, launchChromium, servePages } from '@aiagent/test-support/chromium'
import { describe, expect, it } from 'vitest'

/** What a page knows after a start. */
interface Start {
  readonly initialized: string
  readonly deployment: { readonly status: string; readonly text: string }
}

describe.skipIf(!hasChromium())('Local Network Access of Chromium', () => {
  it('[REL-24] is named where it blocks a page, and what the error says to allow lets the page in', async () => {
    const script = await bundleForPage(`
      import { AiAgent } from '@aiagent/client'
      import { runDoctor } from '@aiagent/client/doctor'
      globalThis.start = async endpoint => {
        const agent = new AiAgent({ id: 'help', endpoint, enableLogging: false })
        const initialized = await agent.initialize().then(({ status }) => status, String)
        const { findings } = await runDoctor({ id: 'help', endpoint })
        return { initialized, deployment: findings.find(({ check }) => check === 'deployment') }
      }
    `)
    const [service, server] = await Promise.all([
      serveEmulator(),
      servePages({ '/': '<!doctype html><script src="/page.js"></script>', '/page.js': script }),
    ])
    // For this browser, the server of the page is on the internet, and the service on this device.
    const { host, origin } = new URL(server.url)
    const chromium = await launchChromium({ args: [`--ip-address-space-overrides=${host}=public`] })
    try {
      const browser = await chromium.context.browser()?.newBrowserCDPSession()
      const page = await chromium.newPage()
      const { targetInfo } = await (await chromium.context.newCDPSession(page)).send('Target.getTargetInfo')
      const browserContextId = targetInfo.browserContextId ?? ''
      const permission = { name: 'loopback-network' }
      const decide = (setting: 'denied' | 'granted') =>
        browser?.send('Browser.setPermission', { permission, setting, origin, browserContextId })
      await page.goto(server.url)
      const start = () => page.evaluate(url => Object(globalThis).start(url) as Promise<Start>, service.url)

      await decide('denied')
      const blocked = await start()
      expect(blocked.initialized).toContain('Local Network Access')
      expect(blocked.initialized).toContain(`allow ${origin} in the site settings`)
      expect(blocked.deployment.status).toBe('failed')
      expect(blocked.deployment.text).toContain(`allow ${origin} in the site settings`)
      expect(service.emulator.control.requests()).toEqual([])

      await decide('granted')
      const { initialized, deployment } = await start()
      expect([initialized, deployment.status]).toEqual(['ready', 'passed'])
    } finally {
      await Promise.all([chromium.close(), server.close(), service.close()])
    }
  })
})
