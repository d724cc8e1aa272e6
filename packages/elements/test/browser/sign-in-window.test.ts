import { hasChromium } from '@aiagent/test-support/chromium'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { type ChatStage, listen, received, write } from './chat-page.ts'
import { chatStages } from './chat-stages.ts'

const CHAT = `<style>ai-agent-chat { block-size: 100vh }</style>
<ai-agent-chat endpoint="ENDPOINT" agent-id="account"></ai-agent-chat>
<script>document.querySelector('ai-agent-chat').config = { auth: { type: 'pkce', config: { ...PKCE, authScheme: 'popup' } } }</script>`

describe.skipIf(!hasChromium())('the panel of a login', () => {
  const stages = chatStages()
  let stage: ChatStage

  const open = async (policy?: string) => {
    stage = await stages.open({ settings: { loginOpenerPolicy: policy ?? '' } })
    const { page } = await stage.open(CHAT, { prepare: page => page.setViewportSize({ width: 420, height: 720 }) })
    await button(page, 'Sign in').waitFor()
    return page
  }
  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
  /** Clicks a button that opens the window of the login, and waits for the form in it. */
  const openWindow = async (page: Page, name: string) => {
    const opening = stages.context.waitForEvent('page')
    await button(page, name).click()
    const opened = await opening
    await opened.locator('button[value="customer"]').waitFor()
    await button(page, 'Open again').waitFor()
    return opened
  }
  const expectWaiting = async (page: Page) => {
    expect(await page.getByText('Continue in the window').first().isVisible()).toBe(true)
    expect(await button(page, 'Cancel').count()).toBe(1)
    expect(await page.getByText('How can we help?').count()).toBe(0)
    expect(await page.getByRole('textbox').count()).toBe(0)
  }
  const signIn = async (opened: Page) => {
    await opened.click('button[value="customer"]')
  }

  it.each([
    ['without an opener policy', undefined],
    ['with an opener policy', 'same-origin'],
  ])(
    '[EL-26] stays while the window is open, and opens it again after it was closed at once, %s',
    async (_name, policy) => {
      const page = await open(policy)
      const first = await openWindow(page, 'Sign in')
      await expectWaiting(page)
      await first.close()
      const second = await openWindow(page, 'Open again')
      await expectWaiting(page)
      await signIn(second)
      await page.getByText('Online').waitFor()
      expect(received(stage.service).sessionCalls).toBe(1)
    },
  )

  it.each([
    ['without an opener policy', undefined],
    ['with an opener policy', 'same-origin'],
  ])('[EL-26] asks to sign in again after "Cancel", and ignores a later answer, %s', async (_name, policy) => {
    const page = await open(policy)
    const opened = await openWindow(page, 'Sign in')
    await button(page, 'Cancel').click()
    await button(page, 'Sign in').waitFor()
    await page.getByText('Please sign in').waitFor()
    expect(await button(page, 'Cancel').count()).toBe(0)
    if (policy) {
      // This page cannot close a window that the policy has separated from it.
      const closing = opened.waitForEvent('close')
      await signIn(opened)
      await closing
    } else await expect.poll(() => opened.isClosed()).toBe(true)
    expect(await button(page, 'Sign in').count()).toBe(1)
    expect(await page.evaluate(() => Object.keys(sessionStorage).filter(key => key.includes('user')))).toEqual([])
    expect(received(stage.service).sessionCalls).toBe(0)
    await button(page, 'Sign in').click()
    await page.getByText('Continue in the window').first().waitFor()
  })

  it.each([
    ['without an opener policy', undefined],
    ['with an opener policy', 'same-origin'],
  ])('[EL-26] opens a window after "Cancel" also where a stored login cannot be renewed, %s', async (_name, policy) => {
    const page = await open(policy)
    await signIn(await openWindow(page, 'Sign in'))
    await page.getByText('Online').waitFor()
    await stages.context.clearCookies()
    await page.evaluate(() => {
      const [key = ''] = Object.keys(sessionStorage).filter(each => each.includes('user'))
      const { refreshToken, ...user } = JSON.parse(sessionStorage.getItem(key) ?? '')
      sessionStorage.setItem(key, JSON.stringify({ ...user, expiresAt: 1 }))
    })
    await page.reload()
    await button(page, 'Sign in').waitFor()
    const closed = await openWindow(page, 'Sign in')
    await closed.close()
    await button(page, 'Cancel').click()
    await signIn(await openWindow(page, 'Sign in'))
    await page.getByText('Online').waitFor()
    expect(await button(page, 'Sign in').count()).toBe(0)
  })

  /** Lets the browser block windows; returns the undo. */
  const blockWindows = async (page: Page) => {
    await page.evaluate(() => {
      Object.assign(globalThis, { kept: window.open })
      window.open = () => null
    })
    return () =>
      page.evaluate(() => {
        window.open = Object(globalThis).kept
      })
  }

  it('[EL-80] says that the browser has blocked the window, each time, and what to do', async () => {
    const page = await open()
    const spoken = await listen(page)
    const allow = await blockWindows(page)
    const alert = page.getByRole('alert')
    await button(page, 'Sign in').click()
    for (const _time of ['first', 'again']) {
      await alert.waitFor()
      expect(await alert.textContent()).toMatch(/blocked the window. Allow windows for this page/)
      const before = await alert.elementHandle()
      await button(page, 'Try again').click()
      await page.waitForFunction(node => !node?.isConnected, before)
    }
    await alert.waitFor()
    expect(await button(page, 'Cancel').count()).toBe(0)
    expect((await spoken()).join()).not.toContain('Continue in the window')
    await allow()
    await signIn(await openWindow(page, 'Try again'))
    await page.getByText('Online').waitFor()
    expect(await alert.count()).toBe(0)
  })

  it('[EL-80] says so in a conversation whose login has ended too', async () => {
    const page = await open()
    await signIn(await openWindow(page, 'Sign in'))
    await page.getByText('Online').waitFor()
    await write(page, 'hello')
    await page.getByText('You said: hello').first().waitFor()
    await stages.context.clearCookies()
    await page.evaluate(() => {
      const [key = ''] = Object.keys(sessionStorage).filter(each => each.includes('user'))
      const { refreshToken, ...user } = JSON.parse(sessionStorage.getItem(key) ?? '')
      sessionStorage.setItem(key, JSON.stringify({ ...user, expiresAt: 1 }))
    })
    await page.reload()
    const allow = await blockWindows(page)
    await button(page, 'Sign in').click()
    await page.getByRole('alert').getByText('blocked the window').waitFor()
    await allow()
    await signIn(await openWindow(page, 'Try again'))
    await page.getByText('Online').waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
  })

  it('[EL-81] no longer claims after ten seconds that a window is open, and ends nothing', async () => {
    const page = await open('same-origin')
    const spoken = await listen(page)
    await page.clock.install()
    const opened = await openWindow(page, 'Sign in')
    await page.clock.runFor(2_000)
    await expectWaiting(page)
    await page.clock.runFor(10_000)
    await page.getByText('If you closed the window, open it again.').first().waitFor()
    await expect
      .poll(spoken)
      .toEqual(['Continue in the window that has opened.', 'If you closed the window, open it again.'])
    await page.clock.runFor(3_600_000)
    expect(await button(page, 'Cancel').count()).toBe(1)
    await page.clock.resume()
    await signIn(opened)
    await page.getByText('Online').waitFor()
  })

  it('[EL-81] says nothing of a window where a sign-in leaves the page', async () => {
    stage = await stages.open()
    const { page } = await stage.open(CHAT.replace("authScheme: 'popup'", "authScheme: 'redirect'"))
    await button(page, 'Sign in').waitFor()
    const spoken = await listen(page)
    await page.evaluate(() => {
      window.open = () => {
        throw new Error('No window is opened.')
      }
    })
    // The provider is slow.
    await page.route(/openid-configuration/, () => {})
    await button(page, 'Sign in').click()
    await page.getByText('Connecting …').first().waitFor()
    await page.clock.install()
    await page.clock.runFor(20_000)
    expect(await page.getByText('Connecting …').first().isVisible()).toBe(true)
    expect(await spoken()).toEqual([])
  })
})
