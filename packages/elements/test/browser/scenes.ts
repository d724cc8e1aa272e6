import type { EmulatorOptions, Reply } from '@aiagent/emulator'
import type { Page } from 'playwright-core'
import type { AiAgentChatElement } from '../../src/chat-element.ts'
import { CHAT_FILES, type ChatPage, type ChatStage, ELEMENT_FILE, write } from './chat-page.ts'

/** A state of the chat, as a user may see it: for pictures, and for tests that look at every state. */
export interface Scene {
  readonly name: string
  readonly width?: number
  readonly height?: number
  readonly isDark?: boolean
  /** Attributes of the element, beside the endpoint. */
  readonly attributes?: string
  /** Body of the page, in place of one chat that fills it. */
  readonly body?: string
  readonly emulator?: EmulatorOptions
  /** Search part of the address of the page. */
  readonly search?: string
  /** Prepares the page before it is loaded. */
  prepare?(page: Page): Promise<unknown>
  /** Brings the page into the state. */
  act?(opened: ChatPage, stage: ChatStage): Promise<unknown>
}

const RESET = `You can reset the router in two ways:

1. Press the **Reset** button on the back for *ten seconds*, until the light turns orange.
2. Or open [the settings](https://help.router-shop.example/settings) and choose \`System > Restart\`.

Your Wi-Fi name and password go back to those on the label.`

const TABLE = `Here is what each light says:

| Light | Meaning | What to do | Replacement |
|---|---|---|--:|
| Green | Everything works | Nothing | |
| Orange | Connecting to the network | Wait for a minute | |
| Red | No signal | Check the cable between the router and the wall | 99.00 € |

\`\`\`sh
ping 192.168.1.1
curl --head https://help.router-shop.example/lights/red?model=ac-1900
\`\`\`

> Still red after five minutes? Then the line itself may be faulty.`

/** A question about the reset in languages, and its answer. */
const TRANSLATED: Readonly<Record<string, readonly [question: string, answer: string]>> = {
  ar: [
    'كيف أعيد ضبط الموجّه؟',
    'يمكنك إعادة ضبط الموجّه بالضغط على زر **Reset** لمدة عشر ثوانٍ حتى يتحول الضوء إلى البرتقالي.',
  ],
  de: [
    'Wie setze ich den Router zurück?',
    'Drücken Sie zehn Sekunden lang die Taste **Reset**, bis das Licht orange wird.',
  ],
  ru: [
    'Как сбросить роутер?',
    'Нажмите кнопку **Reset** и держите её десять секунд, пока индикатор не станет оранжевым.',
  ],
}

/** The agent of the scenes. */
const reply: Reply = ({ text, escalation }) => {
  if (/reset/i.test(text))
    return [
      {
        content: RESET,
        messageData: {
          sources: [
            { title: 'How to reset your router', url: 'https://help.router-shop.example/reset' },
            { title: 'All lights explained', url: 'https://help.router-shop.example/lights' },
          ],
        },
      },
      {
        content: 'Would you like to know more?',
        role: 'follow up question agent',
        messageData: { options: ['What do the lights mean?', 'Change my Wi-Fi password', 'Talk to a person'] },
      },
    ]
  if (/light/i.test(text)) return { content: TABLE }
  if (/person/i.test(text))
    return {
      content: 'Of course. A colleague takes over in a moment.',
      messageData: { escalation: true, escalationData: { live: true, ...escalation } },
    }
  if (/call/i.test(text))
    return {
      content: 'Our team can be reached from 8 am to 8 pm.',
      messageData: {
        escalation: true,
        escalationData: {
          live: false,
          phone: true,
          phoneNumber: '+1 555 010 7788',
          sms: true,
          smsNumber: '+1 555 010 7799',
        },
      },
    }
  const [, content = `You said: ${text}`] = Object.values(TRANSLATED).find(([question]) => question === text) ?? []
  return { content }
}

/** A chat that fills the page. */
const FULL = '<style>ai-agent-chat{block-size:100vh}ai-agent-chat::part(frame){border:0;border-radius:0}</style>'

