import { hasChromium, type LaunchedChromium } from '@aiagent/test-support/chromium'
import { describe, expect, it } from 'vitest'
import {
  choose,
  expectNoReason,
  type LoginStage,
  msalFiles,
  onLoginStage,
  openAtOnce,
  openPage,
  outcomeOf,
  press,
  pressForPopup,
  signInByPopup,
} from './login-stage.ts'
import { POPUP_TIMEOUT_MS } from './page/popup-timeout.ts'

describe.skipIf(!hasChromium())('a host that runs @azure/msal-browser', () => {
  let chromium: LaunchedChromium
  let stage: LoginStage
  onLoginStage(opened => ({ chromium, stage } = opened), msalFiles)

  it('signs in by popup, renews without a window, restores the session, and reports that interaction is required', async () => {
    const page = await openPage(chromium, stage.address())
    const { token } = await signInByPopup(page)
    expect(token).toMatchObject({ sub: 'customer', scope: 'api://acme/core.aiservices.read' })
    expect(stage.asked('/oauth2/v2.0/authorize')[0]?.query).toMatchObject({
      domain_hint: new URL(stage.service.url).host,
    })
    const renewed = await press(page, 'refresh')
    expect(renewed.token?.sub).toBe('customer')
    expect(renewed.token?.jti).not.toBe(token?.jti)
    expect(stage.grants()).toEqual(['authorization_code', 'refresh_token'])
    await page.reload()
    expectNoReason(await outcomeOf(page, 'start'))
    // The library of the host may renew the token meanwhile, without the user.
    expect((await press(page, 'token')).token?.sub).toBe('customer')
    expect(stage.prompts()).toEqual([undefined])
    stage.settings.silentRenewal = 'interaction-required'
    expect(await press(page, 'refresh')).toMatchObject({ reason: 'interaction_required' })
    expect(chromium.context.pages()).toEqual([page])
  })

  it('signs in by redirect and comes back to where it began', async () => {
    const address = stage.address({ authScheme: 'redirect' })
    const page = await openPage(chromium, address)
    await page.click('#login')
    await page.waitForURL(`${stage.authority}/interaction/**`)
    await choose(page, 'customer')
    await page.waitForURL(`${stage.origin}/?**`)
    expectNoReason(await outcomeOf(page, 'start'))
    expect((await press(page, 'token')).token?.sub).toBe('customer')
    expect(page.url()).toBe(address)
  })

  it('opens a popup when the renewal of a token about to expire needs interaction', async () => {
    stage.settings.tokenLifeSeconds = 200
    const page = await openPage(chromium, stage.address())
    const { token } = await signInByPopup(page)
    await page.reload()
    expectNoReason(await outcomeOf(page, 'start'))
    stage.settings.silentRenewal = 'interaction-required'
    await choose(await pressForPopup(page, 'token'), 'customer')
    const renewed = await outcomeOf(page, 'token')
    expect(renewed.token?.sub).toBe('customer')
    expect(renewed.token?.jti).not.toBe(token?.jti)
  })

  it('rejects with `popup_blocked` when the window is blocked', async () => {
    const { outcome } = await openAtOnce(chromium, stage.address({}, 'login'), 'login')
    expect(outcome).toMatchObject({ reason: 'popup_blocked' })
  })

  it('rejects with `popup_timeout` for a closed window when its time limit is over', async () => {
    const page = await openPage(chromium, stage.address())
    await page.clock.install()
    const popup = await pressForPopup(page, 'login')
    await popup.waitForSelector('button[value="customer"]')
    await popup.close()
    await page.clock.runFor(POPUP_TIMEOUT_MS)
    expect(await outcomeOf(page, 'login')).toMatchObject({ reason: 'popup_timeout' })
  })

  it('comes back from a login page with a cross-origin opener policy', async () => {
    stage.settings.loginOpenerPolicy = 'same-origin'
    const page = await openPage(chromium, stage.address())
    expect((await signInByPopup(page)).token?.sub).toBe('customer')
  })

  it('signs out by popup, at the provider too', async () => {
    const page = await openPage(chromium, stage.address())
    await signInByPopup(page)
    await pressForPopup(page, 'logout')
    expect(await outcomeOf(page, 'logout')).toEqual({ call: 'logout' })
    expect(stage.asked('/oauth2/v2.0/logout')[0]?.query).toMatchObject({
      id_token_hint: expect.stringMatching(/^ey/),
      post_logout_redirect_uri: `${stage.origin}/callback.html?logout=true`,
    })
    await page.reload()
    expectNoReason(await outcomeOf(page, 'start'))
    expect((await signInByPopup(page, 'new-customer')).token?.sub).toBe('new-customer')
  })

  it('signs out by redirect and comes back to the page', async () => {
    const page = await openPage(chromium, stage.address())
    await signInByPopup(page)
    const address = stage.address({ authScheme: 'redirect' })
    await page.goto(address)
    expectNoReason(await outcomeOf(page, 'start'))
    const back = page.waitForEvent('load')
    await page.click('#logout')
    await back
    await page.waitForURL(address)
    expect(stage.asked('/oauth2/v2.0/logout')).toHaveLength(1)
    expectNoReason(await outcomeOf(page, 'start'))
    await page.click('#login')
    await page.waitForSelector('button[value="new-customer"]')
  })

  it('signs out locally only when the provider names no end session endpoint', async () => {
    stage.settings.endSessionEndpoint = false
    const page = await openPage(chromium, stage.address())
    await signInByPopup(page)
    await page.click('#logout')
    expect(await outcomeOf(page, 'logout')).toEqual({ call: 'logout' })
    expect([...stage.asked('/sign-out'), ...stage.asked('/oauth2/v2.0/logout')]).toEqual([])
    await page.reload()
    expectNoReason(await outcomeOf(page, 'start'))
    expect(await press(page, 'refresh')).toMatchObject({ reason: 'interaction_required' })
  })
})
