import { hasChromium } from '@aiagent/test-support/chromium'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { bubbles, type ChatStage, type OpenOptions, write } from './chat-page.ts'
import { chatStages } from './chat-stages.ts'
import { WITH_DESK } from './scenes.ts'

const CHAT = '<ai-agent-chat endpoint="ENDPOINT" agent-id="help"></ai-agent-chat>'
const LAUNCHER = '<ai-agent-launcher endpoint="ENDPOINT" agent-id="help"></ai-agent-launcher>'
const SUBTITLE = 'We answer each question within a minute, day and night. '.repeat(3)
const WIDE = `| Light | Meaning |
|---|---|
| green and blinking slowly | the router is looking for an update of its software |

[ours](ORIGIN/returns) [theirs](https://shop.test/)

\`\`\`
${'a long line of code, '.repeat(20)}
\`\`\``

const WHITE = 'rgb(255, 255, 255)'
const DARK = 'rgb(25, 29, 40)'

describe.skipIf(!hasChromium())('the look of the elements', () => {
  const stages = chatStages()
  let stage: ChatStage

  const open = async (body: string, options: OpenOptions = {}) => {
    stage = await stages.open({
      reply: ({ text }) => {
        if (text === 'six') return ['One.', 'Two.', 'Three.', 'Four.', 'Five.', 'Six.'].map(content => ({ content }))
        if (text === 'person')
          return { content: 'Soon.', messageData: { escalation: true, escalationData: { live: true } } }
        if (text === 'wide') return { content: WIDE.replace('ORIGIN', stage.origin) }
        if (text !== 'options') return { content: `You said: ${text}` }
        return {
          content: '[One](https://shop.test/)?',
          role: 'follow up question agent',
          messageData: { options: ['Red', 'Blue'] },
        }
      },
    })
    const { page } = await stage.open(body, options)
    if (body.includes('launcher')) await page.getByRole('button', { name: 'Chat', exact: true }).click()
    await page.getByText('Online').last().waitFor()
    return page
  }
  const box = (page: Page, name: string) =>
    page
      .locator(`ai-agent-chat ${name}`)
      .last()
      .evaluate(node => node.getBoundingClientRect().toJSON() as DOMRect)

  describe('the theme', () => {
    const colours = (page: Page) =>
      page.evaluate(() => {
        const launcher = document.querySelector('ai-agent-launcher')?.shadowRoot
        const chats = [document, launcher].map(root =>
          root?.querySelector('ai-agent-chat')?.shadowRoot?.querySelector('.frame'),
        )
        const found = [...chats, launcher?.querySelector('.panel')].flatMap(each =>
          each ? getComputedStyle(each).backgroundColor : [],
        )
        return [...new Set(found)]
      })
    const both = (attributes = '') => (CHAT + LAUNCHER).replaceAll('agent-id', `${attributes} agent-id`)
    const system = (colorScheme: 'light' | 'dark'): OpenOptions => ({
      prepare: page => page.emulateMedia({ colorScheme }),
    })

    it.each<[string, 'light' | 'dark', string, string]>([
      ['dark as the page', 'light', '<style>html { color-scheme: dark }</style>', DARK],
      ['dark as one part of the page', 'light', '<style>body { color-scheme: only dark }</style>', DARK],
      ['light as the page', 'dark', '<style>html { color-scheme: light }</style>', WHITE],
      ['as the system in a page for both', 'dark', '<style>html { color-scheme: light dark }</style>', DARK],
      ['as the page says in its head', 'light', '<meta name="color-scheme" content="dark">', DARK],
      ['light as the page says in its head', 'dark', '<meta name="color-scheme" content="light">', WHITE],
      ['as the system in a page that says nothing', 'dark', '', DARK],
      ['as the system, which is light', 'light', '', WHITE],
    ])('[EL-73] is %s', async (_case, scheme, head, colour) => {
      const page = await open(head + both(), system(scheme))
      await expect.poll(() => colours(page)).toEqual([colour])
    })

    it('[EL-73] follows a page that changes, and the attribute before the page', async () => {
      const page = await open(both(), system('light'))
      await expect.poll(() => colours(page)).toEqual([WHITE])
      await page.evaluate(() => document.documentElement.style.setProperty('color-scheme', 'dark'))
      await expect.poll(() => colours(page)).toEqual([DARK])
      await page.evaluate(() => {
        for (const each of document.querySelectorAll('ai-agent-chat, ai-agent-launcher'))
          each.setAttribute('theme', 'light')
      })
      await expect.poll(() => colours(page)).toEqual([WHITE])
    })

    it.each<['light' | 'dark', string, string]>([
      ['dark', '', DARK],
      ['light', 'theme="dark"', DARK],
      ['dark', 'theme="light"', WHITE],
      ['light', '', WHITE],
    ])(
      '[EL-73] is as the system and the attribute in an engine of 2023: %s %s',
      async (colorScheme, attributes, colour) => {
        const page = await open(both(attributes), {
          prepare: async target => {
            await target.emulateMedia({ colorScheme })
            await target.addInitScript(() => {
              const { supports } = CSS
              CSS.supports = (...given: [string]) => !/light-dark/.test(given.join()) && supports.apply(CSS, given)
              const { replaceSync } = CSSStyleSheet.prototype
              CSSStyleSheet.prototype.replaceSync = function (text) {
                if (text.includes('light-dark(')) throw new Error('This engine has no light-dark().')
                replaceSync.call(this, text)
              }
            })
          },
        })
        await expect.poll(() => colours(page)).toEqual([colour])
      },
    )
  })

  it('[EL-74] has readable text on and in each brand colour, in both themes', async () => {
    const page = await open(CHAT + LAUNCHER)
    await page.evaluate(() => document.querySelector('ai-agent-launcher')?.toggleAttribute('open', false))
    await write(page, 'options')
    await page.getByRole('button', { name: 'Blue' }).waitFor()
    await page.getByRole('textbox').first().fill('more')
    await page.emulateMedia({ reducedMotion: 'reduce' })
    const ratios = (accent: string, theme: string) =>
      page.evaluate(
        ([accent, theme]) => {
          const pen = document
            .createElement('canvas')
            .getContext('2d', { willReadFrequently: true }) as CanvasRenderingContext2D
          const luminance = (colour: string) => {
            pen.fillStyle = colour
            pen.fillRect(0, 0, 1, 1)
            const [red = 0, green = 0, blue = 0] = [...pen.getImageData(0, 0, 1, 1).data].map(byte =>
              byte <= 10 ? byte / 3294 : ((byte / 255 + 0.055) / 1.055) ** 2.4,
            )
            return 0.2126 * red + 0.7152 * green + 0.0722 * blue
          }
          const contrast = (text: Element, ground: Element) => {
            const [one = 0, other = 0] = [getComputedStyle(text).color, getComputedStyle(ground).backgroundColor].map(
              luminance,
            )
            return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05)
          }
          const chat = document.querySelector('ai-agent-chat') as HTMLElement
          const launcher = document.querySelector('ai-agent-launcher') as HTMLElement
          document.documentElement.style.setProperty('--brand', '#ffe066')
          for (const each of [chat, launcher]) {
            each.style.setProperty('--aiagent-accent', accent)
            each.setAttribute('theme', theme)
          }
          const find = (name: string, host = chat) => host.shadowRoot?.querySelector(name) as Element
          return Object.entries({
            bubble: contrast(find('.user .bubble'), find('.user .bubble')),
            option: contrast(find('.option'), find('.option')),
            link: contrast(find('.text a'), find('.agent .bubble')),
            send: contrast(find('.send'), find('.send')),
            launch: contrast(find('.launch', launcher), find('.launch', launcher)),
          }).filter(([, ratio]) => !(ratio >= 4.5))
        },
        [accent, theme] as const,
      )
    for (const accent of [
      '#ffd400',
      '#fff',
      '#000',
      'lime',
      'cyan',
      'rebeccapurple',
      '#777',
      '#f60',
      'oklch(0.9 0.1 120)',
      'var(--brand)',
    ])
      for (const theme of ['light', 'dark'])
        expect({ accent, theme, poor: await ratios(accent, theme) }).toEqual({ accent, theme, poor: [] })
  })

  it('[EL-75] has the button to the end below the list, where it covers nothing', async () => {
    const page = await open(CHAT)
    for (let index = 0; index < 6; index++) {
      await write(page, `Message ${index}`)
      await expect.poll(() => bubbles(page).then(all => all.length)).toBe(2 * (index + 1))
    }
    await page.getByRole('log').evaluate(log => log.scrollTo(0, 0))
    const button = page.getByRole('button', { name: 'To the latest message' })
    await button.waitFor()
    expect((await box(page, '.to-end')).top).toBeGreaterThanOrEqual((await box(page, '.log')).bottom)
    await button.click()
    await expect.poll(() => button.count()).toBe(0)
    expect(
      await page.getByRole('log').evaluate(log => log.scrollHeight - log.scrollTop - log.clientHeight),
    ).toBeLessThan(2)
  })

  it('[EL-76] prints the whole chat between what is above and below it, and no launcher', async () => {
    const page = await open(`<style>ai-agent-chat { block-size: 300px }</style>${CHAT}<p>Below</p>${LAUNCHER}`, {
      prepare: target => target.emulateMedia({ colorScheme: 'dark' }),
    })
    await page.evaluate(() => document.querySelector('ai-agent-launcher')?.toggleAttribute('open', false))
    await write(page, 'wide')
    await page.locator('ai-agent-chat .code').waitFor()
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' })
    const facts = await page.evaluate(() => {
      const root = document.querySelector('ai-agent-chat')?.shadowRoot as ShadowRoot
      const find = (name: string) => root.querySelector(name) as Element
      const cut = [...root.querySelectorAll('.log, .code, .table')].filter(
        each => each.scrollWidth > each.clientWidth + 1 || each.scrollHeight > each.clientHeight + 1,
      )
      const { backgroundColor, color, borderTopColor } = getComputedStyle(find('.user .bubble'))
      return {
        cut: cut.map(({ className }) => className),
        isBelow:
          (document.querySelector('p')?.getBoundingClientRect().top ?? 0) >=
          find('.log').getBoundingClientRect().bottom,
        bubble: [backgroundColor, color, borderTopColor],
      }
    })
    expect(facts).toEqual({
      cut: [],
      isBelow: true,
      bubble: ['rgba(0, 0, 0, 0)', 'rgb(26, 32, 51)', 'rgb(131, 140, 161)'],
    })
    expect(await page.locator('ai-agent-launcher .launch').isVisible()).toBe(false)
  })

  it('[EL-77] [EL-39] has one button that copies for a turn of the agent, with all of it', async () => {
    const page = await open(CHAT.replace('agent-id', 'show-copy agent-id'), {
      prepare: target =>
        target.addInitScript(() => {
          const writeText = async (text: string) => void Object.assign(globalThis, { copied: text })
          Object.defineProperty(navigator, 'clipboard', { value: { writeText } })
        }),
    })
    for (const text of ['hello', 'six']) await write(page, text)
    await page.getByText('Six.', { exact: true }).waitFor()
    const copy = page.getByRole('button', { name: 'Copy answer' })
    await expect.poll(() => copy.count()).toBe(2)
    await copy.last().click()
    await expect
      .poll(() => page.evaluate(() => Object(globalThis).copied))
      .toBe('One.\n\nTwo.\n\nThree.\n\nFour.\n\nFive.\n\nSix.')
  })

  it('[EL-77] [EL-05] keeps a cell of a table in one line, and a link of the page in its window', async () => {
    const page = await open(CHAT, { prepare: target => target.setViewportSize({ width: 360, height: 640 }) })
    await write(page, 'wide')
    await page.locator('ai-agent-chat td').first().waitFor()
    expect((await box(page, 'td')).height).toBeLessThan(40)
    const links = page.locator('ai-agent-chat .text a')
    expect(await links.evaluateAll(all => all.map(link => [link.textContent, link.getAttribute('target')]))).toEqual([
      ['ours', null],
      ['theirs (opens in a new window)', '_blank'],
    ])
  })

  it('[EL-78] has a heading of two lines, and says the state of the connection once', async () => {
    const page = await open(CHAT.replace('agent-id', `subtitle="${SUBTITLE}" agent-id`), {
      prepare: target => target.setViewportSize({ width: 320, height: 568 }),
    })
    expect((await box(page, '.header')).height).toBeLessThan(63)
    expect(await page.getByText('Online').isVisible()).toBe(true)
    const { faults } = stage.service.emulator
    faults.add({ kind: 'refuse-upgrade', status: 503 })
    faults.add({ kind: 'drop' })
    await page.locator('ai-agent-chat .notice').getByText('Reconnecting').waitFor()
    expect(await page.locator('ai-agent-chat .status').count()).toBe(0)
  })

  it('[EL-78] leaves room for the conversation at 400 % zoom, and shows whole lines of a long draft', async () => {
    const page = await open(CHAT.replace('<ai', '<style>ai-agent-chat { block-size: 100vh }</style><ai'), {
      prepare: target => target.setViewportSize({ width: 320, height: 256 }),
    })
    await page.getByRole('textbox').fill('A sentence of a draft that is pasted. '.repeat(500))
    const lines = await page.getByRole('textbox').evaluate(node => {
      const field = node as HTMLTextAreaElement
      field.scrollTo(0, field.scrollHeight)
      const line = Number.parseFloat(getComputedStyle(field).lineHeight)
      return [field.clientHeight / line, field.scrollTop / line].map(
        count => Math.abs(count - Math.round(count)) * line,
      )
    })
    expect(Math.max(...lines)).toBeLessThan(1.1)
    expect((await box(page, '.log')).height).toBeGreaterThan(90)
  })

  it('[EL-78] puts a button of a line below its text where there is little room, and the buttons of an ended conversation in one row', async () => {
    const page = await open(WITH_DESK, { prepare: target => target.setViewportSize({ width: 320, height: 568 }) })
    await write(page, 'person')
    await page.getByText('Waiting for a colleague').first().waitFor()
    const text = await box(page, '.notice > span')
    expect(text.height).toBeLessThan(30)
    expect((await box(page, '.notice > .link-button')).top).toBeGreaterThanOrEqual(text.bottom)
    await page.setViewportSize({ width: 320, height: 256 })
    expect((await box(page, '.body')).height).toBeGreaterThan(95)
    await page.setViewportSize({ width: 320, height: 568 })
    await page.getByRole('button', { name: 'Back to the assistant' }).click()
    stage.service.emulator.faults.add({ kind: 'drop', code: 1000 })
    await page.locator('ai-agent-chat .ended').waitFor()
    const tops = await page
      .locator('ai-agent-chat .ended button')
      .evaluateAll(all => all.map(each => each.getBoundingClientRect().top))
    expect(new Set(tops).size).toBe(1)
    expect(tops).toHaveLength(2)
  })

  it('[EL-78] has the same space at the beginning and the end of an answer, whatever it begins and ends with', async () => {
    const page = await open(CHAT)
    await write(page, 'wide')
    await page.locator('ai-agent-chat .code').waitFor()
    // All at once: the list may still be moving.
    const [above, below] = await page.locator('ai-agent-chat .agent .bubble').evaluate(bubble => {
      const [outer, table, code] = [bubble, ...bubble.querySelectorAll('.table, .code')].map(each =>
        each.getBoundingClientRect(),
      ) as [DOMRect, DOMRect, DOMRect]
      return [table.top - outer.top, outer.bottom - code.bottom]
    })
    expect(above).toBeCloseTo(below as number)
  })

  it.each([
    ['ar', 'half a draft', ['5px', '16px'], 'ltr'],
    ['en', '\u0645\u0631\u062d\u0628\u0627', ['16px', '5px'], 'rtl'],
  ])(
    '[EL-112] follows the direction of the chat around texts of the other one: %s',
    async (lang, text, corners, direction) => {
      stage = await stages.open({ reply: () => ({ content: '```js\nlet a\n```' }) })
      const heading = `${text} `.repeat(20)
      const { page } = await stage.open(
        CHAT.replace('agent-id', `lang="${lang}" heading="${heading}" show-copy agent-id`),
      )
      const field = page.getByRole('textbox')
      await field.fill(text)
      await page.keyboard.press('Enter')
      await page.locator('ai-agent-chat .code-language').waitFor()
      await field.fill(text)
      await page.waitForFunction(() => document.querySelector('ai-agent-chat')?.view?.getSnapshot().draft)
      await page.reload()
      await page.locator('ai-agent-chat .code-language').waitFor()
      const facts = await page.evaluate(() => {
        const find = (name: string) =>
          document.querySelector('ai-agent-chat')?.shadowRoot?.querySelector(name) as Element
        const places = (name: string, length: number) => {
          const text = document.createRange()
          text.setStart(find(name).firstChild as Text, 0)
          text.setEnd(find(name).firstChild as Text, length)
          const [first, box] = [text.getBoundingClientRect(), find(name).getBoundingClientRect()]
          return [first.left - box.left, box.right - first.right].map(Math.round)
        }
        const { borderBottomLeftRadius, borderBottomRightRadius } = getComputedStyle(find('.user .bubble'))
        return {
          corners: [borderBottomLeftRadius, borderBottomRightRadius],
          isBeginningShown: places('h2', 1).every(space => space >= 0),
          code: places('.code-language', 2),
          draft: getComputedStyle(find('textarea')).direction,
        }
      })
      expect(facts).toMatchObject({ corners, isBeginningShown: true, draft: direction })
      expect(facts.code[lang === 'ar' ? 1 : 0]).toBe(0)
    },
  )

  it('[EL-78] colours what a pointer is over only where a pointer can be', async () => {
    const page = await open(CHAT)
    const touched = await page.evaluate(() =>
      document
        .querySelector('ai-agent-chat')
        ?.shadowRoot?.adoptedStyleSheets.flatMap(({ cssRules }) => [...cssRules].map(({ cssText }) => cssText))
        .filter(text => text.includes(':hover') && !text.startsWith('@media (hover: hover)')),
    )
    expect(touched).toEqual([])
  })

  it.each([
    ['in the launcher of a phone', LAUNCHER, 390],
    [
      'in a page',
      `<style>ai-agent-chat:not(:defined) { display: block; font-size: medium; block-size: max(608px, 38em) }</style>${CHAT}<p>Below</p>`,
      1000,
    ],
  ])('[EL-79] moves nothing when a slow chat takes its place %s', async (_case, body, width) => {
    const page = await open(body, {
      search: body === LAUNCHER ? '?lazy' : '',
      prepare: async target => {
        await target.setViewportSize({ width, height: 800 })
        await target.addInitScript(() => {
          const moved: string[] = []
          Object.assign(globalThis, { moved })
          new PerformanceObserver(list => {
            for (const entry of list.getEntries()) {
              const { value, sources } = entry as unknown as {
                value: number
                sources: Record<'previousRect' | 'currentRect', DOMRect>[]
              }
              const places = sources.map(({ previousRect, currentRect }) =>
                [previousRect, currentRect].map(({ x, y, width, height }) => [x, y, width, height].join()).join(' to '),
              )
              moved.push(`${value.toFixed(3)}: ${places.join('; ')}`)
            }
          }).observe({ type: 'layout-shift', buffered: true })
        })
        await target.route(/[/](?:chat-|together)/, async route => {
          await target.evaluate(
            () => new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(resolve))),
          )
          await route.continue()
        })
      },
    })
    await page.evaluate(() => new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(resolve))))
    expect(await page.evaluate(() => Object(globalThis).moved)).toEqual([])
  })
})
