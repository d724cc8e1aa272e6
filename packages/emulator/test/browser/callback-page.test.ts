import { hasChromium, type LaunchedChromium, launchChromium } from '@aiagent/test-support/chromium'
import { afterEach, describe, expect, it } from 'vitest'
import { AUTH_REDIRECT_PATH } from '../../src/index.ts'
import { type EmulatorServer, serveEmulator } from '../../src/node/index.ts'

let server: EmulatorServer
let chromium: LaunchedChromium
afterEach(async () => {
  await chromium.close()
  await server.close()
})

describe.skipIf(!hasChromium())('the callback page of the emulator', () => {
  it('[SEC-44] keeps code and state out of the address of the application', async () => {
    server = await serveEmulator()
    chromium = await launchChromium()
    const page = await chromium.newPage()
    const application = `${server.url}/system/deploymentInfo?tab=1`
    const answer = `${server.url}${AUTH_REDIRECT_PATH}?code=c-1&state=s-1;${encodeURIComponent(application)}`
    await page.goto(answer)
    await page.waitForURL(application)
    expect(await page.evaluate(() => Object.values(sessionStorage))).toEqual([new URL(answer).href])
    const asked = server.emulator.control.requests().filter(({ path }) => path === '/system/deploymentInfo')
    expect(asked.map(({ query }) => query)).toEqual([{ tab: '1' }])
  })
})
