import { describeInEngines, type EnginePage } from '@aiagent/test-support/engines'
import { afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { SETTLED_LOOKS } from '../../src/auth/login/popup-navigator.ts'
import { bundleLoginHost, countLooksHere, LoginStage } from '../browser/login-stage.ts'
import type { Outcome } from '../browser/page/login-host.ts'

describeInEngines('login', at => {
  let bundle = ''
  let stage: LoginStage
  beforeAll(async () => {
    bundle = await bundleLoginHost()
  })
  beforeEach(async () => {
    stage = await LoginStage.open(bundle)
  })
  afterEach(() => stage.close())

  /** Waits for the outcome of a call, and takes it. */
  const outcomeOf = async (page: EnginePage, call: Outcome['call']): Promise<Outcome> => {
    await page.waitFor(name => globalThis.loginHost?.outcomes.some(outcome => outcome.call === name), call)
    return page.evaluate(name => {
      const { outcomes } = globalThis.loginHost
      return outcomes.splice(
        outcomes.findIndex(outcome => outcome.call === name),
        1,
      )[0] as Outcome
    }, call)
  }
  const openHost = async (address: string) => {
    const page = await at.engine.newPage()
    await page.goto(address)
    expect((await outcomeOf(page, 'start')).reason).toBeUndefined()
    return page
  }
  const openPopup = (page: EnginePage) => at.engine.opened(() => page.click('#login'))
  const expectRestored = async (page: EnginePage, token: Outcome['token']) => {
    const logins = stage.prompts().length
    await page.reload()
    await outcomeOf(page, 'start')
    await page.click('#token')
    expect((await outcomeOf(page, 'token')).token).toEqual(token)
    expect(stage.prompts()).toHaveLength(logins)
  }

  it('[AUTH-03] [AUTH-15] signs a user in by popup, opens a session with the token, and restores it after a reload', async () => {
    const page = await openHost(stage.address())
    const popup = await openPopup(page)
    await popup.click('button[value="customer"]')
    const { token, reason } = await outcomeOf(page, 'login')
    expect([reason, token]).toMatchObject([undefined, { sub: 'customer', scope: 'api://acme/core.aiservices.read' }])
    expect(await page.evaluate(() => loginHost.openSession())).toBe(200)
    await expect.poll(() => at.engine.countPages()).toBe(1)
    expect(stage.asked('/oauth2/v2.0/authorize')[0]?.query).toMatchObject({
      code_challenge_method: 'S256',
      response_type: 'code',
    })
    await expectRestored(page, token)
  })

  it('[AUTH-03] comes back from a login page with a cross-origin opener policy', async () => {
    stage.settings.loginOpenerPolicy = 'same-origin'
    const page = await openHost(stage.address())
    const popup = await openPopup(page)
    expect(await popup.waitFor(() => document.querySelector('button') !== null && window.opener === null)).toBe(true)
    await popup.click('button[value="customer"]')
    expect(await outcomeOf(page, 'login')).toMatchObject({ token: { sub: 'customer' } })
  })

  it('rejects with `popup_closed` when the user cancels, or closes the window, and works with the next click', async () => {
    const page = await openHost(stage.address())
    await page.evaluate(countLooksHere)
    await (await openPopup(page)).click('button[name="cancel"]')
    expect((await outcomeOf(page, 'login')).reason).toBe('popup_closed')
    await expect.poll(() => at.engine.countPages()).toBe(1)
    const popup = await openPopup(page)
    await popup.waitFor(() => document.querySelector('button[name="cancel"]') !== null)
    const before = await page.evaluate(() => looks)
    await page.waitFor(count => looks > count, before + SETTLED_LOOKS + 2)
    await popup.close()
    expect((await outcomeOf(page, 'login')).reason).toBe('popup_closed')
    await (await openPopup(page)).click('button[value="customer"]')
    expect((await outcomeOf(page, 'login')).token?.sub).toBe('customer')
  })

  it('[AUTH-03] [AUTH-15] signs a user in by redirect, and comes back to the page without a code in its address', async () => {
    const address = stage.address({ authScheme: 'redirect' })
    const page = await openHost(address)
    await page.click('#login')
    await page.click('button[value="customer"]')
    await page.waitFor(expected => location.href === expected, address)
    expect((await outcomeOf(page, 'start')).reason).toBeUndefined()
    await page.click('#token')
    const { token } = await outcomeOf(page, 'token')
    expect(token?.sub).toBe('customer')
    expect(await at.engine.countPages()).toBe(1)
    await expectRestored(page, token)
  })

  it('signs a user out at the provider, so that the next login asks again', async () => {
    const page = await openHost(stage.address({ authScheme: 'redirect' }))
    await page.click('#login')
    await page.click('button[value="customer"]')
    await outcomeOf(page, 'start')
    await page.click('#logout')
    await page.waitFor(() => globalThis.loginHost?.outcomes.some(({ call }) => call === 'start'))
    await page.click('#login')
    await page.click('button[value="customer"]')
    await outcomeOf(page, 'start')
    expect(stage.prompts()).toHaveLength(2)
  })
})
