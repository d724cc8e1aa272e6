import { fileURLToPath } from 'node:url'
import { type EmulatorServer, serveEmulator } from '@aiagent/emulator/node'
import { CHAT_QUERY } from '@aiagent/protocol'
import {
  bundleForPage,
  type LaunchedChromium,
  launchChromium,
  type PageServer,
  servePages,
} from '@aiagent/test-support/chromium'
import type { CDPSession, Page } from 'playwright-core'
import type { Random } from '../schedule/random.ts'

/** What is done to the tab that leads. */
export const ENDS = ['close', 'reload', 'crash', 'freeze'] as const

export type End = (typeof ENDS)[number]

const TABS = 5

/** How long a message may take until the service has it, in milliseconds: a loaded machine is slow. */
const LIMIT_MS = 30_000

/** One tab. */
interface Tab {
  readonly page: Page
  devtools: CDPSession | undefined
}

/** A frame with the socket that it was written to. */
interface Written {
  readonly content: string
  /** The fencing number of the socket. */
  readonly fence: number
}

/** What came of one run. */
export interface TabRunResult {
  readonly end: End
  readonly messages: number
  /** From the end of the leader until the service has all messages, in milliseconds. */
  readonly arrivedMs: number
  readonly violations: readonly string[]
  /** Whether the tabs cannot go on. */
  readonly isOver: boolean
}

/** The browser has failed, and not the library in it. */
const BROWSER_FAILURE = /has been closed|has been disconnected|Target crashed|Page crashed|Session closed/

/** Five tabs of one browser against the emulated service. The leader is ended again and again, in the middle of a send. */
export class BrowserTabs {
  readonly #chromium: LaunchedChromium
  readonly #service: EmulatorServer
  readonly #pages: PageServer
  #tabs: Tab[] = []
  #written: Written[] = []
  #texts = 0
  /** Is called after each frame of the service. */
  #onFrame = () => {}

  private constructor(chromium: LaunchedChromium, service: EmulatorServer, pages: PageServer) {
    this.#chromium = chromium
    this.#service = service
    this.#pages = pages
  }

  static async launch(): Promise<BrowserTabs> {
    const bundle = await bundleForPage(
      `import ${JSON.stringify(fileURLToPath(new URL('./page.ts', import.meta.url)))}`,
      import.meta.url,
    )
    const chromium = await launchChromium()
    const settings = { capabilities: ['receipts', 'resume', 'fencing'] as const, heartbeatBeforeReply: false }
    const service = await serveEmulator({ settings, reply: ({ text }) => ({ content: `You said: ${text}` }) })
    const pages = await servePages({
      '/': '<!doctype html><title>Tab</title><script src="/tab.js"></script>',
      '/tab.js': bundle,
    })
    const tabs = new BrowserTabs(chromium, service, pages)
    for (let tab = 0; tab < TABS; tab++) await tabs.#open()
    return tabs
  }

  async close(): Promise<void> {
    await this.#chromium.close()
    await Promise.all([this.#service.close(), this.#pages.close()])
  }

  /**
   * Ends the leader while tabs send, and checks what the service has.
   *
   * @throws {Error} when the browser has failed
   */
  async run(random: Random): Promise<TabRunResult> {
    const end = random.pick(ENDS)
    try {
      return await this.#run(random, end)
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error)
      if (BROWSER_FAILURE.test(problem)) throw error
      return { end, messages: 0, arrivedMs: 0, violations: [problem], isOver: true }
    }
  }

  async #run(random: Random, end: End): Promise<TabRunResult> {
    const leader = await this.#leader()
    const before = this.#acceptedCount()
    this.#written = []
    const texts: string[] = []
    const send = async ({ page }: Tab) => {
      const own = Array.from({ length: random.integer(1, 4) }, () => `message ${++this.#texts}`)
      texts.push(...own)
      await page.evaluate(list => tab.send(list), own)
    }
    // A frozen page answers nobody, so that each tab sends before or after the end of the leader.
    const early = this.#tabs.filter(tab => tab === leader || random.chance(0.5))
    const late = this.#tabs.filter(tab => tab !== leader && random.chance(0.5))
    await Promise.all(early.map(send))
    const endedAt = performance.now()
    await this.#end(leader, end)
    await Promise.all(late.map(send))
    const violations = await this.#check(texts, before)
    const arrivedMs = performance.now() - endedAt
    await this.#restore(leader, end)
    violations.push(...(await this.#checkTabs(texts)))
    return { end, messages: texts.length, arrivedMs, violations, isOver: violations.length > 0 }
  }

  async #open(): Promise<Tab> {
    const page = await this.#chromium.newPage()
    page.on('websocket', socket => {
      const fence = Number(new URL(socket.url()).searchParams.get(CHAT_QUERY.FENCE))
      socket.on('framesent', ({ payload }) => {
        const { content } = JSON.parse(String(payload)) as { content?: string }
        if (content !== undefined) this.#written.push({ content, fence })
      })
      socket.on('framereceived', () => this.#onFrame())
    })
    const tab: Tab = { page, devtools: undefined }
    await page.goto(this.#pages.url)
    await this.#start(tab)
    this.#tabs.push(tab)
    return tab
  }

  async #start({ page }: Tab): Promise<void> {
    const config = {
      id: 'help',
      endpoint: this.#service.url,
      tabs: 'share' as const,
      resume: true,
      autoConnect: true,
      baseReconnectDelay: 50,
      enableLogging: false,
    }
    await page.evaluate(given => tab.start(given), config)
    await page.waitForFunction(() => tab.isConnected(), undefined, { polling: 20, timeout: LIMIT_MS })
  }

  async #leader(): Promise<Tab> {
    // The tab whose lock has the name of the group.
    const deadline = Date.now() + LIMIT_MS
    while (Date.now() < deadline) {
      for (const tab of this.#tabs) {
        const isLeader = await tab.page.evaluate(async () => {
          const { held = [] } = await navigator.locks.query()
          const group = held.find(
            ({ name = '' }) => /^aiagent-tabs-/.test(name) && !/-(?:tab-|page-|question)/.test(name),
          )
          const own = await new Promise<string | undefined>(resolve => {
            const name = `probe-${Math.random()}`
            void navigator.locks.request(name, async () => {
              const { held: now = [] } = await navigator.locks.query()
              resolve(now.find(each => each.name === name)?.clientId)
            })
          })
          return group !== undefined && group.clientId === own
        })
        if (isLeader) return tab
      }
    }
    throw new Error('No tab leads.')
  }

  async #end(tab: Tab, end: End): Promise<void> {
    const { page } = tab
    if (end === 'close') await page.close()
    else if (end === 'reload') await page.reload()
    else if (end === 'crash') {
      const crashed = page.waitForEvent('crash')
      page.goto('chrome://crash').catch(() => {})
      await crashed
    } else {
      tab.devtools ??= await this.#chromium.context.newCDPSession(page)
      // Stops all code of the page at its next statement, also while it is visible.
      const { devtools } = tab
      const paused = new Promise<void>(resolve => devtools.once('Debugger.paused', () => resolve()))
      await devtools.send('Debugger.enable')
      await devtools.send('Debugger.pause')
      // A page to which nothing happens reaches no statement. This one returns when the page goes on.
      page.evaluate(() => 0).catch(() => {})
      await paused
    }
  }

