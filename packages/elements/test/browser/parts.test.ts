import { bundleModulesForPage, hasChromium } from '@aiagent/test-support/chromium'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { builtElements } from '../built-elements.ts'
import { bubbles, CHAT_FILES, type ChatStage, openChatStage, received, write } from './chat-page.ts'
import { chatStages } from './chat-stages.ts'

describe.skipIf(!hasChromium())('parts of <ai-agent-chat>', () => {
  const stages = chatStages()
  let stage: ChatStage

  const last = (page: Page) => bubbles(page).then(all => all.at(-1))

  it('[EL-15] shows header, empty state and composer of the host app, and its texts, in place of the usual ones', async () => {
    stage = await stages.open()
    const { page, complaints } = await stage.open(
      `<style>ai-agent-chat { --aiagent-accent: rgb(1, 2, 3); --aiagent-user-bubble: rgb(4, 5, 6) }
ai-agent-chat::part(header) { background: rgb(7, 8, 9) }</style><ai-agent-chat endpoint="ENDPOINT" agent-id="help" closable>
<b slot="header">Our own header</b><p slot="empty">Ask away</p><button slot="composer">Say hello</button></ai-agent-chat>
<script>
  const chat = document.querySelector('ai-agent-chat')
  chat.strings = { sent: 'Off it goes', close: 'Shut' }
  chat.querySelector('button').onclick = () => chat.view.send('hello')
</script>`,
    )
    await page.getByText('Our own header').waitFor()
    await page.getByText('Ask away').waitFor()
    expect(await page.getByText('How can we help?').isVisible()).toBe(false)
    expect(await page.getByRole('textbox').count()).toBe(0)
    await page.getByRole('button', { name: 'Say hello' }).click()
    await expect.poll(() => bubbles(page)).toEqual(['hello', 'You said: hello'])
    expect(await page.getByText('Ask away').isVisible()).toBe(false)
    await page.getByText('Off it goes').waitFor()
    await page.getByRole('button', { name: 'Shut' }).waitFor()
    // The rest of the header stays.
    await page.getByRole('button', { name: 'More' }).waitFor()
    await page.evaluate(() => document.querySelector('ai-agent-chat button')?.remove())
    await write(page, 'typed')
    await expect.poll(() => last(page)).toBe('You said: typed')
    const colour = (part: string) =>
      page
        .locator(`ai-agent-chat ${part}`)
        .last()
        .evaluate(node => getComputedStyle(node).backgroundColor)
    expect(await Promise.all(['.header', '[part~=bubble-user]'].map(colour))).toEqual(['rgb(7, 8, 9)', 'rgb(4, 5, 6)'])
    await page.getByRole('textbox').fill('ready')
    await expect.poll(() => colour('.send')).toBe('rgb(1, 2, 3)')
    expect(complaints).toEqual([])
  })

  it('[EL-21] sends a message that fits into a frame of 64 KiB, and keeps a longer one in the field', async () => {
    stage = await stages.open({ reply: () => ({ content: 'Received.' }) })
    const { page } = await stage.open('<ai-agent-chat endpoint="ENDPOINT" agent-id="help"></ai-agent-chat>')
    await page.getByText('Online').waitFor()
    // Three bytes each, between two quotation marks, beside 1 KiB for the rest of the frame.
    const longest = '€'.repeat(Math.floor((63 * 1024 - 2) / 3))
    const field = page.getByRole('textbox')
    await write(page, `${longest}€`)
    await page.getByText('too long by 1 character').waitFor()
    expect(await field.inputValue()).toHaveLength(longest.length + 1)
    expect(await field.getAttribute('aria-invalid')).toBe('true')
    expect(received(stage.service).texts).toEqual([])
    await field.press('Backspace')
    await field.press('Enter')
    await expect.poll(() => last(page)).toBe('Received.')
    expect(received(stage.service).texts).toEqual([longest])
    const [session = ''] = stage.service.emulator.world.sessions.keys()
    const [frame] = stage.service.emulator.control.frames(session)
    const size = Buffer.byteLength(String(frame?.data))
    expect(size).toBeLessThanOrEqual(64 * 1024)
    expect(size).toBeGreaterThan(63 * 1024)
  })

  it('[EL-16] offers telephone and SMS as links, and email where the host app names an address', async () => {
    const ways = { phone: true, phoneNumber: '+1 (555) 010-7788', sms: true, smsNumber: '+1 555 010 7799', email: true }
    stage = await stages.open({
      reply: ({ text }) => ({
        content: 'Talk to us.',
        messageData: {
          escalation: true,
          escalationData: text === 'none' ? { live: false, email: true } : { live: false, ...ways },
        },
      }),
    })
    const { page } = await stage.open(
      '<ai-agent-chat endpoint="ENDPOINT" agent-id="help" support-email="help@shop.test"></ai-agent-chat>',
    )
    await page.getByText('Online').waitFor()
    await write(page, 'human')
    const addresses = () =>
      page
        .locator('ai-agent-chat .row:nth-last-child(1 of .agent) .escalation a')
        .evaluateAll(links => links.map(link => [link.textContent, link.getAttribute('href')]))
    await expect.poll(addresses).toEqual([
      ['Call +1 (555) 010-7788', 'tel:+15550107788'],
      ['Text +1 555 010 7799', 'sms:+15550107799'],
      ['Write an email', 'mailto:help@shop.test'],
    ])
    await page.evaluate(() => document.querySelector('ai-agent-chat')?.removeAttribute('support-email'))
    await expect.poll(() => addresses().then(all => all.length)).toBe(2)
    await write(page, 'none')
    await page.getByText('A person will take care of your request.').waitFor()
    expect(await addresses()).toEqual([])
  })

  it('[EL-17] lets the user choose among the agents of a portal', async () => {
    stage = await stages.open()
    const { control } = stage.service.emulator
    const accessToken = control.issueToken({ subject: 'desk-agent' })
    const { page } = await stage.open(
      `<ai-agent-chat endpoint="ENDPOINT" agent-id="desk"></ai-agent-chat>
<script>document.querySelector('ai-agent-chat').config = { auth: { type: 'pre-auth', accessToken: '${accessToken}' }, initParams: { isDefaultAgent: 'true' } }</script>`,
    )
    // A choice that fails is said, and can be made again.
    const support = page.getByRole('button', { name: 'Support' })
    await support.waitFor()
    await page.route(`${stage.service.url}/**`, route => route.abort())
    await support.click()
    await page.getByRole('alert').waitFor()
    await page.unroute(`${stage.service.url}/**`)
    await support.click()
    await page.getByText('Who do you want to talk to?').waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
    expect(await page.locator('ai-agent-chat .choice b').allTextContents()).toEqual([
      'Desk Assistant',
      'Order Assistant',
    ])
    await page.getByRole('button', { name: 'Order Assistant' }).click()
    await page.getByText('Online').waitFor()
    await write(page, 'chosen')
    await expect.poll(() => last(page)).toBe('You said: chosen')
    const calls = stage.service.emulator.control.requests().map(({ method, path }) => `${method} ${path}`)
    expect(calls.filter(call => call.startsWith('POST') && call.endsWith('/session'))).toEqual([
      expect.stringContaining('/agent/desk-orders/session'),
    ])
  })

  it('[EL-18] says that the chat could not be loaded, reports it, and loads it with another click', async () => {
    stage = await stages.open()
    const { page } = await stage.open(
      `<script>addEventListener('aiagent-error', event => { globalThis.reported = String(event.detail.error) })</script>
<ai-agent-chat endpoint="ENDPOINT" agent-id="help" lang="de"></ai-agent-chat>`,
      { prepare: target => target.route(CHAT_FILES, route => route.abort()) },
    )
    await page.getByRole('alert').getByText('Der Chat konnte nicht geladen werden.').waitFor()
    expect(await page.evaluate(() => Object(globalThis).reported)).toMatch(/import|fetch/)
    expect(received(stage.service).sessionCalls).toBe(0)
    await page.unroute(CHAT_FILES)
    await page.getByRole('button', { name: 'Erneut versuchen' }).click()
    await page.getByText('Wie können wir helfen?').waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
    await expect
      .poll(() => page.evaluate(() => document.querySelector('ai-agent-chat')?.view?.getSnapshot().connection.state))
      .toBe('connected')
  })

  it('[EL-18] offers to reload the page where a file of the client could not be loaded, which helps', async () => {
    const own = await openChatStage(
      stages.context,
      await bundleModulesForPage(`import '@aiagent/elements'`, { plugins: [builtElements()] }),
    )
    try {
      const accessToken = own.service.emulator.control.issueToken({ subject: 'desk-agent' })
      const { page } = await own.open(
        `<ai-agent-chat endpoint="ENDPOINT" agent-id="desk"></ai-agent-chat>
<script>document.querySelector('ai-agent-chat').config = { auth: { type: 'pre-auth', accessToken: '${accessToken}' } }</script>`,
        { prepare: target => target.route(/portal-lifecycle/, route => route.abort()) },
      )
      const reload = page.getByRole('button', { name: 'Reload the page' })
      await reload.waitFor()
      await page.unroute(/portal-lifecycle/)
      await reload.click()
      await page.getByRole('button', { name: 'Support' }).waitFor()
      expect(await reload.count()).toBe(0)
    } finally {
      await own.close()
    }
  })

  it('[EL-05] shows an answer that is nested too deeply as it was written, and the chat goes on', async () => {
    const deep = `${'>'.repeat(2000)}deep`
    stage = await stages.open({ reply: ({ text }) => ({ content: text === 'deep' ? deep : 'Still **here**.' }) })
    const { page, complaints } = await stage.open('<ai-agent-chat endpoint="ENDPOINT" agent-id="help"></ai-agent-chat>')
    await page.getByText('Online').waitFor()
    await write(page, 'deep')
    await expect.poll(() => last(page)).toBe(deep)
    await write(page, 'next')
    await expect.poll(() => page.locator('ai-agent-chat .bubble strong').allTextContents()).toEqual(['here'])
    expect(complaints).toEqual([])
  })

  it('[EL-01] takes an option once that is clicked twice', async () => {
    stage = await stages.open({
      reply: ({ text }) =>
        text === 'options'
          ? { content: 'Which one?', role: 'follow up question agent', messageData: { options: ['Red', 'Blue'] } }
          : { content: `You said: ${text}` },
    })
    const { page } = await stage.open('<ai-agent-chat endpoint="ENDPOINT" agent-id="help"></ai-agent-chat>')
    await page.getByText('Online').waitFor()
    await write(page, 'options')
    const blue = page.getByRole('button', { name: 'Blue' })
    await blue.evaluate(button => {
      for (const detail of [1, 2]) button.dispatchEvent(new MouseEvent('click', { detail, bubbles: true }))
    })
    await expect.poll(() => last(page)).toBe('You said: Blue')
    expect(await page.locator('ai-agent-chat .notice').count()).toBe(0)
    expect(received(stage.service).texts).toEqual(['options', 'Blue'])
  })

  it('[EL-20] shows a conversation as it was written when the code for its Markdown is late, and formats it later', async () => {
    stage = await stages.open({ reply: () => ({ content: 'Look **here**.' }) })
    const waiting: (() => void)[] = []
    const { page } = await stage.open('', {
      search: '?sdk',
      prepare: target => target.route(/lexer/, route => void waiting.push(() => void route.continue())),
    })
    await page.waitForFunction(() => customElements.get('ai-agent-chat'))
    await page.evaluate(async endpoint => {
      const agent = new (Object(globalThis).sdk.AiAgent)({ id: 'help', endpoint })
      await agent.initialize()
      await agent.connect()
      await new Promise(answered => {
        agent.on('agentMessage', answered)
        agent.send('hello')
      })
      const chat = document.createElement('ai-agent-chat')
      chat.agent = agent
      document.body.append(chat)
    }, stage.service.url)
    await expect.poll(() => bubbles(page)).toEqual(['hello', 'Look **here**.'])
    expect(waiting).toHaveLength(1)
    waiting[0]?.()
    await expect.poll(() => page.locator('ai-agent-chat .bubble strong').allTextContents()).toEqual(['here'])
  })
})
