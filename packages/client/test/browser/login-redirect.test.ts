import { hasChromium, type LaunchedChromium } from '@aiagent/test-support/chromium'
import { describe, expect, it } from 'vitest'
import { choose, expectNoReason, type LoginStage, onLoginStage, openPage, outcomeOf } from './login-stage.ts'

describe.skipIf(!hasChromium())('login by redirect', () => {
  let chromium: LaunchedChromium
  let stage: LoginStage
  onLoginStage(opened => ({ chromium, stage } = opened))

  /** Signs in and waits until the page is where it ends up: where it began, unless told otherwise. */
  const signIn = async (address: string, to = address.split('#', 1)[0]) => {
    const page = await openPage(chromium, address)
    await page.click('#login')
    await page.waitForURL(`${stage.authority}/interaction/**`)
    await choose(page, 'customer')
    await page.waitForURL(url => url.href === to)
    expectNoReason(await outcomeOf(page, 'start'))
    await page.click('#token')
    return { page, outcome: await outcomeOf(page, 'token') }
  }

  it('[AUTH-03] [AUTH-15] leaves the page with the way back in the state, and comes back to it signed in', async () => {
    const address = stage.address({ authScheme: 'redirect' })
    const { page, outcome } = await signIn(`${address}#part`)
    expect(outcome.token?.sub).toBe('customer')
    // The way back has no hash, and no code stays in the address.
    expect(page.url()).toBe(address)
    const [{ query } = { query: {} as Record<string, string> }] = stage.asked('/oauth2/v2.0/authorize')
    expect(decodeURIComponent(query['state'] ?? '')).toContain(address)
    expect(chromium.context.pages()).toHaveLength(1)
  })

  it('[AUTH-15] comes back to the route that the host names', async () => {
    const elsewhere = `${stage.address({ authScheme: 'redirect' })}&route=elsewhere`
    const { page, outcome } = await signIn(stage.address({ authScheme: 'redirect', nextRoute: elsewhere }), elsewhere)
    expect(page.url()).toBe(elsewhere)
    expect(outcome.token?.sub).toBe('customer')
  })

  it('[AUTH-15] also returns to a page of the application itself, whose address keeps no code', async () => {
    const { page, outcome } = await signIn(stage.address({ authScheme: 'redirect', redirectUri: `${stage.origin}/` }))
    expect(outcome.token?.sub).toBe('customer')
    expect(page.url()).not.toMatch(/[?&](?:code|state|iss)=/)
  })

  it('restores the session after a reload without user interaction', async () => {
    const { page, outcome } = await signIn(stage.address({ authScheme: 'redirect' }))
    const asked = stage.asked('').length
    await page.reload()
    expectNoReason(await outcomeOf(page, 'start'))
    await page.click('#token')
    expect((await outcomeOf(page, 'token')).token).toEqual(outcome.token)
    expect(stage.asked('').filter(({ path }) => path.startsWith('/acme/')).length).toBeLessThanOrEqual(asked)
  })

  it('rejects initialize() with `popup_closed` after the user cancelled', async () => {
    const page = await openPage(chromium, stage.address({ authScheme: 'redirect' }))
    await page.click('#login')
    await page.waitForURL(`${stage.authority}/interaction/**`)
    await page.click('button[name="cancel"]')
    await page.waitForURL(`${stage.origin}/?**`)
    expect((await outcomeOf(page, 'start')).reason).toBe('popup_closed')
  })
})
