import type { Answer, EmulatorOptions } from '@aiagent/emulator'
import { hasChromium, launchChromium } from '@aiagent/test-support/chromium'
import { describeInEngines, type EnginePage } from '@aiagent/test-support/engines'
import axe from 'axe-core'
import { afterEach, beforeAll, expect, it } from 'vitest'
import { type ChatPages, openChatStage, received, scriptElements, serveChatPages } from '../browser/chat-page.ts'
import { strictPolicies } from '../browser/policies.ts'
import { emulatorOf, playScene, SCENES } from '../browser/scenes.ts'
import { compareLooks, type Drawn, drawingOf, HIDING, keepSheets, OTHERS } from '../pages-of-others.ts'

const CHAT = '<ai-agent-chat endpoint="ENDPOINT" agent-id="help"></ai-agent-chat>'
const LAUNCHER = '<ai-agent-launcher endpoint="ENDPOINT" agent-id="help"></ai-agent-launcher>'
const SCRIPTS = '<script src="/complaints.js"></script><script type="module" src="/entry.js"></script>'
/** WebKit reports the icon of the page, which it requests itself. */
const ICON = "img-src 'self'"
const AXE = '<script src="/axe.js"></script>'

/** What the page collects of its errors, and of reports of its policy. */
const COLLECT = `globalThis.complaints = []
const complain = text => void complaints.push(String(text))
addEventListener('error', ({ message }) => complain(message))
addEventListener('unhandledrejection', ({ reason }) => complain(reason))
addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) => complain(violatedDirective + ' ' + blockedURI))
for (const name of ['error', 'warn']) console[name] = (...given) => complain(given.join(' '))`

type Files = Readonly<Record<string, string>>

const ANSWER: Answer = {
  content: 'Look **here**.',
  role: 'follow up question agent',
  messageData: { options: ['Red', 'Blue'] },
}

