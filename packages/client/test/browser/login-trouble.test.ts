import { hasChromium, type LaunchedChromium, launchChromium, servePages } from '@aiagent/test-support/chromium'
import { describe, expect, it } from 'vitest'
import { bundleLoginHost, expectNoReason, type LoginStage, onLoginStage, openPage, outcomeOf } from './login-stage.ts'

describe.skipIf(!hasChromium())('a browser that cannot do a login', () => {
  let chromium: LaunchedChromium
  let stage: LoginStage
  onLoginStage(opened => ({ chromium, stage } = opened))

  it('[AUTH-19] says so when the store is forbidden, and asks to refresh', async () => {
    const page = await chromium.newPage()
    await page.addInitScript(() => {
      Object.defineProperty(window, 'sessionStorage', {
        get: () => {
          throw new DOMException('Access is denied for this document.', 'SecurityError')
        },
      })
    })
    await page.goto(stage.address())
    const { reason, message } = await outcomeOf(page, 'start')
    expect(reason).toBe('browser_unsupported')
    expect(message).toMatch(/refresh/i)
  })

  it('[AUTH-19] says so on a page without encryption, and asks to refresh', async () => {
    const insecure = await launchChromium({
      args: ['--host-resolver-rules=MAP host.test 127.0.0.1'],
      context: { ignoreHTTPSErrors: true },
    })
    const pages = await servePages({
      '/': '<!doctype html><button id="login">Sign in</button><script src="/host.js"></script>',
      '/host.js': await bundleLoginHost(),
    })
    try {
      const origin = `http://host.test:${new URL(pages.url).port}`
      const setup = { endpoint: stage.service.url, config: stage.config({ redirectUri: `${origin}/callback.html` }) }
      const page = await openPage(insecure, `${origin}/?${new URLSearchParams({ setup: JSON.stringify(setup) })}`)
      expect(await page.evaluate(() => isSecureContext)).toBe(false)
      await page.click('#login')
      const { reason, message } = await outcomeOf(page, 'login')
      expect(reason).toBe('browser_unsupported')
      expect(message).toMatch(/refresh/i)
    } finally {
      await Promise.all([insecure.close(), pages.close()])
    }
  })

  it('[AUTH-19] [SEC-09] says so when the beginning of a redirect login is lost, and asks to refresh', async () => {
    const page = await openPage(chromium, stage.address({ authScheme: 'redirect' }))
    await page.click('#login')
    await page.waitForURL(`${stage.authority}/interaction/**`)
    // The answer comes to a tab whose sessionStorage knows nothing of the login.
    const elsewhere = await chromium.newPage()
    await elsewhere.goto(page.url())
    await elsewhere.click('button[value="customer"]')
    await elsewhere.waitForURL(`${stage.origin}/callback.html?**`)
    await expect.poll(() => elsewhere.textContent('body')).toMatch(/refresh/i)
    // The application can sign in again.
    await elsewhere.goto(stage.address({ authScheme: 'redirect' }))
    expectNoReason(await outcomeOf(elsewhere, 'start'))
  })
})
