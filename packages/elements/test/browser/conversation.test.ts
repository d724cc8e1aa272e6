import { hasChromium } from '@aiagent/test-support/chromium'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { bubbles, type ChatStage, received, write } from './chat-page.ts'
import { chatStages } from './chat-stages.ts'

const CHAT = '<ai-agent-chat endpoint="ENDPOINT" agent-id="help"></ai-agent-chat>'

/** Makes observers silent once they have seen their element, as on a busy machine if it is hidden and soon shown again. */
const reportNoHiding = (page: Page) =>
  page.addInitScript(() => {
    const Observer = globalThis.IntersectionObserver
    globalThis.IntersectionObserver = class extends Observer {
      constructor(report: IntersectionObserverCallback) {
        let isSeen = false
        super((entries, observer) => {
          if (!isSeen) report(entries, observer)
          isSeen ||= entries.some(({ isIntersecting }) => isIntersecting)
        })
      }
    }
  })

describe.skipIf(!hasChromium())('<ai-agent-chat>', () => {
  const stages = chatStages()
  let stage: ChatStage

  const last = (page: Page) => bubbles(page).then(all => all.at(-1))
  const online = (page: Page) => page.getByText('Online').waitFor()

  it('[EL-36] offers questions in an empty conversation, of which one click sends one', async () => {
    stage = await stages.open()
    const { page } = await stage.open(CHAT)
    await online(page)
    await page.evaluate(() =>
      Object.assign(document.querySelector('ai-agent-chat') ?? {}, { suggestions: ['Opening hours', 'My order'] }),
    )
    await page.getByRole('button', { name: 'My order' }).dblclick()
    await expect.poll(() => bubbles(page)).toEqual(['My order', 'You said: My order'])
    expect(await page.getByRole('button', { name: 'Opening hours' }).count()).toBe(0)
    expect(received(stage.service).texts).toEqual(['My order'])
  })

  it('[EL-01] shows what the host draws of a message, also when it changes, and its text where the host draws none or fails', async () => {
    const replies: Record<string, object> = {
      track: { content: 'Your parcel is on its way.', messageData: { parcel: { stops: ['Ulm', 'Bonn'] } } },
      fail: { content: 'As usual.', messageData: { parcel: {} } },
    }
    stage = await stages.open({ reply: ({ text }) => ({ content: 'Hello.', ...replies[text] }) })
    const { page, complaints } = await stage.open(CHAT)
    const errors: string[] = []
    page.on('pageerror', ({ message }) => errors.push(message))
    await online(page)
    await page.evaluate(() => {
      const chat = document.querySelector('ai-agent-chat') as unknown as {
        renderMessage(message: { data: { parcel?: { stops: string[] } }; rating?: string }): Node | undefined
      }
      chat.renderMessage = ({ data: { parcel }, rating }) => {
        if (!parcel) return undefined
        const list = document.createElement('ol')
        list.append(
          ...parcel.stops.map(stop => {
            const item = document.createElement('li')
            item.textContent = `${stop} ${rating ?? ''}`
            return item
          }),
        )
        return list
      }
    })
    await write(page, 'track')
    const stops = page.locator('li', { hasText: /Ulm|Bonn/ })
    await expect.poll(() => stops.allTextContents()).toEqual(['Ulm ', 'Bonn '])
    expect(await page.locator('.bubble', { hasText: 'on its way' }).count()).toBe(0)
    await page.getByRole('button', { name: 'Helpful', exact: true }).click()
    await expect.poll(() => stops.allTextContents()).toEqual(['Ulm up', 'Bonn up'])
    await write(page, 'hello')
    await expect.poll(() => last(page)).toBe('Hello.')
    await write(page, 'fail')
    await expect.poll(() => last(page)).toBe('As usual.')
    expect(errors[0]).toMatch(/map/)
    await page.evaluate(() =>
      Object.assign(document.querySelector('ai-agent-chat') ?? {}, { renderMessage: undefined }),
    )
    await expect.poll(() => page.locator('.bubble', { hasText: 'on its way' }).count()).toBe(1)
    expect(await stops.count()).toBe(0)
    expect(complaints.filter(line => !line.includes('map'))).toEqual([])
  })

  it('[EL-01] folds the reasoning of an answer, and fits its field to the expected input', async () => {
    const messageData = { reasoning: 'Matched **article** 12.', inputType: 'email' }
    stage = await stages.open({ reply: () => ({ content: 'Your email?', messageData }) })
    const { page, complaints } = await stage.open(CHAT)
    await online(page)
    await write(page, 'hello')
    await expect.poll(() => last(page)).toBe('Your email?')
    const field = page.getByRole('textbox')
    await expect.poll(() => field.getAttribute('inputmode')).toBe('email')
    expect(await field.getAttribute('autocomplete')).toBe('email')
    expect(await page.locator('summary').count()).toBe(0)
    await page.evaluate(() => document.querySelector('ai-agent-chat')?.toggleAttribute('show-reasoning', true))
    const text = page.getByText('Matched **article** 12.')
    await page.getByText('How I got here').click()
    await expect.poll(() => text.isVisible()).toBe(true)
    await page.evaluate(() => document.querySelector('ai-agent-chat')?.removeAttribute('show-reasoning'))
    await expect.poll(() => text.count()).toBe(0)
    expect(complaints).toEqual([])
  })

  it('[EL-01] holds a conversation: text, Markdown, sources, options, rating, hand-over, download', async () => {
    stage = await stages.open({
      reply: ({ text, escalation }) =>
        text === 'options'
          ? [
              {
                content: 'Look **here**.',
                messageData: {
                  sources: [
                    { title: 'Manual', url: 'https://shop.test/m' },
                    { title: 'Bad', url: 'javascript:x' },
                  ],
                },
              },
              { content: 'Which one?', role: 'follow up question agent', messageData: { options: ['Red', 'Blue'] } },
            ]
          : text === 'human'
            ? { content: 'Wait.', messageData: { escalation: true, escalationData: { live: true, ...escalation } } }
            : { content: `You said: ${text}` },
    })
    const { page, complaints } = await stage.open(CHAT)
    await online(page)
    await write(page, 'hello')
    await expect.poll(() => bubbles(page)).toEqual(['hello', 'You said: hello'])
    await write(page, 'options')
    await page.getByRole('button', { name: 'Blue' }).click()
    await expect.poll(() => last(page)).toBe('You said: Blue')
    expect(await page.locator('ai-agent-chat .bubble strong').textContent()).toBe('here')
    expect(await page.getByRole('link', { name: /Manual/ }).getAttribute('href')).toBe('https://shop.test/m')
    expect(await page.getByRole('link', { name: /Bad/ }).count()).toBe(0)
    expect(await page.locator('ai-agent-chat .option.chosen').textContent()).toBe('Blue')
    await page.getByRole('button', { name: 'Helpful', exact: true }).last().click()
    const { world } = stage.service.emulator
    const ratings = () => [...world.sessions.values()].flatMap(({ feedback }) => feedback.map(({ rating }) => rating))
    await expect.poll(ratings).toEqual(['up'])
    await expect.poll(() => page.locator('ai-agent-chat [aria-pressed=true]').count()).toBe(1)
    await write(page, 'human')
    const live = page.getByRole('link', { name: /Start a live chat/ })
    await live.waitFor()
    expect(await live.getAttribute('rel')).toBe('noopener noreferrer')
    expect(received(stage.service)).toMatchObject({
      sessionCalls: 1,
      sockets: 1,
      texts: ['hello', 'options', 'Blue', 'human'],
    })
    const downloading = page.waitForEvent('download')
    await page.getByRole('button', { name: 'More' }).click()
    await page.getByRole('button', { name: 'Download conversation' }).click()
    const file = await (await downloading).createReadStream()
    let text = ''
    for await (const part of file) text += part
    // The file is text: Markdown has left no marks.
    expect(text).toContain('  Look here.')
    expect(text).toMatch(/^You \(/)
    expect(text).toContain('- Manual: https://shop.test/m')
    expect(complaints).toEqual([])
  })

  it.each([
    ['de', 'Unterhaltung herunterladen', 'Sie', 'Assistenz', 'Mehr', 'Ihre Nachricht'],
    ['ar', 'تنزيل المحادثة', 'أنت', 'المساعد', 'المزيد', 'رسالتك'],
  ])(
    '[EL-93] downloads the conversation in %s, as a file with agent and date',
    async (language, download, you, role, more, field) => {
      stage = await stages.open()
      const { page } = await stage.open(CHAT.replace('<ai-agent-chat', `<ai-agent-chat lang="${language}"`))
      await page.getByRole('textbox', { name: field }).fill('hello')
      await page.keyboard.press('Enter')
      await page.locator('.agent .bubble').getByText('You said: hello').waitFor()
      const downloading = page.waitForEvent('download')
      await page.getByRole('button', { name: more, exact: true }).click()
      await page.getByRole('button', { name: download }).click()
      const downloaded = await downloading
      let text = ''
      for await (const part of await downloaded.createReadStream()) text += part
      const zone = await page.evaluate(() => Intl.DateTimeFormat().resolvedOptions().timeZone)
      const lines = text.split('\n')
      expect(lines[0]).toMatch(new RegExp(`^${you} \\(\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d ${zone}\\):$`))
      expect(lines[3]).toMatch(new RegExp(`^${role} – Help Centre \\(`))
      expect(downloaded.suggestedFilename()).toMatch(/^Help Centre \d{4}-\d\d-\d\d\.txt$/)
    },
  )

  it('[EL-02] keeps what is written during a cut, tells after three seconds, and delivers it in order', async () => {
    stage = await stages.open()
    const { page } = await stage.open(CHAT)
    await online(page)
    await write(page, 'one')
    await expect.poll(() => last(page)).toBe('You said: one')
    const { emulator } = stage.service
    const refusal = emulator.faults.add({ kind: 'refuse-upgrade', status: 503 })
    emulator.faults.add({ kind: 'drop' })
    const lostAt = Date.now()
    const toldAt = page
      .locator('ai-agent-chat .notice')
      .getByText('Reconnecting')
      .waitFor()
      .then(() => Date.now())
    // What is written before the page knows of the loss is in doubt, and does not wait.
    await page.waitForFunction(
      () => document.querySelector('ai-agent-chat')?.view?.getSnapshot().connection.state === 'reconnecting',
    )
    await write(page, 'two')
    await write(page, 'three')
    await expect.poll(() => page.getByText('Waiting to be sent').count()).toBe(2)
    await page.getByRole('button', { name: 'Take back' }).last().click()
    expect((await toldAt) - lostAt).toBeGreaterThan(2900)
    emulator.faults.lift({ id: refusal.id })
    await expect.poll(() => last(page), { timeout: 20_000 }).toBe('You said: two')
    expect(received(stage.service).texts).toEqual(['one', 'two'])
    await expect.poll(() => page.locator('ai-agent-chat .notice').count()).toBe(0)
    expect(await page.getByText('Taken back').count()).toBe(1)
  })

  it('[EL-02] says that it connects, and not that a connection was lost, until the first one', async () => {
    stage = await stages.open()
    const refusal = stage.service.emulator.faults.add({ kind: 'refuse-upgrade', status: 503 })
    const { page } = await stage.open(CHAT, {
      prepare: target =>
        target.addInitScript(() => {
          const said = new Set<string>()
          Object.assign(globalThis, { said })
          const look = () => {
            const root = document.querySelector('ai-agent-chat')?.shadowRoot
            for (const line of root?.querySelectorAll('.status, .notice') ?? []) said.add(line.textContent ?? '')
            requestAnimationFrame(look)
          }
          requestAnimationFrame(look)
        }),
    })
    const said = () => page.evaluate(() => [...Object(globalThis).said])
    await page.locator('ai-agent-chat .notice').waitFor()
    expect(await said()).toEqual(['Connecting …'])
    stage.service.emulator.faults.lift({ id: refusal.id })
    await online(page)
    await expect.poll(() => page.locator('ai-agent-chat .notice').count()).toBe(0)
    expect(await said()).toEqual(['Connecting …', 'Online'])
  })

  it('[EL-02] offers to send a message again whose fate is unknown', async () => {
    stage = await stages.open({ settings: { sendHistory: false } })
    const { page } = await stage.open(CHAT)
    await online(page)
    const { faults } = stage.service.emulator
    faults.add({ kind: 'lose-frames', direction: 'to-service' })
    await write(page, 'lost')
    await page.getByText('Sent', { exact: true }).waitFor()
    faults.lift()
    faults.add({ kind: 'drop' })
    await page.getByText('may not have arrived').first().waitFor()
    await online(page)
    await page.getByRole('button', { name: 'Send again' }).click()
    await expect.poll(() => last(page)).toBe('You said: lost')
    expect(received(stage.service).texts).toEqual(['lost'])
  })

  it('[EL-03] brings conversation and draft back after a reload, and starts a new one when it has ended', async () => {
    stage = await stages.open()
    const { page } = await stage.open(CHAT)
    await online(page)
    await write(page, 'hello')
    await expect.poll(() => last(page)).toBe('You said: hello')
    const field = page.getByRole('textbox')
    await field.fill('half a sent')
    await page.reload()
    await expect.poll(() => bubbles(page)).toEqual(['hello', 'You said: hello'])
    await expect.poll(() => field.inputValue()).toBe('half a sent')
    expect(received(stage.service).sessionCalls).toBe(1)
    await online(page)
    await field.fill('')
    const [session = ''] = stage.service.emulator.world.sessions.keys()
    stage.service.emulator.control.endSession(session)
    stage.service.emulator.faults.add({ kind: 'drop', code: 1000 })
    await page.getByText('This conversation has ended.').first().waitFor()
    const restart = page.getByRole('button', { name: 'New conversation' })
    await restart.click()
    await page.getByText('until you leave this page.').waitFor()
    expect(await bubbles(page)).toHaveLength(2)
    await restart.click()
    await page.locator('ai-agent-chat [part="session-mark"]').waitFor()
    await write(page, 'again')
    await expect.poll(() => bubbles(page)).toEqual(['hello', 'You said: hello', 'again', 'You said: again'])
    expect(received(stage.service).sessionCalls).toBe(2)
  })

  it('[EL-111] says once where a session begins that knows nothing of what is above, and what has expired after a reload', async () => {
    stage = await stages.open()
    const { page } = await stage.open(CHAT)
    const { faults, world } = stage.service.emulator
    const mark = page.locator('ai-agent-chat [part="session-mark"]')
    const forget = () => {
      for (const sessionId of world.sessions.keys()) faults.add({ kind: 'forget-session', sessionId })
    }
    await online(page)
    await write(page, 'hello')
    await expect.poll(() => last(page)).toBe('You said: hello')
    expect(await mark.count()).toBe(0)
    await page.locator('ai-agent-chat [aria-live="polite"]').evaluate(region => {
      const said: (string | null)[] = []
      Reflect.set(window, 'said', said)
      new MutationObserver(records => {
        for (const { addedNodes } of records) for (const node of addedNodes) said.push(node.textContent)
      }).observe(region, { childList: true })
    })
    forget()
    faults.add({ kind: 'drop' })
    await mark.waitFor()
    expect(await mark.allTextContents()).toEqual([
      'A new conversation begins. The assistant no longer knows what is above.',
    ])
    await write(page, 'again')
    await expect.poll(() => last(page)).toBe('You said: again')
    expect(await mark.evaluate(node => node.previousElementSibling?.textContent)).toContain('You said: hello')
    expect(await page.getByText('may not have arrived').count()).toBe(0)
    const said = await page.evaluate(() => Reflect.get(window, 'said') as string[])
    expect(said.filter(text => /no longer knows/.test(text))).toHaveLength(1)
    const address = page.url()
    await page.goto('about:blank')
    forget()
    await page.goto(address)
    await online(page)
    await mark.waitFor()
    expect(await mark.allTextContents()).toEqual(['Your earlier conversation has expired.'])
    await page.getByText('How can we help?').waitFor()
    await write(page, 'afresh')
    await expect.poll(() => bubbles(page)).toEqual(['afresh', 'You said: afresh'])
    expect(await mark.count()).toBe(1)
  })

  it('[EL-116] starts a new conversation below the present one, which stays to read until the page is left', async () => {
    stage = await stages.open({
      reply: ({ text }) => ({ content: `You said: ${text}\n\n${'More of it. '.repeat(80)}` }),
    })
    const { page, complaints } = await stage.open(CHAT.replace('>', ' show-copy>'))
    const mark = page.locator('ai-agent-chat [part="session-mark"]')
    const menu = page.getByRole('button', { name: 'More', exact: true })
    const restart = page.getByRole('button', { name: 'New conversation' })
    const begin = async () => {
      await menu.click()
      await restart.click()
      await restart.click()
    }
    await online(page)
    await write(page, 'hello')
    await expect.poll(() => last(page)).toContain('You said: hello')
    const sessions = () => [...stage.service.emulator.world.sessions.keys()]
    const said = await page.locator('ai-agent-chat [aria-live="polite"]').evaluateHandle(region => {
      const texts: (string | null)[] = []
      new MutationObserver(records => {
        for (const { addedNodes } of records) for (const node of addedNodes) texts.push(node.textContent)
      }).observe(region, { childList: true })
      return texts
    })
    await begin()
    await mark.waitFor()
    await expect.poll(() => sessions().length).toBe(2)
    await online(page)
    const text = 'A new conversation begins. The assistant no longer knows what is above.'
    expect(await mark.allTextContents()).toEqual([text])
    await expect.poll(async () => (await said.jsonValue()).filter(each => each === text).length).toBe(1)
    // The user sees it, and what was there can be read, and no longer be rated.
    await expect.poll(() => mark.evaluate(node => node.getBoundingClientRect().bottom <= innerHeight)).toBe(true)
    expect((await bubbles(page))[0]).toBe('hello')
    expect(await page.getByRole('button', { name: 'Helpful', exact: true }).count()).toBe(0)
    // What the agent says first is another turn.
    stage.service.emulator.control.say(sessions().at(-1) ?? '', { content: 'Good day.' })
    await expect.poll(() => last(page)).toBe('Good day.')
    expect(await page.getByRole('button', { name: 'Copy answer' }).count()).toBe(2)
    expect(await mark.evaluate(node => node.nextElementSibling?.textContent)).toContain('Good day.')
    await write(page, 'again')
    await expect.poll(() => last(page)).toContain('You said: again')
    await begin()
    await expect.poll(() => sessions().length).toBe(3)
    await expect
      .poll(() => mark.evaluate(node => node.previousElementSibling?.textContent))
      .toContain('You said: again')
    expect(await mark.count()).toBe(1)
    await page.reload()
    await online(page)
    await page.getByText('How can we help?').waitFor()
    expect(await mark.count()).toBe(0)
    expect(complaints).toEqual([])
  })

  it('[EL-62] leaves the text field, its text and the focus where they are when the conversation ends', async () => {
    stage = await stages.open()
    const { page } = await stage.open(CHAT)
    await online(page)
    await write(page, 'hello')
    await expect.poll(() => last(page)).toBe('You said: hello')
    const field = page.getByRole('textbox')
    await field.pressSequentially('I was just going to you')
    for (let step = 0; step < 3; step++) await page.keyboard.press('ArrowLeft')
    stage.service.emulator.faults.add({ kind: 'drop', code: 1000 })
    const panel = page.locator('ai-agent-chat .ended')
    await panel.waitFor()
    await page.keyboard.type('tell ')
    expect(await field.inputValue()).toBe('I was just going to tell you')
    const hint = page.locator('ai-agent-chat .composer-hint')
    expect(await hint.isVisible()).toBe(false)
    await page.keyboard.press('Enter')
    // The text is not sent, and the user learns why.
    expect(await hint.textContent()).toBe('This conversation has ended.')
    expect(await field.inputValue()).toBe('I was just going to tell you')
    expect(await page.getByRole('button', { name: 'Send' }).getAttribute('aria-disabled')).toBe('true')
    expect(await bubbles(page)).toHaveLength(2)
    expect(received(stage.service).texts).toEqual(['hello'])
    const top = (name: string) =>
      page.locator(`ai-agent-chat ${name}`).evaluate(node => node.getBoundingClientRect().top)
    expect(await top('.ended')).toBeLessThan(await top('textarea'))
    expect(await panel.getByRole('button').allTextContents()).toEqual(['Continue', 'New conversation'])
    // A double click does not answer the question.
    await panel.getByRole('button', { name: 'New conversation' }).dblclick()
    await panel.getByText('until you leave this page.').waitFor()
    expect(await bubbles(page)).toHaveLength(2)
    await panel.getByRole('button', { name: 'Cancel' }).click()
    await panel.getByRole('button', { name: 'Continue' }).click()
    await online(page)
    expect(await panel.count()).toBe(0)
    await page.keyboard.press('Enter')
    await expect.poll(() => last(page)).toBe('You said: I was just going to tell you')
    expect(await hint.isVisible()).toBe(false)
    expect(await field.inputValue()).toBe('')
  })

  it('[EL-01] marks masked text, and shows where unread messages begin', async () => {
    stage = await stages.open()
    const { page } = await stage.open(CHAT.replace('help', 'billing'), { prepare: reportNoHiding })
    await online(page)
    await write(page, 'card 4111 1111 1111 1111 ok')
    await expect.poll(() => last(page)).toBe('You said: card ***************1111 ok')
    expect(await page.locator('ai-agent-chat .masked').textContent()).toBe(
      '***************1111 (Hidden to protect your data)',
    )
    expect(JSON.stringify(await page.locator('body').innerHTML())).not.toContain('4111 1111')
    const counts: unknown[] = []
    await page.exposeFunction('counted', (count: number) => counts.push(count))
    await page.evaluate(() => {
      const chat = document.querySelector('ai-agent-chat') as HTMLElement
      chat.addEventListener('aiagent-unread', event => Object(globalThis).counted((event as CustomEvent).detail.count))
      chat.style.display = 'none'
    })
    const [session = ''] = stage.service.emulator.world.sessions.keys()
    stage.service.emulator.control.say(session, { content: 'First news' })
    stage.service.emulator.control.say(session, { content: 'Second news' })
    await expect.poll(() => counts.at(-1)).toBe(2)
    await page.evaluate(() => ((document.querySelector('ai-agent-chat') as HTMLElement).style.display = ''))
    await expect.poll(() => counts.at(-1)).toBe(0)
    const divider = page.locator('ai-agent-chat .divider.unread + .row .bubble')
    expect(await divider.textContent()).toBe('First news')
    // With its author, although the one before it is of the agent too.
    expect(await page.locator('ai-agent-chat .divider.unread + .row .by').count()).toBe(1)
    await write(page, 'thanks')
    await expect.poll(() => divider.count()).toBe(0)
  })

  it('[EL-01] [EL-19] signs the user in by a popup after a click, also where a login cannot be renewed, and lets the user choose portal and profile', async () => {
    stage = await stages.open()
    const { page } = await stage.open(
      `<ai-agent-chat endpoint="ENDPOINT" agent-id="account"></ai-agent-chat>
<script>document.querySelector('ai-agent-chat').config = { auth: { type: 'pkce', config: { ...PKCE, authScheme: 'popup' } } }</script>`,
    )
    const signIn = async () => {
      const button = page.getByRole('button', { name: 'Sign in' })
      await button.waitFor()
      expect(stages.context.pages()).toEqual([page])
      const opening = stages.context.waitForEvent('page')
      await button.click()
      const popup = await opening
      await popup.click('button[value="customer"]')
    }
    const { settings, control } = stage.service.emulator
    // The service takes no token that ends so soon, and the next page has it from the store.
    settings.tokenLifeSeconds = 200
    await signIn()
    const refused = () => control.requests().filter(({ method, status }) => method === 'POST' && status === 401)
    await expect.poll(() => refused().length).toBe(2)
    Object.assign(settings, { tokenLifeSeconds: 3600, silentRenewal: 'interaction-required' })
    await page.reload()
    await signIn()
    await online(page)
    await write(page, 'hello')
    await expect.poll(() => last(page)).toBe('You said: hello')
    await page.close()

    const accessToken = stage.service.emulator.control.issueToken({ subject: 'desk-agent' })
    const desk = await stage.open(
      `<ai-agent-chat endpoint="ENDPOINT" agent-id="desk"></ai-agent-chat>
<script>document.querySelector('ai-agent-chat').config = { auth: { type: 'pre-auth', accessToken: '${accessToken}' } }</script>`,
    )
    await desk.page.getByRole('button', { name: 'Invoices' }).click()
    await desk.page.getByText('Choose a profile').waitFor()
    await desk.page.locator('ai-agent-chat .choice').first().click()
    await online(desk.page)
    await write(desk.page, 'chosen')
    await expect.poll(() => last(desk.page)).toBe('You said: chosen')
  })
})