  async #restore(tab: Tab, end: End): Promise<void> {
    if (end === 'freeze') {
      // Lets the page go on.
      await tab.devtools?.send('Debugger.disable')
      return
    }
    if (end === 'reload') return this.#start(tab)
    this.#tabs = this.#tabs.filter(each => each !== tab)
    if (end === 'crash') await tab.page.close()
    await this.#open()
  }

  #sessions() {
    return [...this.#service.emulator.world.sessions.values()]
  }

  #accepted(): string[] {
    return this.#sessions().flatMap(({ accepted }) =>
      accepted.entries().flatMap(({ message, duplicate }) => (duplicate ? [] : [String(message.content)])),
    )
  }

  #acceptedCount(): number {
    return this.#accepted().length
  }

  /** Waits until the service has all texts, then looks at what it has. */
  async #check(texts: readonly string[], before: number): Promise<string[]> {
    const missing = () => {
      const accepted = new Set(this.#accepted().slice(before))
      return texts.filter(text => !accepted.has(text))
    }
    // The receipt of each message is a frame.
    await new Promise<void>(resolve => {
      const timer = setTimeout(resolve, LIMIT_MS)
      this.#onFrame = () => {
        if (missing().length > 0) return
        clearTimeout(timer)
        resolve()
      }
      this.#onFrame()
    })
    this.#onFrame = () => {}
    const violations = missing().map(text => `${text} was lost`)
    const accepted = this.#accepted().slice(before)
    for (const text of new Set(accepted)) {
      const times = accepted.filter(each => each === text).length
      if (times > 1) violations.push(`${text} was accepted ${times} times`)
    }
    // What was written to one socket only shows which socket the service listened to.
    let last = 0
    for (const text of accepted) {
      const fences = new Set(this.#written.filter(({ content }) => content === text).map(({ fence }) => fence))
      const [fence = last] = fences
      if (fences.size === 1 && fence < last)
        violations.push(`${text} was accepted from socket ${fence} after socket ${last}`)
      if (fences.size === 1) last = fence
    }
    if (this.#sessions().length > 1) violations.push(`${this.#sessions().length} sessions were created`)
    return violations
  }

  /** At the end each tab is connected and shows each message once. */
  async #checkTabs(texts: readonly string[]): Promise<string[]> {
    const violations: string[] = []
    for (const [index, { page }] of this.#tabs.entries()) {
      const isConnected = await page
        .waitForFunction(() => tab.isConnected(), undefined, { polling: 20, timeout: LIMIT_MS })
        .then(
          () => true,
          () => false,
        )
      if (!isConnected) violations.push(`tab ${index} is not connected at the end`)
      // A tab that was frozen is told what it has missed.
      const missing = (list: readonly string[]) => list.filter(text => !tab.sent().includes(text))
      await page
        .waitForFunction(list => list.every(text => tab.sent().includes(text)), texts, {
          polling: 20,
          timeout: LIMIT_MS,
        })
        .catch(async () => {
          violations.push(`tab ${index} does not show ${(await page.evaluate(missing, texts)).join(', ')}`)
        })
      const sent = await page.evaluate(() => tab.sent())
      const twice = sent.filter((text, position) => text !== '' && sent.indexOf(text) !== position)
      if (twice.length > 0) violations.push(`tab ${index} shows ${twice.join(', ')} twice`)
    }
    return violations
  }
}