describeInEngines('the built elements', at => {
  let files: Files
  let pages: ChatPages
  beforeAll(async () => {
    files = await scriptElements()
  })
  afterEach(() => pages?.close())

  /** Opens a page under the strictest policy that the documents show. */
  const open = async (body: string, options: EmulatorOptions = {}, search = '', more: Files = {}) => {
    pages = await serveChatPages(files, options)
    for (const [path, text] of Object.entries(more)) pages.serve(path, text)
    pages.serve('/complaints.js', COLLECT)
    pages.serve('/axe.js', axe.source)
    const { url } = pages.service
    const connect = [url, url.replace('http', 'ws')]
    const { bundled } = strictPolicies({ connect, nonce: '', connector: url, page: ["style-src 'self'", ICON] })
    const page = await at.engine.newPage()
    await page.goto(pages.servePage(body, { search, headers: { 'content-security-policy': bundled }, script: SCRIPTS }))
    return page
  }
  const untilOnline = (page: EnginePage) => expect.poll(() => page.texts('.status')).toEqual(['Online'])
  const bubbles = (page: EnginePage) => page.texts('.row:not(:has(.working)) .bubble')
  const write = (page: EnginePage, text: string) => page.type('textarea', `${text}\n`)
  /** As one text, so that a failure shows it. */
  const complaints = (page: EnginePage) =>
    page.evaluate(() => (Reflect.get(globalThis, 'complaints') as string[]).join('\n'))

  it('[EL-01] [EL-04] shows a conversation under trusted types for nobody, without a report', async () => {
    const page = await open(CHAT, {
      reply: ({ text }) => (text === 'options' ? ANSWER : { content: `You said: ${text}` }),
    })
    await untilOnline(page)
    await write(page, 'hello')
    await expect.poll(() => bubbles(page)).toEqual(['hello', 'You said: hello'])
    await write(page, 'options')
    await page.click('.option', 'Blue')
    await expect.poll(async () => (await bubbles(page)).at(-1)).toBe('You said: Blue')
    expect(await page.texts('.bubble strong')).toEqual(['here'])
    expect(received(pages.service)).toMatchObject({ sessionCalls: 1, sockets: 1, texts: ['hello', 'options', 'Blue'] })
    expect(await complaints(page)).toBe('')
  })

  it('[EL-02] [EL-03] delivers what is written during a cut, and shows conversation and draft after a reload', async () => {
    const page = await open(CHAT)
    await untilOnline(page)
    const { faults } = pages.service.emulator
    faults.add({ kind: 'refuse-upgrade', status: 503 })
    faults.add({ kind: 'drop' })
    await page.waitFor(
      () => document.querySelector('ai-agent-chat')?.view?.getSnapshot().connection.state === 'reconnecting',
    )
    await write(page, 'during the cut')
    await expect.poll(() => page.texts('.notice')).toEqual([expect.stringContaining('Reconnecting')])
    faults.lift()
    await expect.poll(() => bubbles(page)).toEqual(['during the cut', 'You said: during the cut'])
    await page.type('textarea', 'half a sent')
    await page.waitFor(() => Object.values({ ...sessionStorage }).some(text => text.includes('half a sent')))
    await page.reload()
    await expect.poll(() => bubbles(page)).toEqual(['during the cut', 'You said: during the cut'])
    await page.waitFor(
      () => document.querySelector('ai-agent-chat')?.shadowRoot?.querySelector('textarea')?.value === 'half a sent',
    )
    expect(received(pages.service)).toMatchObject({ sessionCalls: 1, texts: ['during the cut'] })
  })

  it('[EL-14] breaks no rule of axe', async () => {
    const page = await open(AXE + LAUNCHER, { reply: () => ANSWER }, '?lazy')
    await page.click('button', 'Chat')
    await untilOnline(page)
    await write(page, 'hello')
    await page.click('.option', 'Blue')
    await expect.poll(async () => (await bubbles(page)).length).toBe(4)
    // A colour in the middle of a transition is none of the theme.
    await expect.poll(() => page.evaluate(findViolations)).toEqual([])
  })

  it('[EL-08] [EL-24] [EL-27] opens the chat of a launcher, which can be closed and counts unread messages', async () => {
    const page = await open(LAUNCHER, {}, '?lazy')
    await page.click('button', 'Chat')
    await untilOnline(page)
    await write(page, 'hello')
    await expect.poll(() => bubbles(page)).toEqual(['hello', 'You said: hello'])
    await page.click('button', 'Close')
    const [session = ''] = pages.service.emulator.world.sessions.keys()
    pages.service.emulator.control.say(session, { content: 'News' })
    await expect.poll(() => page.texts('.badge')).toEqual(['1'])
    await page.click('.launch')
    await expect.poll(async () => (await bubbles(page)).at(-1)).toBe('News')
    expect(await complaints(page)).toBe('')
  })

  it('[EL-72] has one conversation and loses no key in a page with resets, shortcuts, a framework, a translation and a page change', async () => {
    const styles = ['a reset of everything', 'positions for all', 'a small root font', 'inherited typography', 'blocks']
    const more = { '/others.css': styles.map(name => OTHERS[name]).join('\n'), '/others.js': OTHER_SCRIPT }
    const body = `<link rel="stylesheet" href="/others.css"><input id="search">${LAUNCHER}<script src="/others.js"></script>`
    const page = await open(body, {}, '', more)
    await page.click('button', 'Chat')
    await untilOnline(page)
    const said: string[] = []
    const say = async (text: string) => {
      await write(page, text)
      said.push(text, `You said: ${text}`)
      await expect.poll(() => bubbles(page)).toEqual(said)
    }
    await say('Shoes, please')
    const { button, field, panel, size } = await page.evaluate(() => {
      const root = document.querySelector('ai-agent-launcher')?.shadowRoot
      const area = root?.querySelector('ai-agent-chat')?.shadowRoot?.querySelector('textarea')
      const at = (element: Element | null | undefined) => element?.getBoundingClientRect().toJSON() as DOMRect
      const { right, bottom } = at(root?.querySelector('.launch'))
      const { clientWidth, clientHeight } = document.documentElement
      return {
        button: [clientWidth - right, clientHeight - bottom],
        field: at(area),
        panel: at(root?.querySelector('dialog')),
        size: area && getComputedStyle(area).fontSize,
      }
    })
    expect(button).toEqual([20, 20])
    expect(size).toBe('15px')
    expect(field.bottom).toBeLessThan(panel.bottom)
    expect(field.right).toBeLessThan(panel.right)
    await page.evaluate(translate)
    await say('Size 40')
    await page.evaluate(() => {
      const next = document.createElement('body')
      next.append(document.querySelector('ai-agent-launcher') as Element)
      document.body.replaceWith(next)
    })
    await say('Thanks')
    expect(received(pages.service)).toMatchObject({
      sessionCalls: 1,
      sockets: 1,
      texts: ['Shoes, please', 'Size 40', 'Thanks'],
    })
    expect(await page.evaluate(() => Reflect.get(globalThis, 'shortcuts'))).toEqual([])
    expect(await complaints(page)).toBe('')
  })

  // Two engines are enough for the drawings.
  if (at.name === 'WebKitGTK') return
  it.skipIf(!hasChromium())(
    '[EL-70] [EL-71] has the same looks in pages of others, in every state, and is hidden where they hide it',
    { timeout: 180_000 },
    async () => {
      const drawings = await (drawn ??= drawScenes(files))
      const page = await at.engine.newPage()
      const found: Record<string, string[]> = {}
      for (const [name, drawing] of drawings) {
        const wrong = await page.evaluate(compareLooks, drawing, OTHERS, HIDING)
        if (wrong.length > 0) found[name] = wrong.slice(0, 8)
      }
      expect(found).toEqual({})
    },
  )
})

