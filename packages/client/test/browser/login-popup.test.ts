import { hasChromium, type LaunchedChromium } from '@aiagent/test-support/chromium'
import { needs } from '@aiagent/test-support/needs'
import { describe, expect, it } from 'vitest'
import {
  choose,
  countLooks,
  type LoginStage,
  launchForLogins,
  onLoginStage,
  openAtOnce,
  openPage,
  outcomeOf,
  pressForPopup,
  signInByPopup,
  untilSettled,
} from './login-stage.ts'

describe.skipIf(!hasChromium())('login by popup', () => {
  let chromium: LaunchedChromium
  let stage: LoginStage
  onLoginStage(opened => ({ chromium, stage } = opened))

  it('[AUTH-03] [AUTH-15] signs a user in with nothing of the page in the request, and the token opens a session', async () => {
    const page = await openPage(chromium, stage.address({ nextRoute: '/elsewhere' }))
    const { token } = await signInByPopup(page)
    expect(token).toMatchObject({ sub: 'customer', scope: 'api://acme/core.aiservices.read' })
    expect(chromium.context.pages()).toEqual([page])
    const [{ query } = { query: {} as Record<string, string> }] = stage.asked('/oauth2/v2.0/authorize')
    expect(query).toMatchObject({ code_challenge_method: 'S256', client_id: 'app-ext', response_type: 'code' })
    // The identity library's own anti-forgery value, and nothing else.
    expect(query['state']).toMatch(/^[0-9a-f]{32}$/)
    expect(JSON.stringify(query)).not.toContain('elsewhere')
    expect(await page.evaluate(() => loginHost.openSession())).toBe(200)
  })

  it('[AUTH-16] hands domain_hint, localLogin and further parameters to the provider', async () => {
    const more = { localLogin: true, extraQueryParameters: { ui_locales: 'de-de' } }
    await signInByPopup(await openPage(chromium, stage.address(more)))
    expect(stage.asked('/oauth2/v2.0/authorize')[0]?.query).toMatchObject({
      domain_hint: new URL(stage.service.url).host,
      localLogin: 'true',
      ui_locales: 'de-de',
    })
  })

  it('rejects with `popup_closed` when the user closes the window', async () => {
    await countLooks(chromium)
    const page = await openPage(chromium, stage.address())
    const popup = await pressForPopup(page, 'login')
    await popup.waitForSelector('button[value="customer"]')
    await untilSettled(page)
    await popup.close()
    expect(await outcomeOf(page, 'login')).toMatchObject({ reason: 'popup_closed' })
    // And can be tried again.
    expect((await signInByPopup(page)).token?.sub).toBe('customer')
  })

  it(
    'rejects with `popup_blocked` when the browser blocks the window, and works with the next click',
    needs('popup blocker'),
    async () => {
      const blocking = await launchForLogins({ needs: ['popup blocker'] })
      try {
        const { page, outcome } = await openAtOnce(blocking, stage.address({}, 'login'), 'login')
        expect(outcome.reason).toBe('popup_blocked')
        expect(outcome.message).toContain('allow popups')
        expect(stage.asked('/oauth2/v2.0/authorize')).toEqual([])
        expect((await signInByPopup(page)).token?.sub).toBe('customer')
      } finally {
        await blocking.close()
      }
    },
  )

  it('[AUTH-03] comes back from a login page with a cross-origin opener policy', async () => {
    stage.settings.loginOpenerPolicy = 'same-origin'
    const page = await openPage(chromium, stage.address())
    const popup = await pressForPopup(page, 'login')
    await popup.waitForSelector('button[value="customer"]')
    expect(await popup.evaluate(() => window.opener)).toBeNull()
    await choose(popup, 'customer')
    expect(await outcomeOf(page, 'login')).toMatchObject({ token: { sub: 'customer' } })
  })

  it('[REL-52] never says that the window was closed while a login page with an opener policy is open', async () => {
    stage.settings.loginOpenerPolicy = 'same-origin'
    await countLooks(chromium)
    const page = await openPage(chromium, stage.address())
    const popup = await pressForPopup(page, 'login')
    await popup.waitForSelector('button[value="customer"]')
    const before = await page.evaluate(() => looks)
    // The page has seen for a while that the window is separated, or looks no more.
    await page.evaluate(() => new Promise(resolve => setTimeout(resolve, 3_000)))
    expect(await page.evaluate(() => loginHost.outcomes)).toEqual([])
    expect(await page.evaluate(() => looks)).toBeGreaterThanOrEqual(before)
    await choose(popup, 'customer')
    expect(await outcomeOf(page, 'login')).toMatchObject({ token: { sub: 'customer' } })
  })

  it('[REL-54] names the page on which the window ended, if it is not the callback page', async () => {
    const page = await openPage(chromium, stage.address())
    // The page in the window passes nothing on, as the application does where a server answers unknown paths with it.
    await chromium.context.addInitScript(() => {
      if (location.pathname !== '/callback.html') return
      for (const [name, value] of Object.entries({ opener: null, BroadcastChannel: undefined, close: () => {} }))
        Object.defineProperty(window, name, { value })
    })
    await choose(await pressForPopup(page, 'login'), 'customer')
    const { reason, message } = await outcomeOf(page, 'login')
    expect([reason, message]).toEqual(['invalid_input', expect.stringContaining(`${stage.origin}/callback.html`)])
  })

  it('rejects with `popup_closed` when the user cancels on the login page', async () => {
    const page = await openPage(chromium, stage.address())
    const popup = await pressForPopup(page, 'login')
    await popup.click('button[name="cancel"]')
    expect(await outcomeOf(page, 'login')).toMatchObject({ reason: 'popup_closed' })
  })

  it('restores the session after a reload without a request to the provider', async () => {
    const page = await openPage(chromium, stage.address())
    const { token } = await signInByPopup(page)
    const before = stage.service.emulator.control.requests().filter(({ path }) => path.startsWith('/acme/')).length
    await page.reload()
    await outcomeOf(page, 'start')
    await page.click('#token')
    expect((await outcomeOf(page, 'token')).token).toEqual(token)
    expect(stage.service.emulator.control.requests().filter(({ path }) => path.startsWith('/acme/'))).toHaveLength(
      before,
    )
  })

  it('[AUTH-18] authenticate() runs the interactive login although a session was restored', async () => {
    const page = await openPage(chromium, stage.address())
    const { token } = await signInByPopup(page)
    await page.reload()
    await outcomeOf(page, 'start')
    const popup = await pressForPopup(page, 'login')
    const again = await outcomeOf(page, 'login')
    // The provider knows the person, so its window needs no click.
    expect(popup.isClosed()).toBe(true)
    expect(again.token?.jti).not.toBe(token?.jti)
    expect(stage.asked('/oauth2/v2.0/authorize').map(({ query }) => query['prompt'])).toEqual([undefined, undefined])
  })
})
