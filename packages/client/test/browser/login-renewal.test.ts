import { hasChromium, type LaunchedChromium } from '@aiagent/test-support/chromium'
import { describe, expect, it } from 'vitest'
import {
  choose,
  expectNoReason,
  type LoginStage,
  onLoginStage,
  openPage,
  outcomeOf,
  press,
  pressForPopup,
  signInByPopup,
} from './login-stage.ts'

describe.skipIf(!hasChromium())('the renewal of a login', () => {
  let chromium: LaunchedChromium
  let stage: LoginStage
  onLoginStage(opened => ({ chromium, stage } = opened))

  /** A page whose restored token has less than five minutes to live. */
  const openNearTheEnd = async (more: Parameters<LoginStage['address']>[0] = {}) => {
    stage.settings.tokenLifeSeconds = 200
    const page = await openPage(chromium, stage.address({ ...more, authScheme: 'popup' }))
    const { token } = await signInByPopup(page)
    stage.settings.tokenLifeSeconds = 3600
    await page.goto(stage.address(more))
    expectNoReason(await outcomeOf(page, 'start'))
    return { page, token }
  }

  it('[AUTH-17] a token about to expire is renewed with the refresh token, without a window', async () => {
    const { page, token } = await openNearTheEnd()
    const renewed = await press(page, 'token')
    expect(renewed.token).toMatchObject({ sub: 'customer', scope: token?.scope })
    expect(renewed.token?.jti).not.toBe(token?.jti)
    expect(stage.grants()).toEqual(['authorization_code', 'refresh_token'])
    expect(stage.prompts()).toEqual([undefined])
    // The new one is good, so nobody is asked again.
    expect((await press(page, 'token')).token).toEqual(renewed.token)
    expect(stage.grants()).toHaveLength(2)
  })

  it('[REL-250] a token is renewed although the browser reports that it is offline', async () => {
    const { page, token } = await openNearTheEnd()
    await page.evaluate(() => Object.defineProperty(navigator, 'onLine', { value: false }))
    expect((await press(page, 'token')).token?.jti).not.toBe(token?.jti)
    expect(stage.grants()).toEqual(['authorization_code', 'refresh_token'])
  })

  it('every renewal brings a new refresh token, and the next one uses it', async () => {
    const page = await openPage(chromium, stage.address())
    await signInByPopup(page)
    await press(page, 'refresh')
    await press(page, 'refresh')
    const used = stage.asked('/oauth2/v2.0/token').map(({ form }) => form['refresh_token'])
    expect(new Set(used).size).toBe(3)
  })

  it('[AUTH-17] after a rejected refresh token uses the session at the provider, in a hidden frame', async () => {
    const { page, token } = await openNearTheEnd()
    stage.settings.silentRenewal = 'by-session-only'
    const renewed = await press(page, 'token')
    expect(renewed.token?.sub).toBe('customer')
    expect(renewed.token?.jti).not.toBe(token?.jti)
    expect(stage.prompts()).toEqual([undefined, 'none'])
    expect(chromium.context.pages()).toEqual([page])
  })

  it.each(['interaction-required', 'fails'] as const)(
    '[AUTH-17] opens a popup where silent renewal ends with %s',
    async silentRenewal => {
      const { page, token } = await openNearTheEnd()
      stage.settings.silentRenewal = silentRenewal
      await choose(await pressForPopup(page, 'token'), 'customer')
      const renewed = await outcomeOf(page, 'token')
      expect(renewed.token?.sub).toBe('customer')
      expect(renewed.token?.jti).not.toBe(token?.jti)
      expect(stage.prompts()).toEqual([undefined, 'none', undefined])
    },
  )

  it('[AUTH-17] redirects the page where silent renewal needs interaction, by scheme', async () => {
    const { page, token } = await openNearTheEnd({ authScheme: 'redirect' })
    stage.settings.silentRenewal = 'interaction-required'
    await page.click('#token')
    await page.waitForURL(`${stage.authority}/interaction/**`)
    await choose(page, 'customer')
    await page.waitForURL(`${stage.origin}/?**`)
    expectNoReason(await outcomeOf(page, 'start'))
    const renewed = await press(page, 'token')
    expect(renewed.token?.sub).toBe('customer')
    expect(renewed.token?.jti).not.toBe(token?.jti)
  })

  it('a forced renewal opens no window and rejects with `interaction_required`', async () => {
    const page = await openPage(chromium, stage.address())
    await signInByPopup(page)
    stage.settings.silentRenewal = 'interaction-required'
    expect(await press(page, 'refresh')).toMatchObject({ reason: 'interaction_required' })
    expect(chromium.context.pages()).toEqual([page])
  })

  it('[REL-38] two tabs that renew at the same time do not use up each other’s refresh token', async () => {
    const first = await openPage(chromium, stage.address({ cacheLocation: 'localStorage' }))
    await signInByPopup(first)
    const second = await openPage(chromium, stage.address({ cacheLocation: 'localStorage' }))
    await Promise.all([first.click('#refresh'), second.click('#refresh')])
    const outcomes = [await outcomeOf(first, 'refresh'), await outcomeOf(second, 'refresh')]
    expect(outcomes.map(({ token }) => token?.sub)).toEqual(['customer', 'customer'])
    expect((await press(first, 'refresh')).token?.sub).toBe('customer')
    expect(stage.asked('/oauth2/v2.0/token').map(({ status }) => status)).not.toContain(400)
  })
})
