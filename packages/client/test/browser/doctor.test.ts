import { type EmulatorServer, serveEmulator } from '@aiagent/emulator/node'
import {
  bundleForPage,
  hasChromium,
  type LaunchedChromium,
  launchChromium,
  type PageServer,
  servePages,
} from '@aiagent/test-support/chromium'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { DoctorOptions, DoctorReport } from '../../src/doctor.ts'

type PageOptions = Pick<DoctorOptions, 'endpoint' | 'ask' | 'popup'>

declare global {
  /** Put into the page by the bundle. */
  var examine: (options: PageOptions) => Promise<DoctorReport>
}

describe.skipIf(!hasChromium())('runDoctor() in a page', () => {
  let chromium: LaunchedChromium
  let service: EmulatorServer
  let silent: PageServer
  let bundle = ''
  const servers: PageServer[] = []

  beforeAll(async () => {
    bundle = await bundleForPage(
      `import { runDoctor } from '../../src/doctor.ts'
globalThis.examine = runDoctor`,
      import.meta.url,
    )
    chromium = await launchChromium()
    service = await serveEmulator()
    // Answers without the headers that allow other origins.
    silent = await servePages({ '/': 'no' })
    servers.push(silent)
  })
  afterAll(async () => {
    await Promise.all([chromium?.close(), service?.close(), ...servers.map(server => server.close())])
  })

  async function codesIn(headers: Record<string, string>, options: PageOptions): Promise<(string | undefined)[]> {
    const files = { '/': '<!doctype html><script src="/host.js"></script>', '/host.js': bundle }
    const pages = await servePages(files, headers)
    servers.push(pages)
    const page = await chromium.newPage()
    try {
      // The browser of the tests allows every popup.
      if (options.popup) await page.addInitScript('window.open = () => null')
      await page.goto(pages.url)
      const report = await page.evaluate(given => globalThis.examine(given), options)
      return report.findings.flatMap(({ code }) => code ?? [])
    } finally {
      await page.close()
    }
  }

  it('[ADOPT-02] finds nothing on a sound page, and names what a page can block', async () => {
    const endpoint = service.url
    expect(await codesIn({}, { endpoint, ask: 'Hello' })).toEqual([])
    expect(await codesIn({}, { endpoint: silent.url })).toEqual(['DEPLOYMENT_UNREACHABLE', 'CORS_BLOCKED'])
    const policy = { 'content-security-policy': "connect-src 'self'" }
    expect(await codesIn(policy, { endpoint })).toEqual(['DEPLOYMENT_UNREACHABLE', 'CSP_BLOCKED'])
    // The chat host alone is forgotten: a policy that allows http allows no WebSocket.
    const withoutChat = { 'content-security-policy': `connect-src 'self' ${endpoint}` }
    expect(await codesIn(withoutChat, { endpoint })).toEqual(['CHAT_UNREACHABLE', 'CSP_BLOCKED'])
    const opener = { 'cross-origin-opener-policy': 'same-origin' }
    expect(await codesIn(opener, { endpoint })).toEqual(['POPUP_OPENER_CUT'])
    expect(await codesIn({}, { endpoint, popup: true })).toEqual(['POPUP_BLOCKED'])
  })
})