/** The chat with a desk, which the page plays: `desk.say(text)`, `desk.type()`. */
export const WITH_DESK = `${FULL}<ai-agent-chat endpoint="ENDPOINT" agent-id="help"></ai-agent-chat>
<script>
const desk = globalThis.desk = { heard: [], opened: [], conversations: [], queue: [], wake() {}, say(text) { this.typing = false; this.queue.push(text); this.wake() },
  type() { this.name = 'Support'; this.typing = true; this.queue.push({}); this.wake() } }
addEventListener('aiagent-ready', event => { desk.agent = event.detail.agent })
document.querySelector('ai-agent-chat').escalate = (escalation, { handle, signal, conversation }) => {
  desk.opened.push(handle ?? 'new')
  desk.conversations.push(conversation)
  async function* messages() {
    for (;;) {
      while (desk.queue.length) yield desk.queue.shift()
      await new Promise(resolve => { desk.wake = resolve; signal.addEventListener('abort', resolve) })
      if (signal.aborted) return
    }
  }
  return {
    send: text => void desk.heard.push(text), messages: messages(), ended: new Promise(() => {}), end() {}, handle: 'chat-1',
    get name() { return desk.name }, get typing() { return desk.typing },
  }
}
</script>`
const LAUNCHER = '<ai-agent-launcher endpoint="ENDPOINT" agent-id="help"></ai-agent-launcher>'
/** The launcher on a page of a shop. */
const SHOP = {
  width: 1100,
  height: 820,
  body: `<style>body{font:16px system-ui;color:#23304a;background:#eef3fb;min-height:100vh}main{max-width:40rem;padding:4rem}
h1{font-size:2.6rem;line-height:1.15;margin:0 0 1rem}p{line-height:1.6}</style><main><h1>Routers that simply work</h1>
<p>Free returns for 60 days, and help whenever you need it.</p></main>${LAUNCHER}`,
}
const LOGO = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 38 38"><path fill="#0b6e4f" d="M0 0h38v38H0z"/><path fill="#fff" d="M10 24h18v5H10zM18 9h2v15h-2z"/></svg>',
)}`
const LIGHTS =
  '<svg xmlns="http://www.w3.org/2000/svg" width="480" height="120"><path d="M0 0h480v120H0z"/><circle cx="90" cy="60" r="24" fill="lime"/><circle cx="240" cy="60" r="24" fill="orange"/></svg>'
const SIZE = { width: 420, height: 720 }
const lastRow = (page: Page, text: string | RegExp) =>
  page.locator('ai-agent-chat .bubble').getByText(text).last().waitFor()

async function ask(page: Page, text: string, answer: string | RegExp): Promise<void> {
  await write(page, text)
  await lastRow(page, answer)
}

const online = (page: Page) => page.getByText('Online').waitFor()

async function talk({ page }: ChatPage): Promise<void> {
  await online(page)
  await ask(page, 'How do I reset my router?', 'Would you like to know more?')
}

/** A conversation that goes on while its launcher is closed. */
async function beTeased(opened: ChatPage, { service }: ChatStage): Promise<void> {
  const { page } = opened
  await page.getByRole('button', { name: 'Chat' }).click()
  await talk(opened)
  await page.keyboard.press('Escape')
  const [session = ''] = service.emulator.world.sessions.keys()
  service.emulator.control.say(session, {
    content: 'Your **new router** is on its way, and arrives tomorrow before noon.',
  })
  await page.locator('ai-agent-launcher .teaser').waitFor()
}

/** A question and its answer, between texts of a language. */
export function inLanguage(lang: string): Pick<Scene, 'attributes' | 'act'> {
  const [question, answer] = TRANSLATED[lang] ?? ['Reset', 'Would you like to know more?']
  return {
    attributes: `agent-id="help" lang="${lang}"`,
    async act({ page }) {
      await page.getByRole('textbox').fill(question)
      await page.keyboard.press('Enter')
      await lastRow(page, answer.slice(0, 10))
    },
  }
}

/** Brings a signed-in desk agent to the choice of a portal. */
async function openDesk({ page }: ChatPage, stage: ChatStage, initParams = {}): Promise<void> {
  const token = stage.service.emulator.control.issueToken({ subject: 'desk-agent' })
  await page.evaluate(
    ([accessToken, initParams]) => {
      const chat = document.querySelector('ai-agent-chat')
      if (chat) chat.config = { auth: { type: 'pre-auth', accessToken }, initParams }
    },
    [token, initParams] as const,
  )
  await page.getByRole('button', { name: 'Support' }).waitFor()
}

export const SCENES: readonly Scene[] = [
  { name: 'empty', act: ({ page }) => online(page) },
  {
    name: 'suggestions',
    async act({ page }) {
      await page.evaluate(() =>
        Object.assign(document.querySelector('ai-agent-chat') ?? {}, {
          suggestions: ['How do I reset my router?', 'What do the lights mean?', 'Talk to a person'],
        }),
      )
      await page.getByRole('button', { name: 'Talk to a person' }).waitFor()
      await online(page)
    },
  },
  { name: 'conversation', act: talk },
  { name: 'dark', isDark: true, act: talk },
  {
    name: 'answered',
    height: 860,
    async act(opened) {
      await talk(opened)
      const { page } = opened
      await page.getByRole('button', { name: 'What do the lights mean?' }).click()
      await lastRow(page, 'Still red')
      await page.getByRole('button', { name: 'Helpful', exact: true }).last().click()
      await page.locator('ai-agent-chat [aria-pressed=true]').waitFor()
    },
  },
  {
    name: 'rated-badly',
    attributes: 'agent-id="help" support-email="help@router-shop.example"',
    async act(opened) {
      await talk(opened)
      await opened.page.getByRole('button', { name: 'Not helpful' }).click()
      await opened.page.getByRole('button', { name: 'I would like to talk to a person.' }).waitFor()
    },
  },
  {
    name: 'copied',
    height: 860,
    attributes: 'agent-id="help" show-copy',
    async act(opened) {
      const { page } = opened
      await page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: { writeText: async () => {} } })")
      await talk(opened)
      await ask(page, 'What do the lights mean?', 'Still red')
      await page.getByRole('button', { name: 'Copy code' }).click()
      await page.getByText('Copied').last().waitFor()
    },
  },
  {
    name: 'not-copied',
    attributes: 'agent-id="help" show-copy lang="ar"',
    async act({ page }) {
      await page.evaluate(() => Object.defineProperty(navigator, 'clipboard', { value: undefined }))
      await page.getByRole('textbox').fill('light')
      await page.keyboard.press('Enter')
      await lastRow(page, 'Still red')
      await page.locator('ai-agent-chat .rating [part=copy]').click()
      await page.locator('ai-agent-chat .copy .trouble').waitFor()
    },
  },
  {
    name: 'illustrated',
    height: 860,
    attributes: 'agent-id="help" show-reasoning image-origins="ORIGIN"',
    async act({ page }, stage) {
      stage.serve('/lights.svg', LIGHTS, { 'content-type': 'image/svg+xml' })
      await online(page)
      const [session = ''] = stage.service.emulator.world.sessions.keys()
      stage.service.emulator.control.say(session, {
        content: `![The lights](${stage.origin}/lights.svg)\n\n- [x] Plug in the cable\n- [ ] Wait for a minute`,
        messageData: { reasoning: 'The question is about **the lights**.' },
      })
      await page.getByText('How I got here').click()
      await page.getByText('The question is about').waitFor()
      await page.getByRole('img', { name: 'The lights' }).evaluate(image => (image as HTMLImageElement).decode())
    },
  },
  {
    name: 'working',
    emulator: { settings: { replyDelayMs: 60_000 } },
    async act({ page }) {
      await online(page)
      await write(page, 'How do I reset my router?')
      await page.locator('ai-agent-chat .working').waitFor()
    },
  },
  {
    name: 'escalation',
    async act({ page }) {
      await online(page)
      await ask(page, 'Can I call you?', 'Our team')
      await ask(page, 'I want to talk to a person', 'A colleague')
    },
  },
  {
    name: 'colleague',
    body: WITH_DESK,
    async act({ page }) {
      await online(page)
      await ask(page, 'I want to talk to a person', 'A colleague')
      await page.getByText('Waiting for a colleague').first().waitFor()
      await page.evaluate("desk.say('Good day, this is Support.')")
      await ask(page, 'My router is broken', 'My router')
      await page.evaluate('desk.type()')
      await page.locator('ai-agent-chat .colleague .working').waitFor()
    },
  },
  {
    name: 'colleague-waiting',
    body: WITH_DESK,
    async act({ page }) {
      await online(page)
      await ask(page, 'I want to talk to a person', 'A colleague')
      await page.getByText('Waiting for a colleague').first().waitFor()
      await page.evaluate("desk.heard.push = () => { throw new Error('cut') }")
      await ask(page, 'My router is broken', 'My router')
      await page.getByText('may not have arrived').first().waitFor()
    },
  },
  {
    name: 'colleague-left',
    body: WITH_DESK,
    async act({ page }) {
      await online(page)
      await ask(page, 'I want to talk to a person', 'A colleague')
      await page.getByRole('button', { name: 'Back to the assistant' }).click()
      await page.getByText('The chat with our team has ended').last().waitFor()
      await ask(page, 'thanks', 'You said: thanks')
    },
  },
  {
    name: 'colleague-elsewhere',
    body: WITH_DESK,
    async act({ page }) {
      await online(page)
      await ask(page, 'Hello', 'You said')
      // Another tab has the desk of this session.
      await page.evaluate(`new Promise(async held => {
        const bytes = new TextEncoder().encode(desk.agent.getSessionId())
        const hash = [...new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))]
        const name = 'aiagent-desk-' + hash.map(byte => byte.toString(16).padStart(2, '0')).join('').slice(0, 32)
        navigator.locks.request(name, () => {
          held(name)
          return new Promise(() => {})
        })
      }).then(name => new BroadcastChannel(name).postMessage('desk'))`)
      await page.getByText('in another tab').first().waitFor()
      await page.getByRole('textbox').waitFor({ state: 'detached' })
    },
  },
  {
    name: 'offline',
    async act(opened, stage) {
      await talk(opened)
      const { page } = opened
      stage.service.emulator.faults.add({ kind: 'refuse-upgrade', status: 503 })
      stage.service.emulator.faults.add({ kind: 'drop' })
      await page.context().setOffline(true)
      await write(page, 'And how do I change the password?')
      await page.getByText('You are offline').first().waitFor()
    },
  },
  {
    name: 'taken-back',
    async act({ page }, stage) {
      await online(page)
      stage.service.emulator.faults.add({ kind: 'refuse-upgrade', status: 503 })
      stage.service.emulator.faults.add({ kind: 'drop' })
      await page.getByText('Reconnecting').first().waitFor()
      await write(page, 'Never mind.')
      await page.getByRole('button', { name: 'Take back' }).click()
      await page.getByText('Taken back').waitFor()
    },
  },
  {
    name: 'another-session',
    async act(opened, stage) {
      await talk(opened)
      const { faults, world } = stage.service.emulator
      for (const sessionId of world.sessions.keys()) faults.add({ kind: 'forget-session', sessionId })
      faults.add({ kind: 'drop' })
      await opened.page.getByText('no longer knows what is above').first().waitFor()
    },
  },
  {
    name: 'unreachable',
    attributes: 'agent-id="help" support-email="help@router-shop.example"',
    async prepare(page) {
      await page.clock.install()
      await page.route(/\/session$/, route => route.abort())
    },
    async act({ page }) {
      await page.getByText('How can we help?').waitFor()
      await page.clock.runFor(16_000)
      await page.getByRole('button', { name: 'Try now' }).waitFor()
    },
  },
  {
    name: 'reconnecting',
    async act(opened, stage) {
      await talk(opened)
      stage.service.emulator.faults.add({ kind: 'refuse-upgrade', status: 503 })
      stage.service.emulator.faults.add({ kind: 'drop' })
      await opened.page.getByRole('button', { name: 'Try now' }).waitFor()
    },
  },
  {
    name: 'login-blocked',
    body: `${FULL}<ai-agent-chat endpoint="ENDPOINT" agent-id="account" heading="Your account"></ai-agent-chat>
