import type { ElementHandle, Page } from 'playwright-core'
import { type LaunchedChromium, launchChromium } from '../chromium.ts'
import type { EngineDriver } from './engine.ts'

/** Starts Chromium with the library of the other browser tests. */
export async function launchChromiumEngine(): Promise<EngineDriver> {
  const chromium = await launchChromium({ blocksPopups: true, context: { ignoreHTTPSErrors: true } })
  await chromium.newPage()
  return new ChromiumDriver(chromium)
}

class ChromiumDriver implements EngineDriver {
  readonly #chromium: LaunchedChromium
  /** Every page that was ever there; the handle is its place in the list. */
  readonly #pages: Page[] = []

  constructor(chromium: LaunchedChromium) {
    this.#chromium = chromium
  }

  get version(): string {
    return this.#chromium.context.browser()?.version() ?? ''
  }

  async open(): Promise<string> {
    return this.#handleOf(await this.#chromium.newPage())
  }

  async handles(): Promise<string[]> {
    return this.#chromium.context.pages().map(page => this.#handleOf(page))
  }

  async navigate(handle: string, url: string): Promise<void> {
    await this.#page(handle).goto(url)
  }

  async reload(handle: string): Promise<void> {
    await this.#page(handle).reload()
  }

  evaluate(handle: string, expression: string): Promise<string> {
    return this.#page(handle).evaluate(expression)
  }

  async click(handle: string, element: string): Promise<void> {
    await (await this.#find(handle, element)).click()
  }

  async type(handle: string, element: string, text: string): Promise<void> {
    await (await this.#find(handle, element)).type(text)
  }

  screenshot(handle: string): Promise<Buffer> {
    return this.#page(handle).screenshot()
  }

  closePage(handle: string): Promise<void> {
    return this.#page(handle).close()
  }

  quit(): Promise<void> {
    return this.#chromium.close()
  }

  async #find(handle: string, element: string): Promise<ElementHandle> {
    const found = (await this.#page(handle).evaluateHandle<unknown>(element)).asElement()
    if (!found) throw new Error('The element has gone.')
    return found as ElementHandle
  }

  #handleOf(page: Page): string {
    const known = this.#pages.indexOf(page)
    return String(known === -1 ? this.#pages.push(page) - 1 : known)
  }

  #page(handle: string): Page {
    const page = this.#pages[Number(handle)]
    if (!page) throw new Error(`There is no page ${handle}.`)
    return page
  }
}
