import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type LaunchedChromium, launchChromium, servePages } from '@aiagent/test-support/chromium'
import type { FrameLocator, Page } from 'playwright-core'
import { findPageFiles } from '../../../../packages/cli/src/playground/page-files.ts'

/** Below the limit of a test, so that a failure names the step. */
const STEP_LIMIT_MS = 12_000

/** A browser with what its pages requested and complained about. */
export interface Stage {
  readonly chromium: LaunchedChromium
  /** Addresses that any page has requested. */
  readonly requested: string[]
  /** Errors of pages, and violations of their policies. */
  readonly complaints: string[]
  /** Opens a page in its own window, before whose scripts another one may run. */
  open(address: string, script?: () => void): Promise<Page>
  close(): Promise<void>
}

/** The style of the frame in a document of the site. */
const SITE_STYLE = new URL('../../../../site/.vitepress/theme/style.css', import.meta.url)

/** The space that the theme of the site leaves for a document: 342 px in a window of 390 px, and 624 px in one of 1280 px. */
const SITE_LAYOUT = `
:root { --vp-c-divider: gray; }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 0 24px; max-width: 672px; }
`

const DOCUMENT = `<!doctype html>
<meta name="viewport" content="width=device-width,initial-scale=1">
<link rel="stylesheet" href="site.css">
<iframe class="playground" src="../tools/play/index.html" loading="lazy"></iframe>
`

/** Starts a browser. Its popups are blocked, as in a browser of a user. */
export async function startStage(): Promise<Stage> {
  const chromium = await launchChromium({ blocksPopups: true })
  const requested: string[] = []
  const complaints: string[] = []
  return {
    chromium,
    requested,
    complaints,
    open: async (address, script) => {
      const { context, newPage } = await chromium.newWindow()
      if (script) await context.addInitScript(script)
      context.on('request', request => requested.push(request.url()))
      context.on('console', message => {
        // The browser reports a refused upgrade itself, and the missing icon of the emulator's login page.
        const isExpected = /WebSocket connection/.test(message.text()) || message.location().url.endsWith('favicon.ico')
        if (message.type() === 'error' && !isExpected) complaints.push(message.text())
      })
      context.on('weberror', error => complaints.push(error.error().message))
      const page = await newPage()
      page.setDefaultTimeout(STEP_LIMIT_MS)
      await page.goto(address)
      return page
    },
    close: () => chromium.close(),
  }
}

/**
 * The built page on a static server that knows nothing of it, and pages that show it in a frame: a wide one, and one as in a
 * document of the site. Ends with `close()`.
 */
export async function serveStatically(headers: Readonly<Record<string, string>> = {}) {
  const files = findPageFiles()
  if (!files) throw new Error('The playground is missing.')
  await files.prepare(() => {})
  const names = readdirSync(files.folder, { recursive: true, encoding: 'utf8' }).filter(name => name.includes('.'))
  const pages = names.map(name => [`/tools/play/${name}`, readFileSync(join(files.folder, name), 'utf8')] as const)
  const frame = '<!doctype html><iframe src="../tools/play/index.html" width="1200" height="700"></iframe>'
  const documents = {
    '/docs/guide.html': frame,
    '/docs/document.html': DOCUMENT,
    '/docs/site.css': readFileSync(SITE_STYLE, 'utf8') + SITE_LAYOUT,
  }
  const server = await servePages({ ...Object.fromEntries(pages), ...documents }, headers)
  const at = (path: string) => `${server.url}/${path}`
  return {
    ...server,
    page: at('tools/play/index.html'),
    framed: at('docs/guide.html'),
    document: at('docs/document.html'),
  }
}

/** What a test does with the page, in the words of a user. */
export class Visitor {
  readonly page: Page
  readonly #view: Page | FrameLocator

  /** @param view where the playground is */
  constructor(page: Page, view: Page | FrameLocator = page) {
    this.page = page
    this.#view = view
  }

  /** Waits for the state that `explain()` names. */
  async sees(code: string): Promise<void> {
    await this.#view.locator('.status-facts').getByText(code, { exact: true }).waitFor()
  }

  /** Waits for a text in the chat. */
  async reads(text: string): Promise<void> {
    await this.#view.locator('ai-agent-chat').getByText(text).first().waitFor()
  }

  /** Shows one of the parts of a narrow page. */
  async turnsTo(part: 'Chat' | 'Inspector' | 'Faults'): Promise<void> {
    await this.#view.getByLabel('Parts of the page').getByRole('button', { name: part }).click()
  }

  async opens(scenario: string): Promise<void> {
    await this.#view.getByLabel('Scenarios').getByRole('button', { name: scenario }).click()
  }

  async says(text: string): Promise<void> {
    const field = this.#view.locator('ai-agent-chat').getByRole('textbox')
    await field.fill(text)
    await field.press('Enter')
  }

  /** Presses a button of the panel of faults. */
  async breaks(name: string): Promise<void> {
    await this.#view.getByLabel('Faults', { exact: true }).getByRole('button', { name, exact: true }).click()
  }

  /** Shows a tab of the inspector, and returns its panel. */
  async inspects(tab: string) {
    await this.#view.getByRole('tab', { name: tab }).click()
    return this.#view.locator('#panel')
  }

  /** Waits for an event in the inspector, with a part of its text. */
  async sawEvent(type: string, text = ''): Promise<void> {
    const panel = await this.inspects('Events')
    await panel.locator('.row').filter({ hasText: type }).filter({ hasText: text }).last().waitFor()
  }

  /** Pushes a frame of the list. */
  async pushes(template: string): Promise<void> {
    await this.#view.getByLabel('Frame', { exact: true }).selectOption(template)
    await this.breaks('Push')
  }

  /** Signs in where an action leads to an agent for signed-in users: the chat waits for a click on its button. */
  async signsIn(user: string, action: () => Promise<void>): Promise<void> {
    await action()
    const button = this.#view.locator('ai-agent-chat').getByRole('button', { name: 'Sign in' })
    await button.waitFor()
    const opened = this.page.context().waitForEvent('page')
    await button.click()
    const popup = await opened
    const closed = popup.waitForEvent('close')
    await popup.getByRole('button', { name: user }).first().click()
    await closed
  }
}