<script>window.open = () => null
document.querySelector('ai-agent-chat').config = { auth: { type: 'pkce', config: { ...PKCE, authScheme: 'popup' } } }</script>`,
    async act({ page }) {
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByRole('button', { name: 'Try again' }).waitFor()
    },
  },
  {
    name: 'login-window',
    body: `${FULL}<ai-agent-chat endpoint="ENDPOINT" agent-id="account" heading="Your account"></ai-agent-chat>
<script>window.open = () => ({ closed: false, location: { replace() {} }, close() {}, focus() {}, postMessage() {} })
document.querySelector('ai-agent-chat').config = { auth: { type: 'pkce', config: { ...PKCE, authScheme: 'popup' } } }</script>`,
    async act({ page }) {
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByText('window that has opened').first().waitFor()
    },
  },
  {
    name: 'login',
    body: `${FULL}<ai-agent-chat endpoint="ENDPOINT" agent-id="account" heading="Your account"></ai-agent-chat>
<script>document.querySelector('ai-agent-chat').config = { auth: { type: 'pkce', config: { ...PKCE, authScheme: 'popup' } } }</script>`,
    act: ({ page }) => page.getByRole('button', { name: 'Sign in' }).waitFor(),
  },
  {
    name: 'error',
    attributes: 'agent-id="nobody"',
    act: ({ page }) => page.getByText('The chat is not available').waitFor(),
  },
  { name: 'choosing', attributes: 'agent-id="desk"', act: openDesk },
  {
    name: 'choosing-agent',
    attributes: 'agent-id="desk"',
    async act(opened, stage) {
      await openDesk(opened, stage, { isDefaultAgent: 'true' })
      await opened.page.getByRole('button', { name: 'Support' }).click()
      await opened.page.getByRole('button', { name: 'Order Assistant' }).waitFor()
    },
  },
  {
    name: 'choosing-profile',
    attributes: 'agent-id="desk"',
    async act(opened, stage) {
      await openDesk(opened, stage)
      await opened.page.getByRole('button', { name: 'Invoices' }).click()
      await opened.page.getByText('Choose a profile').waitFor()
    },
  },
  {
    name: 'masked',
    attributes: 'agent-id="billing" heading="Billing"',
    async act({ page }) {
      await online(page)
      await ask(page, 'My card is 4111 1111 1111 1111, can you check it?', 'You said')
    },
  },
  {
    name: 'ended',
    async act(opened, stage) {
      await talk(opened)
      stage.service.emulator.faults.add({ kind: 'drop', code: 1000 })
      await opened.page.getByText('This conversation has ended.').first().waitFor()
    },
  },
  {
    name: 'consent',
    attributes: 'agent-id="help" consent="required"',
    act: ({ page }) => page.getByRole('button', { name: 'Agree and start' }).waitFor(),
  },
  { name: 'right-to-left', ...inLanguage('ar') },
  { name: 'german', ...inLanguage('de') },
  { name: 'russian', ...inLanguage('ru') },
  {
    name: 'too-long',
    async act(opened) {
      await talk(opened)
      await opened.page.getByRole('textbox').fill('Every light is red. '.repeat(3300))
      await opened.page.getByText('too long').waitFor()
    },
  },
  {
    name: 'undelivered',
    async act(opened, stage) {
      await talk(opened)
      const { page } = opened
      stage.service.emulator.faults.add({ kind: 'lose-frames', direction: 'to-service' })
      await write(page, 'And the password?')
      await page.getByText('Sent').last().waitFor()
      stage.service.emulator.faults.lift()
      stage.service.emulator.faults.add({ kind: 'drop' })
      await page.getByText('may not have arrived').first().waitFor({ timeout: 20_000 })
    },
  },
  {
    name: 'long',
    emulator: { settings: { historyLimit: 200 } },
    async act(opened, stage) {
      const { page } = opened
      await talk(opened)
      const { control, world } = stage.service.emulator
      const [session = ''] = world.sessions.keys()
      for (let index = 0; index < 60; index++) control.say(session, { content: `Message ${index} of many.` })
      await lastRow(page, 'Message 59')
      await page.getByRole('log').evaluate(list => list.scrollTo(0, 0))
      await page.locator('ai-agent-chat .to-end').waitFor()
      control.say(session, { content: 'One more thing.' })
      await page.getByText('1 new message').waitFor()
    },
  },
  {
    name: 'menu',
    async act(opened) {
      await talk(opened)
      await opened.page.getByRole('button', { name: 'More' }).click()
      await opened.page.getByRole('button', { name: 'New conversation' }).waitFor()
    },
  },
  {
    name: 'restart',
    async act(opened) {
      await talk(opened)
      await opened.page.getByRole('button', { name: 'More' }).click()
      await opened.page.getByRole('button', { name: 'New conversation' }).click()
      await opened.page.getByText('until you leave this page.').waitFor()
    },
  },
  {
    name: 'refused',
    async act(opened) {
      await talk(opened)
      await opened.page
        .locator('ai-agent-chat')
        .evaluate(chat => (chat as AiAgentChatElement).view?.send(' ').catch(() => {}))
      await opened.page.getByRole('button', { name: 'Dismiss' }).waitFor()
    },
  },
  {
    name: 'failed-to-load',
    prepare: page => page.route(CHAT_FILES, route => route.abort()),
    act: ({ page }) => page.getByText('could not be loaded').waitFor(),
  },
  {
    name: 'declined',
    attributes: 'agent-id="help" consent="required"',
    async act({ page }) {
      await page.getByRole('button', { name: 'No, thanks' }).click()
      await page.getByText('The chat stays off').waitFor()
    },
  },
  {
    name: 'launcher',
    ...SHOP,
    async act(opened) {
      await opened.page.getByRole('button', { name: 'Chat' }).click()
      await talk(opened)
    },
  },
  {
    name: 'phone',
    width: 360,
    height: 640,
    body: LAUNCHER,
    async act(opened) {
      await opened.page.getByRole('button', { name: 'Chat' }).click()
      await talk(opened)
    },
  },
  {
    name: 'launcher-opening',
    width: 390,
    height: 800,
    body: LAUNCHER.replace('agent-id', 'heading="Help desk" agent-id'),
    search: '?lazy',
    prepare: page => page.route(ELEMENT_FILE, () => {}),
    async act({ page }) {
      await page.getByRole('button', { name: 'Chat' }).click()
      await page.getByRole('button', { name: 'Close' }).waitFor()
    },
  },
  {
    name: 'launcher-failed',
    width: 390,
    height: 800,
    body: LAUNCHER,
    search: '?lazy',
    prepare: page => page.route(ELEMENT_FILE, route => route.abort()),
    async act({ page }) {
      await page.getByRole('button', { name: 'Chat' }).click()
      await page.getByText('could not be loaded').waitFor()
    },
  },
  {
    name: 'launcher-consent',
    width: 390,
    height: 800,
    body: LAUNCHER.replace('agent-id', 'consent="required" agent-id'),
    async act({ page }) {
      await page.getByRole('button', { name: 'Chat' }).click()
      await page.getByRole('button', { name: 'Agree and start' }).waitFor()
    },
  },
  {
    name: 'launcher-teaser',
    ...SHOP,
    body: SHOP.body.replace('agent-id', 'teaser agent-id'),
    act: beTeased,
  },
  {
    name: 'launcher-teaser-phone',
    width: 390,
    height: 800,
    body: LAUNCHER.replace('agent-id', 'teaser position="start" agent-id'),
    act: beTeased,
  },
  {
    name: 'launcher-start',
    ...SHOP,
    body: SHOP.body.replace(
      'agent-id',
      `position="start" heading="Router help" subtitle="From 8 am to 8 pm" avatar="${LOGO}" agent-id`,
    ),
    async act(opened) {
      await opened.page.getByRole('button', { name: 'Chat' }).click()
      await talk(opened)
    },
  },
  {
    name: 'launcher-low',
    width: 640,
    height: 256,
    body: LAUNCHER,
    async act(opened) {
      await opened.page.getByRole('button', { name: 'Chat' }).click()
      await talk(opened)
      await opened.page.getByRole('textbox').fill('One more question.\n'.repeat(6))
    },
  },
  {
    name: 'launcher-keyboard',
    width: 390,
    height: 800,
    body: LAUNCHER,
    async act(opened) {
      const { page } = opened
      await page.getByRole('button', { name: 'Chat' }).click()
      await talk(opened)
      await page.evaluate(() => {
        Object.defineProperty(visualViewport, 'height', { value: 460 })
        visualViewport?.dispatchEvent(new Event('resize'))
      })
    },
  },
  {
    name: 'error-contact',
    attributes: 'agent-id="nobody" support-email="help@router-shop.example"',
    act: ({ page }) => page.getByText('The chat is not available').waitFor(),
  },
]

/** Brings a page into the state of a scene; the window must have its size. */
export async function playScene(scene: Scene, stage: ChatStage): Promise<ChatPage> {
  const { width = SIZE.width, height = SIZE.height, attributes = 'agent-id="help"' } = scene
  const body = scene.body ?? `${FULL}<ai-agent-chat endpoint="ENDPOINT" ${attributes}></ai-agent-chat>`
  const opened = await stage.open(body, {
    search: scene.search ?? '',
    prepare: async page => {
      await page.setViewportSize({ width, height })
      await scene.prepare?.(page)
      await page.emulateMedia({ colorScheme: scene.isDark ? 'dark' : 'light' })
    },
  })
  await scene.act?.(opened, stage)
  return opened
}

/** Options of the emulator for a scene. */
export const emulatorOf = (scene: Scene): EmulatorOptions => ({ reply, ...scene.emulator })
