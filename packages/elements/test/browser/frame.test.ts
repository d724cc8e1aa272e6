import { hasChromium } from '@aiagent/test-support/chromium'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import type { AiAgentLauncherElement } from '../../src/launcher-element.ts'
import { type ChatStage, write } from './chat-page.ts'
import { chatStages } from './chat-stages.ts'

const LAUNCHER = '<ai-agent-launcher endpoint="ENDPOINT" agent-id="help"></ai-agent-launcher>'
const TEASING = LAUNCHER.replace('agent-id', 'teaser resume="idle" agent-id')
const CHAT = '<ai-agent-chat endpoint="ENDPOINT" agent-id="help" heading="Help desk"></ai-agent-chat>'
const PHONE = { width: 390, height: 800 }

describe.skipIf(!hasChromium())('the frame of the chat', () => {
  const stages = chatStages()
  let stage: ChatStage

  const open = async (body: string, size = { width: 1100, height: 800 }, search = '?lazy') => {
    stage = await stages.open()
    const opened = await stage.open(body, { search, prepare: page => page.setViewportSize(size) })
    return opened.page
  }
  const launcher = (page: Page) => page.getByRole('button', { name: 'Chat', exact: true })
  const say = (content: string) => {
    const { control, world } = stage.service.emulator
    control.say([...world.sessions.keys()][0] ?? '', { content })
  }
  const box = (page: Page, name: string) =>
    page.locator(name).evaluate(node => {
      const { x, y, width, height } = node.getBoundingClientRect()
      return { x, y, width, height, right: x + width, bottom: y + height }
    })

  describe('the teaser', () => {
    const teaser = (page: Page) => page.locator('ai-agent-launcher .teaser')
    const said = (page: Page) => page.locator('ai-agent-launcher .said').textContent()
    const closed = async (page: Page) => {
      await launcher(page).click()
      await page.getByText('Online').waitFor()
      await write(page, 'hello')
      await page.getByText('You said: hello', { exact: true }).waitFor()
      await page.keyboard.press('Escape')
    }

    it('[EL-43] shows and says the first line once, opens the chat, and goes when that is read', async () => {
      const page = await open(TEASING)
      await closed(page)
      expect(await teaser(page).count()).toBe(0)
      say('Your **parcel** is on its way.\n\nIt arrives tomorrow.')
      const line = page.getByRole('button', { name: 'Your parcel is on its way.', exact: true })
      await line.waitFor()
      await expect.poll(() => said(page)).toBe('1 new message Your parcel is on its way.')
      // It is shown again on the next page, and not said again.
      await page.reload()
      await line.waitFor()
      expect(await said(page)).toBe('1 new message')
      await line.click()
      await page.getByText('It arrives tomorrow.', { exact: true }).waitFor()
      expect(await teaser(page).count()).toBe(0)
      expect(await page.locator('textarea').evaluate(node => node.matches(':focus'))).toBe(true)
      await page.keyboard.press('Escape')
      await launcher(page).waitFor()
      expect(await teaser(page).count()).toBe(0)
    })

    it('[EL-112] has the same space before its line on a page of the other direction', async () => {
      const page = await open(`<script>document.documentElement.dir = 'rtl'</script>${TEASING}`)
      await closed(page)
      say('Your parcel is on its way.')
      await teaser(page).waitFor()
      const [bubble, line] = [await box(page, '.teaser'), await box(page, '.teaser .line')]
      expect(bubble.right - line.right).toBeCloseTo(15)
    })

    it('[EL-43] stays away once it is dismissed, until the next answer', async () => {
      const page = await open(TEASING)
      await closed(page)
      say('The first answer.')
      await teaser(page).getByRole('button', { name: 'Close' }).click()
      expect(await teaser(page).count()).toBe(0)
      const button = page.getByRole('button', { name: 'Chat, 1 new message', exact: true })
      expect(await button.evaluate(node => node.matches(':focus'))).toBe(true)
      await page.reload()
      await button.waitFor()
      await page.waitForLoadState('networkidle')
      expect(await teaser(page).count()).toBe(0)
      say('The second answer.')
      await page.getByRole('button', { name: 'The second answer.' }).waitFor()
    })

    it('[EL-117] shows a message of a new conversation that has the id of a dismissed one', async () => {
      const page = await open(TEASING)
      await launcher(page).click()
      await page.getByText('Online').waitFor()
      await page.keyboard.press('Escape')
      say('The first answer.')
      await teaser(page).getByRole('button', { name: 'Close' }).click()
      await page.locator('ai-agent-launcher').evaluate(node => (node as AiAgentLauncherElement).chat?.view?.restart())
      const { control, world } = stage.service.emulator
      const sessions = [...world.sessions.keys()]
      control.say(sessions[1] ?? '', { content: 'The second answer.' })
      await page.getByRole('button', { name: 'The second answer.' }).waitFor()
      const ids = [...world.sessions.values()].map(({ history }) => history.entries().map(({ messageId }) => messageId))
      expect(ids[0]).toEqual(ids[1])
      // The entry does not give a session away, which opens its conversation.
      const stored = await page.evaluate(() => sessionStorage.getItem('aiagent_launcher_teaser'))
      for (const session of sessions) expect(stored).not.toContain(session)
    })

    it('[EL-43] is gone after a sign-out, and off without the attribute', async () => {
      const page = await open(TEASING)
      await page.evaluate(() =>
        addEventListener('aiagent-ready', event => Object.assign(window, (event as CustomEvent).detail)),
      )
      await closed(page)
      say('A secret of this user.')
      await page.getByRole('button', { name: 'A secret of this user.' }).waitFor()
      await page.evaluate(() => (Reflect.get(window, 'agent') as { logout(): Promise<void> }).logout())
      await expect.poll(() => teaser(page).count()).toBe(0)
      const other = await open(LAUNCHER)
      await closed(other)
      say('An answer.')
      await other.getByRole('button', { name: 'Chat, 1 new message' }).waitFor()
      expect(await teaser(other).count()).toBe(0)
    })

    it('[EL-43] takes at most two lines beside the button of a phone', async () => {
      const page = await open(TEASING, { width: 320, height: 640 })
      await closed(page)
      say('A long answer without an end. '.repeat(20))
      await teaser(page).waitFor()
      const { x, right, height } = await box(page, 'ai-agent-launcher .teaser')
      expect(x).toBeGreaterThanOrEqual(0)
      expect(right).toBeLessThanOrEqual(320 - 20 - 60)
      expect(height).toBeLessThanOrEqual(60)
      const line = await teaser(page).locator('.line').textContent()
      expect(line).toMatch(/^A long answer without an end\..* \w+\.?…$/)
      const words = line?.replace('…', '').trim().split(' ') ?? []
      expect(words.filter(word => !['A', 'long', 'answer', 'without', 'an', 'end.'].includes(word))).toEqual([])
      expect(
        await teaser(page)
          .locator('.line')
          .evaluate(node => node.scrollHeight - node.clientHeight),
      ).toBe(0)
    })

    it('[EL-89] shows an answer in Markdown after a page change, behind a long one', async () => {
      const page = await open(TEASING)
      await closed(page)
      say(`# All lights\n\n${'Press the **button** for ten seconds.\n\n'.repeat(40)}`)
      await page.getByRole('button', { name: 'Chat, 1 new message' }).waitFor()
      await page.goto('about:blank')
      say('One more thing: the *cable* is [here](https://shop.test).\n\nThat is all.')
      await page.goto(stage.servePage(TEASING, { search: '?lazy' }))
      const line = page.getByRole('button', { name: 'One more thing: the cable is here.', exact: true })
      await line.waitFor()
      expect(await said(page)).toBe('2 new messages One more thing: the cable is here.')
    })
  })

  it('[EL-44] stays above the keyboard of a phone, and where it was when the keyboard goes', async () => {
    const page = await open(LAUNCHER, PHONE)
    await launcher(page).click()
    await page.getByText('Online').waitFor()
    /** As iOS and Chrome do by default: the keyboard covers the window, and the visible part of it moves. */
    const raise = (height: number, offsetTop: number, scale = 1) =>
      page.evaluate(
        values => {
          for (const [name, value] of Object.entries(values))
            Object.defineProperty(visualViewport, name, { value, configurable: true })
          for (const name of ['resize', 'scroll']) visualViewport?.dispatchEvent(new Event(name))
        },
        { height, offsetTop, scale },
      )
    const place = async () => {
      const { y, bottom } = await box(page, 'ai-agent-launcher .panel')
      return [y, bottom]
    }
    await expect.poll(place).toEqual([0, 800])
    await raise(460, 0)
    expect(await place()).toEqual([0, 460])
    await raise(460, 120)
    expect(await place()).toEqual([120, 580])
    const header = await box(page, 'ai-agent-chat .header')
    const composer = await box(page, 'ai-agent-chat .composer')
    expect([header.y, composer.bottom]).toEqual([120, 580])
    // A user who zooms in moves over the chat.
    await raise(400, 60, 2)
    expect(await place()).toEqual([0, 800])
    await raise(460, 120)
    await page.keyboard.press('Escape')
    await raise(800, 0)
    await launcher(page).click()
    await expect.poll(place).toEqual([0, 800])
  })

  it('[EL-24] covers a low window, in which list, heading and text field have room', async () => {
    const page = await open(LAUNCHER, { width: 1280, height: 260 })
    await launcher(page).click()
    await page.getByText('Online').waitFor()
    expect(await page.getByRole('dialog').evaluate(node => node.matches(':modal'))).toBe(true)
    expect((await box(page, 'ai-agent-chat .log')).height).toBeGreaterThan(100)
    await page.locator('textarea').fill('line\n'.repeat(12))
    expect((await box(page, 'ai-agent-chat .log')).height).toBeGreaterThan(60)
  })

  it('[EL-24] is at the side that its position names, in either direction', async () => {
    const page = await open(LAUNCHER.replace('agent-id', 'position="start" agent-id'))
    await launcher(page).click()
    await page.getByText('Online').waitFor()
    const { x } = await box(page, 'ai-agent-launcher .launch')
    const panel = await box(page, 'ai-agent-launcher .panel')
    expect([x, panel.x]).toEqual([20, 20])
    await page.evaluate(() => {
      document.documentElement.dir = 'rtl'
    })
    expect((await box(page, 'ai-agent-launcher .panel')).right).toBe(1080)
    await page.locator('ai-agent-launcher').evaluate(element => element.removeAttribute('position'))
    expect((await box(page, 'ai-agent-launcher .panel')).x).toBe(20)
  })

  it('[EL-28] names the button in the language, and the dialog by its heading', async () => {
    const page = await open(LAUNCHER.replace('agent-id', 'lang="ja" agent-id'))
    await page.getByRole('button', { name: 'チャット', exact: true }).click()
    await page.locator('ai-agent-chat[ready]').waitFor()
    const title = page.locator('ai-agent-chat #title')
    const element = page.locator('ai-agent-launcher')
    await element.evaluate(node => node.setAttribute('heading', 'Help desk'))
    await expect.poll(() => title.textContent()).toBe('Help desk')
    await page.getByRole('dialog', { name: 'Help desk', exact: true }).waitFor()
    await element.evaluate(node => node.setAttribute('lang', 'ru'))
    await page.getByRole('button', { name: 'Чат', exact: true }).waitFor()
    await element.evaluate(node => node.setAttribute('label', 'Ask us'))
    await page.getByRole('button', { name: 'Ask us', exact: true }).waitFor()
  })

  it('[EL-45] changes heading, subtitle and image while the chat is open', async () => {
    const page = await open(CHAT, undefined, '')
    const attribute = (name: string, value: string | null) =>
      page.locator('ai-agent-chat').evaluate(
        (element, [name, value]) => {
          if (value === null) element.removeAttribute(name)
          else element.setAttribute(name, value)
        },
        [name, value] as const,
      )
    await page.getByText('Online').waitFor()
    await attribute('subtitle', 'We answer within a minute')
    await page.getByText('We answer within a minute').waitFor()
    await attribute('heading', 'Ask us')
    await page.getByRole('heading', { name: 'Ask us' }).waitFor()
    const image = page.locator('ai-agent-chat .avatar img')
    const icon = page.locator('ai-agent-chat .avatar svg')
    const logo = `data:image/svg+xml,${encodeURIComponent('<svg xmlns="http://www.w3.org/2000/svg" width="4" height="4"/>')}`
    await attribute('avatar', logo)
    await image.waitFor()
    expect(await image.getAttribute('alt')).toBe('')
    expect(await icon.count()).toBe(0)
    await attribute('avatar', '/missing.png')
    await icon.waitFor()
    expect(await image.count()).toBe(0)
    await attribute('avatar', logo)
    await image.waitFor()
    await attribute('avatar', null)
    await attribute('subtitle', null)
    await icon.waitFor()
    expect(await page.getByText('We answer within a minute').count()).toBe(0)
  })

  it('[EL-15] shows an image of the host in the slot of the launcher', async () => {
    const page = await open(
      LAUNCHER.replace('></ai-agent', '><b slot="avatar">AB</b></ai-agent').replace('agent-id', 'open agent-id'),
    )
    await page.getByText('Online').waitFor()
    expect((await box(page, 'ai-agent-launcher > b')).width).toBe(38)
  })

  it('[EL-16] offers the address for hand-overs where the agent cannot be used', async () => {
    const page = await open(
      LAUNCHER.replace('agent-id="help"', 'agent-id="nobody" support-email="help@shop.example" open'),
    )
    const link = page.getByRole('link', { name: 'Write an email' })
    await link.waitFor()
    expect(await link.getAttribute('href')).toBe('mailto:help@shop.example')
  })

  it('[EL-18] offers to reload the page where the code of a choice or a login could not be loaded', async () => {
    stage = await stages.open()
    const config = "{ auth: { type: 'pkce', config: { ...PKCE, authScheme: 'popup' } } }"
    const body = `${CHAT}<script>document.querySelector('ai-agent-chat').config = ${config}</script>`
    const { page } = await stage.open(body.replace('"help"', '"account"'), {
      prepare: page => page.route(/choice-panels/, route => route.abort()),
    })
    const reload = page.getByRole('button', { name: 'Reload the page' })
    await reload.waitFor()
    await page.unroute(/choice-panels/)
    await reload.click()
    await page.getByRole('button', { name: 'Sign in' }).waitFor()
    expect(await reload.count()).toBe(0)
  })
})
