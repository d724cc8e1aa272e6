import type { AiAgentConfig } from '@aiagent/client'
import { CALLBACK_PAGE } from '@aiagent/client/pkce'
import { type EmulatorServer, serveEmulator } from '@aiagent/emulator/node'
import { eventually } from '@aiagent/test-support'
import { bundleForPage, hasChromium, type LaunchedChromium } from '@aiagent/test-support/chromium'
import { needs } from '@aiagent/test-support/needs'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { choose, launchForLogins, stageCertificate } from './login-stage.ts'

const PAGE_PATH = '/host/'

/** The page is not served by a real server, so Chromium would not let it call a service of this machine. */
const LOCAL = { args: ['--disable-features=LocalNetworkAccessChecks'] }

describe.skipIf(!hasChromium())('an agent for signed-in users, on a page of the deployment', () => {
  let bundle = ''
  let browser: LaunchedChromium
  let chromium: LaunchedChromium
  let service: EmulatorServer
  beforeAll(async () => {
    const source = `import { startAgentPage } from './page/agent-login-host.ts'\nstartAgentPage()`
    ;[bundle, browser] = await Promise.all([bundleForPage(source, import.meta.url), launchForLogins(LOCAL)])
  })
  afterAll(() => browser?.close())
  afterEach(async () => {
    await chromium?.close()
    await service?.close()
  })

  const serve = async (callbackPage?: string) => {
    chromium = await browser.newWindow()
    service = await serveEmulator({
      tls: await stageCertificate(),
      reply: ({ text }) => ({ content: `You said: ${text}` }),
      ...(callbackPage !== undefined && { callbackPage }),
    })
  }
  beforeEach(() => serve(CALLBACK_PAGE))

  const addressOf = (config: Partial<AiAgentConfig> = {}) => {
    const agent: AiAgentConfig = { id: 'account', endpoint: service.url, ...config }
    return `${service.url}${PAGE_PATH}?${new URLSearchParams({ agent: JSON.stringify(agent) })}`
  }
  const open = async (address: string, given?: Page) => {
    const page = given ?? (await chromium.newPage())
    // In the place of a page that the deployment serves beside its calls.
    await page.route(`${service.url}${PAGE_PATH}**`, route =>
      route.fulfill(
        route.request().url().endsWith('.js')
          ? { contentType: 'text/javascript', body: bundle }
          : { contentType: 'text/html', body: HOST_PAGE },
      ),
    )
    await page.goto(address)
    return page
  }
  const answers = async (page: Page) => {
    await page.waitForFunction(() =>
      globalThis.agentHeard?.some(text => text.startsWith('You said') || text.startsWith('failed')),
    )
    return page.evaluate(() => agentHeard)
  }
  const authorizations = () =>
    service.emulator.control
      .requests()
      .filter(({ path }) => path.endsWith('/oauth2/v2.0/authorize'))
      .map(({ path, query }) => ({ path, query }))

  const isStored = () => Object.keys(sessionStorage).some(key => key.startsWith('aiagent_oidc_user.'))
  const signInForTab = async (page: Page, isAsked: boolean) => {
    const opening = page.context().waitForEvent('page')
    await page.click('#open')
    // The provider knows the user who has signed in in the other tab.
    if (isAsked) await choose(await opening, 'customer')
    else await opening
  }
  /** Two tabs that share the conversation of the user who has signed in in both. */
  const openTwoTabs = async () => {
    const openTab = async (isAsked: boolean) => {
      const page = await open(addressOf({ tabs: 'share', resume: true }))
      await signInForTab(page, isAsked)
      await page.waitForFunction(() => globalThis.agentHeard.includes('CONNECTED'))
      expect(await page.evaluate(isStored)).toBe(true)
      return page
    }
    const one = await openTab(true)
    return { one, two: await openTab(false) }
  }

  it('[SEC-60] forgets the user in the store of another tab of the conversation, which opens a popup again', async () => {
    const { one, two } = await openTwoTabs()
    await one.click('#leave')
    await two.waitForFunction(() => !Object.keys(sessionStorage).some(key => key.startsWith('aiagent_oidc_user.')))
    await one.waitForFunction(() => globalThis.agentHeard.some(text => text.startsWith('signed out')))
    const asked = authorizations().length
    await signInForTab(two, true)
    await two.waitForFunction(() => globalThis.agentHeard.filter(text => text === 'CONNECTED').length === 2)
    expect(authorizations()).toHaveLength(asked + 1)
  })

  it('[SEC-60] asks for a login in a tab that was discarded while another one signed out, and is loaded again', async () => {
    const { one, two } = await openTwoTabs()
    await two.waitForFunction(() => globalThis.agentHeard.some(text => text.startsWith('You said')))
    // A discarded tab has no page and keeps its sessionStorage, as this copy does once the original is closed.
    const copying = two.context().waitForEvent('page')
    await two.evaluate(() => void window.open('about:blank'))
    const again = await copying
    const stored = () => again.evaluate(() => Object.entries(sessionStorage))
    const [, user = ''] = (await stored()).find(([key]) => key.startsWith('aiagent_oidc_user.')) ?? []
    const { accessToken, refreshToken, idToken } = JSON.parse(user).value
    const ofUser = [accessToken, refreshToken, idToken, ...service.emulator.world.sessions.keys()]
    const areLeft = async () => {
      const texts = (await stored()).join()
      return ofUser.map(text => texts.includes(text))
    }
    await two.close()
    await one.click('#leave')
    await one.waitForFunction(() => globalThis.agentHeard.some(text => text.startsWith('signed out')))
    await one.close()
    await open(two.url(), again)
    expect(await areLeft()).toEqual([true, true, true, true])
    const before = service.emulator.control.requests().length
    const asked = authorizations().length
    const opening = again.context().waitForEvent('page')
    await again.click('#open')
    const popup = await opening
    await eventually(() => authorizations().length === asked + 1, 'the login')
    await expect.poll(areLeft).toEqual([false, false, false, false])
    expect(await again.evaluate(isStored)).toBe(false)
    expect(JSON.stringify(service.emulator.control.requests().slice(before))).not.toContain(accessToken)
    await choose(popup, 'customer')
    await again.waitForFunction(() => globalThis.agentHeard.includes('CONNECTED'))
    expect(service.emulator.world.sessions.size).toBe(2)
  })

  it('[AUTH-03] [CFG-14] opens a popup with the login of the deployment, and chats', async () => {
    const page = await open(addressOf())
    const opening = page.context().waitForEvent('page')
    await page.click('#open')
    await choose(await opening, 'customer')
    expect(await answers(page)).toEqual(['CONNECTED', 'You said: hello'])
    const [{ path, query } = { path: '', query: {} as Record<string, string> }] = authorizations()
    expect(path).toBe('/acme/customer-sign-in/oauth2/v2.0/authorize')
    expect(query).toMatchObject({
      client_id: 'app-ext',
      redirect_uri: `${service.url}/system/templates/selfservice/auth-redirect.html`,
      domain_hint: new URL(service.url).host,
    })
    expect(query['scope']?.split(' ').sort()).toEqual([
      'api://acme/core.aiservices.read',
      'api://acme/core.customermgr.read',
      'api://acme/knowledge.portalmgr.manage',
      'offline_access',
      'openid',
      'profile',
    ])
  })

  it('[AUTH-20] [AUTH-21] signs out by popup as it signed in: the chat is left first, then the provider ends its session', async () => {
    const page = await open(addressOf())
    const opening = page.context().waitForEvent('page')
    await page.click('#open')
    await choose(await opening, 'customer')
    await answers(page)
    let heardAtProvider: string[] = []
    await page.context().route('**/oauth2/v2.0/logout*', async route => {
      heardAtProvider = await page.evaluate(() => [...agentHeard])
      await route.continue()
    })
    await page.click('#leave')
    await page.waitForFunction(() => agentHeard.some(text => /^(signed out|failed)/.test(text)))
    expect(heardAtProvider).toContain('closed 1000')
    expect((await page.evaluate(() => agentHeard)).slice(2)).toEqual(['closed 1000', 'signed out: CLOSED, false, null'])
    const logouts = service.emulator.control.requests().filter(({ path }) => path.endsWith('/oauth2/v2.0/logout'))
    expect(logouts[0]?.query).toMatchObject({
      post_logout_redirect_uri: `${service.url}/system/templates/selfservice/auth-redirect.html?logout=true`,
      id_token_hint: expect.stringMatching(/^eyJ/),
    })
    expect(logouts[0]?.query).not.toHaveProperty('state')
    // Nothing of the library is left in the tab: no user, no token, no metadata.
    const left = await page.evaluate(() => Object.keys(sessionStorage))
    expect(left.filter(key => /context|cache|auth|oidc|login|selectedProfile/.test(key))).toEqual([])
  })

  it('[SEC-13] a logout ends the other agent of the user on the page too', async () => {
    const page = await open(`${addressOf()}&second`)
    const opening = page.context().waitForEvent('page')
    await page.click('#open')
    await choose(await opening, 'customer')
    await page.waitForFunction(() => agentHeard.includes('second connected'))
    expect(authorizations()).toHaveLength(1)
    await page.click('#leave')
    await page.waitForFunction(() => agentHeard.some(text => text.startsWith('signed out')))
    expect(await page.evaluate(() => agentHeard)).toContain('second: CLOSED, false')
  })

  it(
    '[SEC-17] is usable after a logout by redirect from which the user comes back',
    needs('back/forward cache'),
    async () => {
      await chromium.close()
      chromium = await launchForLogins({
        ...LOCAL,
        needs: ['back/forward cache'],
        ignoreDefaultArgs: ['--disable-back-forward-cache'],
      })
      const address = addressOf({ authScheme: 'redirect' })
      const page = await open(address)
      await page.click('#open')
      await page.waitForURL(`${service.url}/acme/customer-sign-in/interaction/**`)
      await choose(page, 'customer')
      await page.waitForURL(address)
      await page.click('#open')
      await answers(page)
      await page.evaluate(() => void (document.title = 'the same document'))
      // The provider does not send the user back, so that the page is the previous one in the history.
      await page.route('**/oauth2/v2.0/logout*', route =>
        route.fulfill({ contentType: 'text/html', body: 'signed out' }),
      )
      await page.click('#leave')
      await page.waitForURL('**/oauth2/v2.0/logout*')
      // A page from the cache does not load, but goBack() would wait for that.
      await page.evaluate(() => void setTimeout(() => history.back()))
      await page.waitForURL(address, { waitUntil: 'commit' })
      await page.waitForFunction(() => agentHeard.some(text => text.startsWith('signed out')))
      expect(await page.title()).toBe('the same document')
      expect(authorizations()).toHaveLength(1)
      await page.evaluate(() => document.getElementById('open')?.click())
      await eventually(() => authorizations().length === 2, 'another login')
    },
  )

  it('[AUTH-18] does not ask again when initialize() has restored the session', async () => {
    const page = await open(addressOf())
    const opening = page.context().waitForEvent('page')
    await page.click('#open')
    await choose(await opening, 'customer')
    await answers(page)
    await page.reload()
    await page.click('#open')
    expect(await answers(page)).toEqual(['CONNECTED', 'You said: hello'])
    expect(authorizations()).toHaveLength(1)
  })

  it('[CFG-14] redirects to the login where the host configures that', async () => {
    const address = addressOf({ authScheme: 'redirect' })
    const page = await open(address)
    await page.click('#open')
    await page.waitForURL(`${service.url}/acme/customer-sign-in/interaction/**`)
    await choose(page, 'customer')
    await page.waitForURL(address)
    await page.click('#open')
    expect(await answers(page)).toEqual(['CONNECTED', 'You said: hello'])
    expect(authorizations()).toHaveLength(1)
  })

  it.each(['popup', 'redirect'] as const)(
    'the emulator’s own page for returns does the same by %s',
    async authScheme => {
      await chromium.close()
      await service.close()
      await serve()
      const address = addressOf({ authScheme })
      const page = await open(address)
      const opening = authScheme === 'popup' ? page.context().waitForEvent('page') : page
      await page.click('#open')
      await choose(await opening, 'customer')
      if (authScheme === 'redirect') {
        await page.waitForURL(`${service.url}${PAGE_PATH}**`)
        await page.click('#open')
      }
      expect(await answers(page)).toEqual(['CONNECTED', 'You said: hello'])
      expect(page.url()).toBe(address)
    },
  )

  it('[INIT-09] [AUTH-12] logs in to the application that vendorclientid names', async () => {
    service.emulator.world.tenant.loginClientIds = ['vendor-app']
    const page = await open(addressOf({ initParams: { vendorclientid: 'vendor-app' } }))
    const opening = page.context().waitForEvent('page')
    await page.click('#open')
    await choose(await opening, 'customer')
    await answers(page)
    expect(authorizations()[0]?.query['client_id']).toBe('vendor-app')
  })
})

const HOST_PAGE = `<!doctype html><html lang="en"><title>Host</title><button id="open">Chat</button><button id="leave">Sign out</button><script src="${PAGE_PATH}host.js"></script>`