/** A page with shortcuts of one key, and a framework that renders with each key. */
const OTHER_SCRIPT = `globalThis.shortcuts = []
addEventListener('keydown', ({ target, key }) => {
  if (/INPUT|TEXTAREA/.test(target.tagName) || key.length > 1) return
  shortcuts.push(key)
  document.querySelector('#search').focus()
})
const render = () => Object.assign(document.querySelector('ai-agent-launcher'), { config: { context: { page: 'basket' } } })
render()
for (const name of ['keydown', 'input', 'aiagent-ready']) addEventListener(name, render, true)`

/** Runs in the page: wraps each text in an element, as the translation of a browser does. */
function translate(): void {
  const visit = (root: Node): void => {
    for (const node of [...root.childNodes]) {
      if (node instanceof Element && node.shadowRoot) visit(node.shadowRoot)
      if (node instanceof Element && !node.matches('style, script, textarea')) visit(node)
      if (!(node instanceof Text) || !node.data.trim()) continue
      const font = document.createElement('font')
      node.replaceWith(font)
      font.append(node)
    }
  }
  visit(document.body)
}

/** Scenes that are played at the same time: most of their time is waiting. */
const LANES = 3

let drawn: Promise<Map<string, Drawn>> | undefined

/** Scenes that show nothing but what others show too: in another theme or language. */
const REPEATED = new Set(['conversation', 'dark', 'german', 'russian'])

/** Every scene as HTML, played once for all engines. */
async function drawScenes(files: Files): Promise<Map<string, Drawn>> {
  const chromium = await launchChromium()
  const drawings = new Map<string, Drawn>()
  const waiting = SCENES.filter(({ name }) => !REPEATED.has(name))
  const play = async () => {
    for (let scene = waiting.shift(); scene; scene = waiting.shift()) {
      const window = await chromium.newWindow()
      await window.context.addInitScript(keepSheets)
      const stage = await openChatStage(window.context, files, emulatorOf(scene))
      const { page } = await playScene(scene, stage)
      const { width, height } = page.viewportSize() ?? { width: 0, height: 0 }
      // Where no height is given, the chat has its own.
      const html = (await drawingOf(page)).replaceAll('block-size:100vh', '')
      drawings.set(scene.name, { html, width, height })
      await stage.close()
      await window.close()
    }
  }
  await Promise.all(Array.from({ length: LANES }, play))
  await chromium.close()
  return drawings
}

/** Runs in the page: places in the elements that break a rule of axe. */
async function findViolations(): Promise<string[]> {
  const { axe: rules } = globalThis as unknown as { axe: typeof axe }
  const given = { resultTypes: ['violations' as const], preload: false }
  const { violations } = await rules.run('ai-agent-chat, ai-agent-launcher', given)
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')}: ${failureSummary}`),
  )
}
