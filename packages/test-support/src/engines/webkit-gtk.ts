import { existsSync } from 'node:fs'
import { createServer } from 'node:net'
import type { EngineDriver } from './engine.ts'
import { clickOn, keysOf } from './input-actions.ts'
import { createProfile, StartedProgram } from './started-program.ts'

const DRIVER = '/usr/bin/WebKitWebDriver'
/** A server of a display in memory: WebKitGTK has no headless mode. */
const DISPLAY_SERVER = '/usr/bin/Xvfb'

/** The path of an installed driver of WebKitGTK, with a display server beside it. */
export const findWebKitGtk = (): string | undefined => ([DRIVER, DISPLAY_SERVER].every(existsSync) ? DRIVER : undefined)

/** Starts WebKitGTK's small browser on a separate display, and drives it over WebDriver. It is not Safari. */
export async function launchWebKitGtk(path: string): Promise<EngineDriver> {
  const profile = await createProfile()
  const screen = new StartedProgram(DISPLAY_SERVER, [
    '-displayfd',
    '1',
    '-screen',
    '0',
    '1280x1024x24',
    '-nolisten',
    'tcp',
  ])
  const programs = [screen]
  const quit = async () => {
    for (const program of programs.toReversed()) await program.end()
    await profile.remove()
  }
  try {
    const display = `:${await screen.printed(/(\d+)\s/)}`
    const port = await freePort()
    const homes = Object.fromEntries(
      ['HOME', 'XDG_CACHE_HOME', 'XDG_CONFIG_HOME', 'XDG_DATA_HOME'].map(name => [name, profile.path]),
    )
    programs.push(new StartedProgram(path, [`--port=${port}`], { DISPLAY: display, ...homes }))
    const url = `http://127.0.0.1:${port}/session`
    await untilListening(url)
    const capabilities = { alwaysMatch: { acceptInsecureCerts: true } }
    const session = (await request('POST', url, { capabilities })) as {
      sessionId: string
      capabilities: { browserVersion: string }
    }
    return new WebKitGtkDriver(session.capabilities.browserVersion, `${url}/${session.sessionId}`, quit)
  } catch (error) {
    await quit()
    throw error
  }
}

class WebKitGtkDriver implements EngineDriver {
  readonly version: string
  readonly #url: string
  readonly #quit: () => Promise<void>
  /** The last command: one page at a time is current, so that each command waits for the one before. */
  #last: Promise<unknown> = Promise.resolve()

  constructor(version: string, url: string, quit: () => Promise<void>) {
    this.version = version
    this.#url = url
    this.#quit = quit
  }

  async open(): Promise<string> {
    // The command is refused where the current page was closed.
    const [some = ''] = await this.handles()
    return this.#on(some, async () => {
      const { handle } = (await this.#post('/window/new', { type: 'window' })) as { handle: string }
      return handle
    })
  }

  handles(): Promise<string[]> {
    return this.#inTurn(() => request('GET', `${this.#url}/window/handles`) as Promise<string[]>)
  }

  async navigate(handle: string, url: string): Promise<void> {
    await this.#on(handle, () => this.#post('/url', { url }))
  }

  async reload(handle: string): Promise<void> {
    await this.#on(handle, () => this.#post('/refresh', {}))
  }

  async evaluate(handle: string, expression: string): Promise<string> {
    const script = `const done = arguments[0]
Promise.resolve().then(() => ${expression}).then(text => done({ text }), error => done({ message: String(error) }))`
    const ended = await this.#on(handle, () => this.#post('/execute/async', { script, args: [] }))
    const { text, message } = ended as { text?: string; message?: string }
    if (text === undefined) throw new Error(message)
    return text
  }

  async click(handle: string, element: string): Promise<void> {
    // The command for elements takes what is in a shadow root for covered by its host.
    await this.#on(handle, async () => this.#post('/actions', { actions: [clickOn(await this.#find(element))] }))
  }

  async type(handle: string, _element: string, text: string): Promise<void> {
    await this.#on(handle, () => this.#post('/actions', { actions: [keysOf(text)] }))
  }

  async screenshot(handle: string): Promise<Buffer> {
    return Buffer.from(String(await this.#on(handle, () => request('GET', `${this.#url}/screenshot`))), 'base64')
  }

  async closePage(handle: string): Promise<void> {
    await this.#on(handle, () => request('DELETE', `${this.#url}/window`))
  }

  async quit(): Promise<void> {
    await request('DELETE', this.#url).catch(() => {})
    await this.#quit()
  }

  #find(element: string): Promise<unknown> {
    return this.#post('/execute/sync', { script: `return ${element}`, args: [] })
  }

  #on<Result>(handle: string, command: () => Promise<Result>): Promise<Result> {
    return this.#inTurn(async () => {
      await this.#post('/window', { handle })
      return command()
    })
  }

  #inTurn<Result>(command: () => Promise<Result>): Promise<Result> {
    const ended = this.#last.then(command)
    this.#last = ended.catch(() => {})
    return ended
  }

  #post(path: string, body: object): Promise<unknown> {
    return request('POST', this.#url + path, body)
  }
}

async function request(method: string, url: string, body?: object): Promise<unknown> {
  const response = await fetch(url, { method, ...(body && { body: JSON.stringify(body) }) })
  const { value } = (await response.json()) as { value: { error: string; message: string } }
  if (!response.ok) throw new Error(`${method} ${new URL(url).pathname}: ${value.error}, ${value.message}`)
  return value
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise(resolve => server.close(resolve))
  if (address === null || typeof address === 'string') throw new Error('There is no free port.')
  return address.port
}

/** The driver prints nothing when it is ready. */
async function untilListening(url: string): Promise<void> {
  for (const end = Date.now() + 20_000; ; await new Promise(resolve => setTimeout(resolve, 50))) {
    const isListening = await fetch(url.replace('/session', '/status')).then(
      () => true,
      () => false,
    )
    if (isListening) return
    if (Date.now() > end) throw new Error('WebKitWebDriver does not listen.')
  }
}
