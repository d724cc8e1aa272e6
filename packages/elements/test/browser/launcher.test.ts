import { hasChromium } from '@aiagent/test-support/chromium'
import { needs } from '@aiagent/test-support/needs'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { CHAT_FILES, type ChatStage, received, write } from './chat-page.ts'
import { chatStages } from './chat-stages.ts'

const LAUNCHER = '<ai-agent-launcher endpoint="ENDPOINT" agent-id="help"></ai-agent-launcher>'
const ASKING = LAUNCHER.replace('agent-id', 'consent="required" agent-id')
/** The code of the chat, beside that of the launcher. */
const CHAT_CODE = /\/chat-[\w-]+\.js$/

describe.skipIf(!hasChromium())('<ai-agent-launcher>', () => {
  const stages = chatStages()
  let stage: ChatStage

  const launcher = (page: Page) => page.getByRole('button', { name: 'Chat', exact: true })
  const dialogs = (page: Page) => page.getByRole('dialog').count()
  const chatCode = (requests: readonly string[]) => requests.filter(line => CHAT_CODE.test(line))

  /** Opens a page of the size of a phone, with the launcher alone. */
  const openPhone = async (body: string, prepare: (page: Page) => unknown = () => {}) => {
    stage = await stages.open()
    const opened = await stage.open(body, {
      search: '?lazy',
      prepare: async page => {
        await page.setViewportSize({ width: 390, height: 800 })
        await prepare(page)
      },
    })
    await launcher(opened.page).waitFor()
    return opened
  }

  /** Closes the chat by the one button that is for it, which nothing covers, and opens it again. */
  const closeAndReopen = async (page: Page) => {
    const close = page.getByRole('dialog').getByRole('button', { name: 'Close', exact: true })
    await close.waitFor()
    expect(await close.count()).toBe(1)
    expect(await close.evaluate(nameAtCentre)).toBe('Close')
    await close.click()
    expect(await dialogs(page)).toBe(0)
    expect(await launcher(page).evaluate(nameAtCentre)).toBe('Chat')
    expect(await launcher(page).evaluate(node => node.matches(':focus'))).toBe(true)
    await launcher(page).click()
  }

  it('[EL-24] can be closed on a phone from the first frame, while it loads, and with the chat in it', async () => {
    let release = () => {}
    const released = new Promise<void>(resolve => {
      release = resolve
    })
    const { page } = await openPhone(LAUNCHER, page =>
      page.route(CHAT_CODE, async route => {
        await released
        await route.continue()
      }),
    )
    const first = await page.locator('ai-agent-launcher').evaluate(element => {
      element.setAttribute('open', '')
      const close = element.shadowRoot?.querySelector('.close') as HTMLElement
      const { x, y, width, height } = close.getBoundingClientRect()
      const hit = element.shadowRoot?.elementFromPoint(x + width / 2, y + height / 2)
      const skeleton = element.shadowRoot?.querySelector('.skeleton')?.getBoundingClientRect()
      return { isHit: close.contains(hit ?? null), width, height, room: skeleton?.height }
    })
    expect(first).toEqual({ isHit: true, width: 40, height: 40, room: 739 })
    expect(await page.getByRole('dialog').evaluate(node => node.matches(':focus'))).toBe(true)
    await page.keyboard.press('Escape')
    expect(await dialogs(page)).toBe(0)
    await launcher(page).click()
    await closeAndReopen(page)
    release()
    await page.getByText('Online').waitFor()
    expect(await page.locator('textarea').evaluate(field => field.matches(':focus'))).toBe(true)
    await closeAndReopen(page)
    await page.getByText('Online').waitFor()
    expect(received(stage.service).sessionCalls).toBe(1)
  })

  it('[EL-24] can be closed on a phone while it asks for consent; declining closes it', async () => {
    const { page } = await openPhone(ASKING)
    await launcher(page).click()
    const decline = page.getByRole('button', { name: 'No, thanks' })
    await decline.waitFor()
    await closeAndReopen(page)
    await decline.click()
    expect(await dialogs(page)).toBe(0)
    expect(await launcher(page).evaluate(nameAtCentre)).toBe('Chat')
    await launcher(page).click()
    await page.getByText('The chat stays off').waitFor()
    await closeAndReopen(page)
    await page.getByRole('button', { name: 'Agree and start' }).click()
    await page.getByText('Online').waitFor()
    await closeAndReopen(page)
  })

  it.each([
    ['its code', CHAT_CODE],
    ['the code of the chat', CHAT_FILES],
  ])('[EL-24] can be closed on a phone after %s could not be loaded', async (_name, pattern) => {
    const { page } = await openPhone(LAUNCHER, page => page.route(pattern, route => route.abort()))
    await launcher(page).click()
    await page.getByText('could not be loaded').waitFor()
    await closeAndReopen(page)
    await page.getByText('could not be loaded').waitFor()
    await page.unroute(pattern)
    await page.reload()
    await launcher(page).click()
    await page.getByText('Online').waitFor()
    await closeAndReopen(page)
  })

  it.each([
    ['its code', CHAT_CODE],
    ['the code of the chat', CHAT_FILES],
  ])('[EL-34] loads %s again', needs('new request after a failed import'), async (_name, pattern) => {
    const { page } = await openPhone(LAUNCHER, page => page.route(pattern, route => route.abort()))
    await launcher(page).click()
    const again = page.getByRole('button', { name: 'Try again' })
    await again.waitFor()
    await page.unroute(pattern)
    await again.click()
    await page.getByText('Online').waitFor()
    expect(await again.count()).toBe(0)
  })

  it.each([
    ['its code', CHAT_CODE],
    ['the code of the chat', CHAT_FILES],
  ])(
    '[EL-34] offers to reload the page where %s could not be loaded twice, unless it is offline',
    async (_name, pattern) => {
      const { page } = await openPhone(LAUNCHER, page => page.route(pattern, route => route.abort()))
      await launcher(page).click()
      const again = page.getByRole('button', { name: 'Try again' })
      await again.waitFor()
      await page.evaluate(() => Object.defineProperty(navigator, 'onLine', { value: false, configurable: true }))
      const failed = () =>
        page.evaluate(() =>
          new Promise(resolve => addEventListener('aiagent-error', resolve, { once: true })).then(() => {}),
        )
      const reload = page.getByRole('button', { name: 'Reload the page' })
      await Promise.all([failed(), again.click()])
      await again.waitFor()
      expect(await reload.count()).toBe(0)
      await page.evaluate(() => Reflect.deleteProperty(navigator, 'onLine'))
      await Promise.all([failed(), again.click()])
      await page.unroute(pattern)
      await reload.click()
      await launcher(page).click()
      await page.getByText('Online').waitFor()
    },
  )

  it('[EL-24] can be closed on a phone while its chat is replaced by another one', async () => {
    const { page } = await openPhone(LAUNCHER)
    await launcher(page).click()
    await page.getByText('Online').waitFor()
    await page.locator('ai-agent-launcher').evaluate(element => element.setAttribute('consent', 'required'))
    await page.getByRole('button', { name: 'Agree and start' }).waitFor()
    await closeAndReopen(page)
  })

  it('[EL-08] has the number of unread messages in its name, and says it while it is closed', async () => {
    const { page } = await openPhone(LAUNCHER)
    await launcher(page).click()
    await page.getByText('Online').waitFor()
    await closeAndReopen(page)
    await page.keyboard.press('Escape')
    const [session = ''] = stage.service.emulator.world.sessions.keys()
    const say = (content: string) => stage.service.emulator.control.say(session, { content })
    const said = () => page.locator('ai-agent-launcher [aria-live]').first().textContent()
    say('News')
    await page.getByRole('button', { name: 'Chat, 1 new message', exact: true }).waitFor()
    expect(await said()).toBe('1 new message')
    for (let count = 2; count <= 101; count++) say(`News ${count}`)
    const button = page.getByRole('button', { name: 'Chat, 101 new messages', exact: true })
    await button.waitFor()
    expect(await page.locator('.badge').textContent()).toBe('99+')
    await button.click()
    await page
      .getByRole('button', { name: 'To the latest message' })
      .or(page.getByText('101 new messages'))
      .first()
      .click()
    await page.keyboard.press('Escape')
    await launcher(page).waitFor()
    expect(await said()).toBe('')
  })

  it('[EL-24] is modal where it covers the page, which neither scrolls nor takes the focus', async () => {
    const page = '<p style="height: 3000px"><a href="#">Link</a></p>'
    const opened = await openPhone(page + LAUNCHER)
    const overflow = () => opened.page.evaluate(() => getComputedStyle(document.documentElement).overflowY)
    const link = opened.page.locator('a')
    await launcher(opened.page).click()
    await opened.page.getByText('Online').waitFor()
    await link.evaluate(node => node.focus())
    // An inert page takes no focus.
    expect(await link.evaluate(node => node.matches(':focus'))).toBe(false)
    expect(await overflow()).toBe('hidden')
    await write(opened.page, 'hello')
    await opened.page.getByText('You said: hello').first().waitFor()
    // The menu closes alone.
    await opened.page.getByRole('button', { name: 'More' }).click()
    await opened.page.keyboard.press('Escape')
    expect(await dialogs(opened.page)).toBe(1)
    await opened.page.keyboard.press('Escape')
    expect(await dialogs(opened.page)).toBe(0)
    expect(await overflow()).toBe('visible')
    await link.evaluate(node => node.focus())
    expect(await link.evaluate(node => node.matches(':focus'))).toBe(true)
    // A page that removes the launcher can be used.
    await launcher(opened.page).click()
    expect(await overflow()).toBe('hidden')
    await opened.page.locator('ai-agent-launcher').evaluate(element => element.remove())
    expect(await overflow()).toBe('visible')
  })

  it('[EL-24] raises no keyboard where a finger opens it', async () => {
    const context = await stages.context.browser()?.newContext({ hasTouch: true, isMobile: true })
    stage = await stages.open()
    const { page } = await stage.open(LAUNCHER, { search: '?lazy', ...(context && { context }) })
    for (const _time of ['first', 'again']) {
      await launcher(page).tap()
      await page.getByText('Online').waitFor()
      await expect.poll(() => page.getByRole('dialog').evaluate(node => node.matches(':focus'))).toBe(true)
      await page.getByRole('button', { name: 'Close' }).tap()
    }
    await context?.close()
  })

  it('[EL-86] takes what is written before the chat is there, with caret and focus, and closes nothing', async () => {
    let release = () => {}
    const released = new Promise<void>(resolve => {
      release = resolve
    })
    stage = await stages.open()
    const { page } = await stage.open(LAUNCHER, {
      search: '?lazy',
      prepare: page =>
        page.route(CHAT_CODE, async route => {
          await released
          await route.continue()
        }),
    })
    const keys = await page.evaluateHandle(() => {
      const seen: string[] = []
      addEventListener('keydown', ({ key }) => seen.push(key))
      return seen
    })
    await launcher(page).click()
    expect(await page.getByRole('dialog').evaluate(node => node.matches(':focus'))).toBe(true)
    await page.keyboard.press('Space')
    await page.keyboard.type('Hello there')
    await page.keyboard.press('Enter')
    await page.keyboard.press('ArrowLeft')
    expect(await dialogs(page)).toBe(1)
    release()
    await page.locator('ai-agent-chat[ready]').waitFor()
    const field = page.locator('textarea')
    expect(await field.inputValue()).toBe(' Hello there')
    expect(await field.evaluate(node => node.matches(':focus'))).toBe(true)
    await page.getByText('Online').waitFor()
    await page.keyboard.type('!')
    expect(await field.inputValue()).toBe(' Hello ther!e')
    await page.keyboard.press('Enter')
    await page.getByText('You said:').first().waitFor()
    // What is written in the own field ends at the element.
    expect((await keys.jsonValue()).filter(key => key !== 'ArrowLeft')).toEqual([' '])
  })

  it('[EL-86] shows one ring around its text field, with a text of several lines in it, and heading and field where the chat has them', async () => {
    let release = () => {}
    const released = new Promise<void>(resolve => {
      release = resolve
    })
    const { page } = await openPhone(
      `<script>document.documentElement.dir = 'rtl'</script>${LAUNCHER.replace('agent-id', 'heading="Help desk" label="Chat" lang="ar" agent-id')}`,
      target =>
        target.route(CHAT_CODE, async route => {
          await released
          await route.continue()
        }),
    )
    await launcher(page).click()
    // The panel rises, which moves what is in it.
    await page.locator('dialog').evaluate(panel => Promise.all(panel.getAnimations().map(({ finished }) => finished)))
    const textOf = (name: string) =>
      page.locator(name).evaluate(node => {
        const range = document.createRange()
        range.selectNodeContents(node)
        return range.getBoundingClientRect().right
      })
    const line = (name: string) =>
      page.locator(name).evaluate(node => {
        const { top, bottom, right } = node.getBoundingClientRect()
        return { right, middle: (top + bottom) / 2 }
      })
    const field = page.locator('textarea')
    const [heading, before] = [await textOf('.title'), await line('textarea')]
    await field.focus()
    expect(await field.evaluate(node => getComputedStyle(node).outlineStyle)).toBe('none')
    await field.fill('First\nSecond\nThird')
    expect(await field.evaluate(({ scrollHeight, clientHeight }) => scrollHeight - clientHeight)).toBe(0)
    await field.fill('')
    release()
    await page.locator('ai-agent-chat[ready]').waitFor()
    expect(await textOf('ai-agent-chat h2')).toBeCloseTo(heading)
    const after = await line('ai-agent-chat textarea')
    expect(after.right).toBeCloseTo(before.right)
    expect(after.middle).toBeCloseTo(before.middle)
  })

  it('[EL-86] keeps what is written for the user who has to sign in first, and not for the next user', async () => {
    let release = () => {}
    const released = new Promise<void>(resolve => {
      release = resolve
    })
    stage = await stages.open()
    const { page } = await stage.open(
      `${LAUNCHER}<script>window.use = sdk => { const agent = window.agent = new sdk.AiAgent({ endpoint: 'ENDPOINT', id: 'help' })
document.querySelector('ai-agent-launcher').agent = agent }</script>`,
      {
        search: '?lazy&sdk',
        prepare: page =>
          page.route(CHAT_FILES, async route => {
            await released
            await route.continue()
          }),
      },
    )
    await page.waitForFunction('globalThis.sdk')
    await page.evaluate('use(sdk)')
    await launcher(page).click()
    await page.keyboard.type('for me alone')
    await page.evaluate(() => Reflect.get(window, 'agent').logout())
    release()
    await page.locator('ai-agent-chat[ready]').waitFor()
    expect(await page.locator('textarea').inputValue()).toBe('')
  })

  it('[EL-06] has no text field of its own where the user is asked for consent', async () => {
    const { page } = await openPhone(ASKING, page => page.route(CHAT_CODE, () => {}))
    await launcher(page).click()
    await page.getByRole('dialog').waitFor()
    expect(await page.getByRole('textbox').count()).toBe(0)
  })

  it('[EL-87] is closed by Escape on its button, and not while an input method takes the key', async () => {
    stage = await stages.open()
    const { page } = await stage.open(LAUNCHER, { search: '?lazy' })
    await launcher(page).click()
    await page.getByText('Online').waitFor()
    for (const name of ['dialog', '.launch'])
      await page.locator(`ai-agent-launcher ${name}`).evaluate(node => {
        const key = { key: 'Escape', isComposing: true, bubbles: true, composed: true }
        node.dispatchEvent(new KeyboardEvent('keydown', key))
      })
    expect(await dialogs(page)).toBe(1)
    await page.locator('ai-agent-launcher .launch').focus()
    await page.keyboard.press('Escape')
    expect(await dialogs(page)).toBe(0)
    await page.keyboard.press('Escape')
    expect(await dialogs(page)).toBe(0)
  })

  it('[EL-85] raises no keyboard where a finger takes an option, a suggestion or agrees', async () => {
    const context = await stages.context.browser()?.newContext({ hasTouch: true, isMobile: true })
    stage = await stages.open({
      reply: ({ text }) => ({
        content: `You said: ${text}`,
        role: 'follow up question agent',
        messageData: { options: ['Red', 'Blue'] },
      }),
    })
    const { page } = await stage.open(
      `${ASKING}<script>document.querySelector('ai-agent-launcher').suggestions = ['Which colour?']</script>`,
      { search: '?lazy', ...(context && { context }) },
    )
    const isWriting = () =>
      page.evaluate(() => {
        const inner = document.querySelector('ai-agent-launcher')?.chat?.shadowRoot?.activeElement
        return { isLost: !inner, isWriting: inner?.localName === 'textarea' }
      })
    const expected = { isLost: false, isWriting: false }
    await launcher(page).tap()
    await page.getByRole('button', { name: 'Agree and start' }).tap()
    await page.getByText('Online').waitFor()
    expect((await isWriting()).isWriting).toBe(false)
    await page.getByRole('button', { name: 'Which colour?' }).tap()
    await page.getByRole('button', { name: 'Blue' }).tap()
    await page.getByText('You said: Blue').first().waitFor()
    expect(await isWriting()).toEqual(expected)
    // The user can keep typing.
    await write(page, 'hello')
    expect((await isWriting()).isWriting).toBe(true)
    await context?.close()
  })

  it('[EL-24] reports once that it is opened and closed, however that is done', async () => {
    const { page } = await openPhone(LAUNCHER)
    const seen = await page.evaluateHandle(() => {
      const names: string[] = []
      for (const name of ['aiagent-open', 'aiagent-close']) addEventListener(name, () => names.push(name))
      return names
    })
    const both = ['aiagent-open', 'aiagent-close']
    await launcher(page).click()
    await page.getByText('Online').waitFor()
    await page.getByRole('button', { name: 'Close' }).click()
    expect(await seen.jsonValue()).toEqual(both)
    await launcher(page).click()
    await page.keyboard.press('Escape')
    expect(await seen.jsonValue()).toEqual([...both, ...both])
    await page.locator('ai-agent-launcher').evaluate(element => {
      for (const isOpen of [true, true, false, false]) element.toggleAttribute('open', isOpen)
      element.setAttribute('open', '')
      element.setAttribute('open', 'open')
      element.setAttribute('label', 'Help')
    })
    expect(await seen.jsonValue()).toEqual([...both, ...both, ...both, 'aiagent-open'])
  })

  it('[EL-27] shows the heading and the theme of the chat before its code is loaded', async () => {
    const { page } = await openPhone(LAUNCHER.replace('agent-id', 'heading="Help desk" theme="dark" agent-id'), page =>
      page.route(CHAT_CODE, () => {}),
    )
    await launcher(page).click()
    await page.getByText('Help desk').waitFor()
    const colour = await page.getByRole('dialog').evaluate(node => getComputedStyle(node).backgroundColor)
    expect(colour).toBe('rgb(25, 29, 40)')
  })

  it.each([
    ['pointer', (page: Page) => launcher(page).hover()],
    ['focus', (page: Page) => page.keyboard.press('Tab')],
    ['touch', (page: Page) => launcher(page).dispatchEvent('touchstart')],
  ])('[EL-27] fetches the code of the chat ahead on %s, and calls no service', async (_name, approach) => {
    const { page, requests, complaints } = await openPhone(LAUNCHER)
    expect(chatCode(requests)).toEqual([])
    await approach(page)
    await expect.poll(() => chatCode(requests)).toEqual(expect.arrayContaining([expect.stringMatching(CHAT_FILES)]))
    expect(requests.filter(line => !line.includes(stage.origin))).toEqual([])
    expect(await page.locator('ai-agent-launcher').evaluate(element => element.hasAttribute('open'))).toBe(false)
    // All at once, and not one after the other.
    await page.waitForLoadState('networkidle')
    const before = chatCode(requests).length
    await launcher(page).click()
    await page.getByText('Online').waitFor()
    expect(chatCode(requests).slice(before).join()).not.toMatch(CHAT_CODE)
    expect(complaints).toEqual([])
  })

  it('[EL-06] fetches nothing ahead where the user is asked for consent', async () => {
    const { page, requests } = await openPhone(ASKING)
    await launcher(page).hover()
    await launcher(page).focus()
    await page.waitForLoadState('networkidle')
    expect(chatCode(requests)).toEqual([])
    await launcher(page).click()
    await page.getByRole('button', { name: 'Agree and start' }).waitFor()
    expect(requests.filter(line => CHAT_FILES.test(line))).toEqual([])
  })

  it('[EL-28] takes the language of the page, also before the chat is loaded', async () => {
    const { page } = await openPhone(`<script>document.documentElement.lang = 'de'</script>${LAUNCHER}`)
    await page.locator('ai-agent-launcher').evaluate(element => element.setAttribute('open', ''))
    expect(await page.getByRole('button', { name: 'Schließen' }).count()).toBe(1)
    await page.getByText('Wie können wir helfen?').waitFor()
    await page.getByRole('textbox', { name: 'Ihre Nachricht' }).waitFor()
  })

  it.each(['ai-agent-chat', 'ai-agent-launcher'])(
    '[EL-28] <%s> takes the language of a host element around its shadow tree',
    async name => {
      stage = await stages.open()
      const { page } = await stage.open(`<main lang="ar"><div id="outer"></div></main><script>{
  let place = document.querySelector('#outer')
  for (const tag of ['section', 'div'])
    place = place.attachShadow({ mode: 'open' }).appendChild(document.createElement(tag))
  place.innerHTML = '<${name} endpoint="ENDPOINT" agent-id="help" open></${name}>'
}</script>`)
      await page.getByText('كيف يمكننا مساعدتك؟').waitFor()
      expect(await page.locator('.chat').getAttribute('dir')).toBe('rtl')
    },
  )
})

/** Name of the button that a finger on the centre of an element meets. */
function nameAtCentre(element: Element): string | null | undefined {
  const { x, y, width, height } = element.getBoundingClientRect()
  let at: Element | null = null
  for (let root: DocumentOrShadowRoot | null = document; root; root = at?.shadowRoot ?? null) {
    const inner: Element | null = root.elementFromPoint(x + width / 2, y + height / 2)
    if (!inner || inner === at) break
    at = inner
  }
  return at?.closest('button')?.getAttribute('aria-label')
}
