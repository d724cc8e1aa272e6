import { hasChromium, type LaunchedChromium } from '@aiagent/test-support/chromium'
import { describe, expect, it } from 'vitest'
import { type LoginStage, onLoginStage, openPage, signInByPopup } from './login-stage.ts'

describe.skipIf(!hasChromium())('the login that the emulator configures', () => {
  let chromium: LaunchedChromium
  let stage: LoginStage
  onLoginStage(opened => ({ chromium, stage } = opened))

  it('[REL-42] signs a user in as it is, and the token opens a session', async () => {
    const config = stage.service.emulator.pkceConfig({ redirectUri: `${stage.origin}/callback.html` })
    const page = await openPage(chromium, stage.address(config))
    const { token } = await signInByPopup(page)
    expect(token).toMatchObject({ sub: 'customer', scope: expect.stringContaining('api://acme/core.aiservices.read') })
    expect(await page.evaluate(() => loginHost.openSession())).toBe(200)
  })
})
