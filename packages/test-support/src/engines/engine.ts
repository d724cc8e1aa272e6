/** What differs between engines: the commands of the protocol that drives one. Pages are named by the engine's own handles. */
export interface EngineDriver {
  /** The version that the engine reports. */
  readonly version: string
  /** Opens a separate window, so that no page is hidden behind another one, and returns its handle. */
  open(): Promise<string>
  /** Handles of all pages, windows that a page has opened included. */
  handles(): Promise<string[]>
  /** Ends when the document and what it loads at once are loaded. */
  navigate(handle: string, url: string): Promise<void>
  reload(handle: string): Promise<void>
  /** Evaluates an expression, waits for its promise, and returns the text that it resolves with. */
  evaluate(handle: string, expression: string): Promise<string>
  /** Clicks the centre of the element that the expression gives, as a pointer does, so that it counts as a user's gesture. */
  click(handle: string, element: string): Promise<void>
  /** Presses keys while the focus is in that element; `\n` is the Enter key. */
  type(handle: string, element: string, text: string): Promise<void>
  /** A picture of what is visible, as PNG. */
  screenshot(handle: string): Promise<Buffer>
  closePage(handle: string): Promise<void>
  /** Ends the engine's processes and removes its profile folder. */
  quit(): Promise<void>
}

/** How long a page may take until an element can be clicked or a condition holds, in milliseconds. */
const LIMIT_MS = 20_000

/** Pause between two looks at a page, in milliseconds. */
const PAUSE_MS = 50

/** A running engine. */
export class Engine {
  readonly #driver: EngineDriver
  /** The page that the engine starts with. It stays, since some engines end with their last page. */
  readonly #first: string

  private constructor(driver: EngineDriver, first: string) {
    this.#driver = driver
    this.#first = first
  }

  static async over(driver: EngineDriver): Promise<Engine> {
    const [first] = await driver.handles()
    if (first === undefined) throw new Error('The engine has no page.')
    return new Engine(driver, first)
  }

  get version(): string {
    return this.#driver.version
  }

  async newPage(): Promise<EnginePage> {
    return new EnginePage(this.#driver, await this.#driver.open())
  }

  /** Does something that opens a window, and returns the page in it. */
  async opened(act: () => Promise<void>): Promise<EnginePage> {
    const before = await this.#driver.handles()
    await act()
    const opened = async () => (await this.#driver.handles()).find(handle => !before.includes(handle))
    return new EnginePage(this.#driver, await poll('a new window', opened))
  }

  async closePages(): Promise<void> {
    for (const handle of await this.#opened()) await this.#driver.closePage(handle)
  }

  /** The number of open pages, without the one that the engine starts with. */
  async countPages(): Promise<number> {
    return (await this.#opened()).length
  }

  async #opened(): Promise<string[]> {
    return (await this.#driver.handles()).filter(handle => handle !== this.#first)
  }

  close(): Promise<void> {
    return this.#driver.quit()
  }
}

/** A page in an engine. Selectors find elements in open shadow roots too. */
export class EnginePage {
  readonly #driver: EngineDriver
  readonly #handle: string

  constructor(driver: EngineDriver, handle: string) {
    this.#driver = driver
    this.#handle = handle
  }

  goto(url: string): Promise<void> {
    return this.#driver.navigate(this.#handle, url)
  }

  reload(): Promise<void> {
    return this.#driver.reload(this.#handle)
  }

  /** Runs a function in the page. Arguments and result are copied as JSON. */
  async evaluate<Given extends unknown[], Result>(
    work: (...given: Given) => Result,
    ...given: Given
  ): Promise<Awaited<Result>> {
    const call = `(${work})(${given.map(value => JSON.stringify(value)).join(', ')})`
    const text = await this.#driver.evaluate(
      this.#handle,
      `Promise.resolve(${call}).then(result => JSON.stringify([result ?? null]))`,
    )
    return JSON.parse(text)[0]
  }

  /** Waits until a function gives a true value, also over a navigation, and returns it. */
  waitFor<Given extends unknown[], Result>(work: (...given: Given) => Result, ...given: Given): Promise<Result> {
    // A page that is being left has no answer.
    return poll(String(work), () => this.evaluate(work, ...given).catch(() => undefined)) as Promise<Result>
  }

  /** Waits until an element is visible, enabled and covered by nothing, and clicks it. */
  async click(selector: string, name?: string): Promise<void> {
    await this.#driver.click(this.#handle, await this.#reach(selector, name))
  }

  /** Types into an element; `\n` is the Enter key. */
  async type(selector: string, text: string): Promise<void> {
    const element = await this.#reach(selector)
    await this.#driver.click(this.#handle, element)
    await this.#driver.type(this.#handle, element, text)
  }

  /** Texts of all elements with a selector, in order of the document. */
  texts(selector: string): Promise<string[]> {
    return this.evaluate(textsOf, selector)
  }

  screenshot(): Promise<Buffer> {
    return this.#driver.screenshot(this.#handle)
  }

  close(): Promise<void> {
    return this.#driver.closePage(this.#handle)
  }

  async #reach(selector: string, name: string | null = null): Promise<string> {
    const element = `(${reachable})(${JSON.stringify(selector)}, ${JSON.stringify(name)})`
    const isReachable = () =>
      this.#driver.evaluate(this.#handle, `Promise.resolve(String(${element} !== null))`).then(
        text => text === 'true',
        () => false,
      )
    await poll(`${selector} ${name ?? ''}`, isReachable)
    return element
  }
}

/** Runs in the page: texts of elements, those in open shadow roots included. */
function textsOf(selector: string): string[] {
  const search = (root: ParentNode): Element[] =>
    [...root.querySelectorAll('*')].flatMap(each => [
      ...(each.matches(selector) ? [each] : []),
      ...(each.shadowRoot ? search(each.shadowRoot) : []),
    ])
  return search(document).map(({ textContent }) => textContent?.trim() ?? '')
}

/**
 * Runs in the page: the first element with a selector, and with a name as its text or label, that a pointer reaches, scrolled
 * into view.
 */
function reachable(selector: string, name: string | null): Element | null {
  const search = (root: ParentNode): Element[] =>
    [...root.querySelectorAll('*')].flatMap(each => [
      ...(each.matches(selector) ? [each] : []),
      ...(each.shadowRoot ? search(each.shadowRoot) : []),
    ])
  const isNamed = (each: Element) =>
    name === null || [each.textContent?.trim(), each.getAttribute('aria-label')].includes(name)
  const isOnTop = (each: Element) => {
    each.scrollIntoView({ block: 'nearest', inline: 'nearest', behavior: 'instant' })
    const { left, top, width, height } = each.getBoundingClientRect()
    const hit = (each.getRootNode() as Document | ShadowRoot).elementFromPoint(left + width / 2, top + height / 2)
    return width > 0 && each.contains(hit)
  }
  return search(document).find(each => isNamed(each) && !each.matches(':disabled') && isOnTop(each)) ?? null
}

async function poll<Value>(what: string, look: () => Promise<Value>): Promise<NonNullable<Value>> {
  for (
    const end = Date.now() + LIMIT_MS;
    Date.now() < end;
    await new Promise(resolve => setTimeout(resolve, PAUSE_MS))
  ) {
    const value = await look()
    if (value) return value
  }
  throw new Error(`Not within ${LIMIT_MS / 1000} s: ${what}`)
}
