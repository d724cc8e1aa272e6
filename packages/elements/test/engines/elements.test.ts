import type { Answer, EmulatorOptions } from '@aiagent/emulator'
import { describeInEngines, type EnginePage } from '@aiagent/test-support/engines'
import axe from 'axe-core'
import { afterEach, beforeAll, expect, it } from 'vitest'
import { bundleElements, type ChatPages, received, serveChatPages } from '../browser/chat-page.ts'
import { strictPolicies } from '../browser/policies.ts'

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

const ANSWER: Answer = {
  content: 'Look **here**.',
  role: 'follow up question agent',
  messageData: { options: ['Red', 'Blue'] },
}

describeInEngines('the elements', at => {
  let files: Readonly<Record<string, string>>
  let pages: ChatPages
  beforeAll(async () => {
    files = await bundleElements()
  })
  afterEach(() => pages.close())

  /** Opens a page under the strictest policy that the documents show. */
  const open = async (body: string, options: EmulatorOptions = {}, search = '') => {
    pages = await serveChatPages(files, options)
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
  const complaints = (page: EnginePage) => page.evaluate(() => Reflect.get(globalThis, 'complaints') as string[])

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
    expect(await complaints(page)).toEqual([])
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
    expect(await complaints(page)).toEqual([])
  })
})

/** Runs in the page: places in the elements that break a rule of axe. */
async function findViolations(): Promise<string[]> {
  const { axe: rules } = globalThis as unknown as { axe: typeof axe }
  const given = { resultTypes: ['violations' as const], preload: false }
  const { violations } = await rules.run('ai-agent-chat, ai-agent-launcher', given)
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')}: ${failureSummary}`),
  )
}
