import { hasChromium } from '@aiagent/test-support/chromium'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { type ChatStage, received } from './chat-page.ts'
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

  it('[EL-26] asks to sign in again when the browser blocks the window', async () => {
    const page = await open()
    await page.evaluate(() => {
      Object.assign(globalThis, { kept: window.open })
      window.open = () => null
    })
    await button(page, 'Sign in').click()
    await expect
      .poll(() => page.evaluate(() => document.querySelector('ai-agent-chat')?.view?.getSnapshot().error))
      .toBeDefined()
    await button(page, 'Sign in').waitFor()
    await page.evaluate(() => {
      window.open = Object(globalThis).kept
    })
    await signIn(await openWindow(page, 'Sign in'))
    await page.getByText('Online').waitFor()
  })
})
