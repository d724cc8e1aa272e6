import { hasChromium, type LaunchedChromium } from '@aiagent/test-support/chromium'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import {
  choose,
  expectNoReason,
  type LoginStage,
  onLoginStage,
  openPage,
  outcomeOf,
  pressForPopup,
  signInByPopup,
} from './login-stage.ts'

describe.skipIf(!hasChromium())('signing out', () => {
  let chromium: LaunchedChromium
  let stage: LoginStage
  onLoginStage(opened => ({ chromium, stage } = opened))

  const signedIn = async (more: Parameters<LoginStage['address']>[0] = {}) => {
    const page = await openPage(chromium, stage.address({ ...more, authScheme: 'popup' }))
    const { token } = await signInByPopup(page)
    if (more.authScheme === 'redirect') {
      await page.goto(stage.address(more))
      expectNoReason(await outcomeOf(page, 'start'))
    }
    return { page, token }
  }
  const endings = () => stage.asked('/oauth2/v2.0/logout').map(({ query }) => query)
  /** Whether the provider, asked for a login by this page, wants to know who is there. */
  const asksWhoIsThere = async (page: Page) => {
    await page.goto(stage.address({ authScheme: 'popup' }))
    expectNoReason(await outcomeOf(page, 'start'))
    const popup = await pressForPopup(page, 'login')
    await choose(popup, 'new-customer')
    return expectNoReason(await outcomeOf(page, 'login')).token?.sub === 'new-customer'
  }

  it('[AUTH-21] by popup: without a state, back to the redirect page with logout=true, for the signed-in account', async () => {
    const { page } = await signedIn()
    const popup = await pressForPopup(page, 'logout')
    expect(await outcomeOf(page, 'logout')).toEqual({ call: 'logout' })
    expect(popup.isClosed()).toBe(true)
    const [query = {}] = endings()
    expect(query).toEqual({
      id_token_hint: expect.stringMatching(/^ey/),
      post_logout_redirect_uri: `${stage.origin}/callback.html?logout=true`,
    })
    expect(JSON.parse(atob((query['id_token_hint'] ?? '').split('.')[1] ?? '')).sub).toBe('customer')
    expect(await asksWhoIsThere(page)).toBe(true)
  })

  it('[AUTH-21] by popup: comes back from a provider with a cross-origin opener policy', async () => {
    stage.settings.loginOpenerPolicy = 'same-origin'
    const { page } = await signedIn()
    await pressForPopup(page, 'logout')
    expect(await outcomeOf(page, 'logout')).toEqual({ call: 'logout' })
  })

  it('[AUTH-21] by redirect: with the address of the page, without its hash, as the state', async () => {
    const { page } = await signedIn({ authScheme: 'redirect' })
    const address = page.url()
    await page.evaluate(() => (location.hash = '#part'))
    const back = page.waitForURL(address)
    await page.click('#logout')
    await back
    expectNoReason(await outcomeOf(page, 'start'))
    expect(page.url()).toBe(address)
    expect(endings()).toEqual([
      {
        id_token_hint: expect.stringMatching(/^ey/),
        post_logout_redirect_uri: `${stage.origin}/callback.html`,
        state: address,
      },
    ])
    expect(await asksWhoIsThere(page)).toBe(true)
  })

  it('[AUTH-21] by redirect: with the route that the host names as the state', async () => {
    const elsewhere = `${stage.address({ authScheme: 'redirect' })}&route=elsewhere`
    const { page } = await signedIn({ authScheme: 'redirect', nextRoute: elsewhere })
    const back = page.waitForURL(elsewhere)
    await page.click('#logout')
    await back
    expect(endings()[0]?.['state']).toBe(elsewhere)
  })

  it('[AUTH-22] without an end session endpoint goes to where the access token’s logout claim says', async () => {
    stage.settings.endSessionEndpoint = false
    const { page } = await signedIn()
    const popup = await pressForPopup(page, 'logout')
    await popup.waitForSelector('text=You are signed out')
    expect(await outcomeOf(page, 'logout')).toEqual({ call: 'logout' })
    expect(stage.asked('/sign-out')).toHaveLength(1)
    await popup.close()
    expect(await asksWhoIsThere(page)).toBe(true)
  })

  it('[AUTH-22] with neither, goes to the constructed endpoint', async () => {
    stage.settings.endSessionEndpoint = false
    stage.settings.logoutClaim = false
    const { page } = await signedIn()
    await pressForPopup(page, 'logout')
    expect(await outcomeOf(page, 'logout')).toEqual({ call: 'logout' })
    // Nothing waits for this window, from which the user may not return.
    await expect
      .poll(endings)
      .toMatchObject([{ post_logout_redirect_uri: `${stage.origin}/callback.html?logout=true` }])
    expect(await asksWhoIsThere(page)).toBe(true)
  })

  it('leaves nothing of the login in the stores of the page', async () => {
    const { page } = await signedIn()
    expect(await page.evaluate(() => loginHost.storesSecrets())).toBe(true)
    await pressForPopup(page, 'logout')
    await outcomeOf(page, 'logout')
    expect(await page.evaluate(() => loginHost.storesSecrets())).toBe(false)
  })
})
