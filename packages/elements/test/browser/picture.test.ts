import { hasChromium } from '@aiagent/test-support/chromium'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { write } from './chat-page.ts'
import { chatStages } from './chat-stages.ts'
import { strictPolicies } from './policies.ts'

const ATTRIBUTES = 'endpoint="ENDPOINT" agent-id="help" image-origins="ORIGIN"'
const LAUNCHER = `<ai-agent-launcher ${ATTRIBUTES}></ai-agent-launcher>`
const CHAT = `<ai-agent-chat ${ATTRIBUTES}></ai-agent-chat>`
const PICTURE = '<svg xmlns="http://www.w3.org/2000/svg" width="1600" height="900"><path d="M0 0h1600v900H0z"/></svg>'
const NAME = 'Back of the router'

describe.skipIf(!hasChromium())('an image of an answer', () => {
  const stages = chatStages()

  /** A conversation whose answer is an image. */
  const show = async (
    body: string,
    { content = `![${NAME}](ORIGIN/router.svg)`, search = '', prepare = (_page: Page): unknown => undefined } = {},
  ) => {
    const stage = await stages.open({
      reply: ({ text }) => ({ content: text === 'show' ? content.replaceAll('ORIGIN', stage.origin) : text }),
    })
    stage.serve('/router.svg', PICTURE, { 'content-type': 'image/svg+xml' })
    const connect = [stage.service.url, stage.service.url.replace('http', 'ws')]
    const page = ["style-src 'self' 'unsafe-inline'", "img-src 'self'"]
    const { bundled } = strictPolicies({ connect, nonce: '', connector: stage.service.url, page })
    const opened = await stage.open(body, {
      search,
      headers: { 'content-security-policy': bundled },
      prepare: async target => prepare(target),
    })
    if (body.includes('launcher')) await opened.page.getByRole('button', { name: 'Chat' }).click()
    await opened.page.getByText('Online').waitFor()
    await write(opened.page, 'show')
    await opened.page.locator('ai-agent-chat .agent img').first().waitFor()
    return { ...opened, stage }
  }
  const button = (page: Page) => page.getByRole('button', { name: `${NAME} (Enlarge image)` })
  const enlarged = (page: Page) => page.getByRole('dialog', { name: NAME })
  const hasFocus = (page: Page) => button(page).evaluate(node => node.matches(':focus'))

  it('[EL-56] is enlarged by keyboard and by a click, under a strict policy; Escape closes it and not the launcher', async () => {
    const { page, requests, complaints } = await show(LAUNCHER)
    const isLoaded = () => requests.some(line => line.includes('enlarged'))
    expect(isLoaded()).toBe(false)
    await button(page).focus()
    await page.keyboard.press('Enter')
    await enlarged(page).waitFor()
    expect(isLoaded()).toBe(true)
    const { width, height } = page.viewportSize() ?? { width: 0, height: 0 }
    const box = await enlarged(page).getByRole('img', { name: NAME }).boundingBox()
    expect(box?.width).toBe(width)
    expect(box?.height).toBeLessThanOrEqual(height)
    const close = enlarged(page).getByRole('button', { name: 'Close' })
    expect(await close.evaluate(node => node.matches(':focus'))).toBe(true)
    await page.keyboard.press('Escape')
    await enlarged(page).waitFor({ state: 'detached' })
    expect(await hasFocus(page)).toBe(true)
    for (const target of [close, enlarged(page)]) {
      await button(page).click()
      await target.click()
      await enlarged(page).waitFor({ state: 'detached' })
      expect(await hasFocus(page)).toBe(true)
    }
    await page.keyboard.press('Escape')
    expect(await page.getByRole('dialog').count()).toBe(0)
    expect(complaints).toEqual([])
  })

  it('[EL-56] fits on a phone, moves nothing where the user wants no motion, and knows no styles of the page', async () => {
    const { page } = await show(
      `<style>* { all: unset } dialog, img, ::backdrop { display: none !important; max-width: 9px !important; transform: scale(2) }</style>${LAUNCHER}`,
      {
        prepare: async target => {
          await target.emulateMedia({ reducedMotion: 'reduce' })
          await target.setViewportSize({ width: 360, height: 640 })
        },
      },
    )
    await button(page).click()
    await enlarged(page).waitFor()
    const image = enlarged(page).getByRole('img', { name: NAME })
    expect(await image.boundingBox()).toMatchObject({ x: 0, width: 360, height: 202.5 })
    expect(await enlarged(page).boundingBox()).toEqual({ x: 0, y: 0, width: 360, height: 640 })
    expect(await enlarged(page).evaluate(node => node.getAnimations({ subtree: true }).length)).toBe(0)
  })

  it('[EL-56] stays open while another answer arrives, and closes when the user signs out', async () => {
    const keepAgent = () =>
      addEventListener('aiagent-ready', event =>
        Object.assign(globalThis, { agent: (event as CustomEvent).detail.agent }),
      )
    const { page, stage } = await show(CHAT, { prepare: target => target.addInitScript(keepAgent) })
    await button(page).click()
    await enlarged(page).waitFor()
    const [session = ''] = stage.service.emulator.world.sessions.keys()
    stage.service.emulator.control.say(session, { content: 'One more thing' })
    await page.locator('ai-agent-chat .bubble', { hasText: 'One more thing' }).waitFor()
    expect(await enlarged(page).count()).toBe(1)
    await page.evaluate(() => void Object(globalThis).agent.logout())
    await enlarged(page).waitFor({ state: 'detached' })
  })

  it('[EL-56] leads to the address of the link that it is in', async () => {
    const { page } = await show(CHAT, {
      content: '[![Back](ORIGIN/router.svg) **![Front](ORIGIN/router.svg)**](https://shop.test/)',
    })
    await page.getByRole('link', { name: 'Back Front' }).waitFor()
    expect(await page.locator('ai-agent-chat .picture').count()).toBe(0)
  })

  it('[EL-56] is shown by the browser where the code for it is missing', async () => {
    const { page, stage } = await show(CHAT, { prepare: target => target.route(/enlarged/, route => route.abort()) })
    const [window] = await Promise.all([page.waitForEvent('popup'), button(page).click()])
    expect(await window.waitForURL(`${stage.origin}/router.svg`)).toBeUndefined()
    await window.close()
  })
})
