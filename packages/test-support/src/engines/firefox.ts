import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { WebSocket } from 'ws'
import type { EngineDriver } from './engine.ts'
import { clickOn, keysOf } from './input-actions.ts'
import { createProfile, StartedProgram } from './started-program.ts'

type Fields = Readonly<Record<string, unknown>>

/** Fields of the answers that are read. */
interface Answer {
  readonly capabilities: { readonly browserVersion: string }
  readonly context: string
  readonly contexts: readonly { readonly context: string }[]
  readonly data: string
  readonly type: 'success' | 'exception'
  readonly result: { readonly value: string; readonly sharedId: string }
  readonly exceptionDetails: { readonly text: string }
}

/** The path of an installed Firefox: `FIREFOX_PATH`, else the usual places. */
export const findFirefox = (): string | undefined =>
  [process.env['FIREFOX_PATH'] ?? '', '/usr/bin/firefox-esr', '/usr/bin/firefox'].find(existsSync)

/**
 * Starts a headless Firefox and drives it over WebDriver BiDi, which it serves itself.
 *
 * No client library: that of playwright-core 1.65 sends a command that Firefox 153 lacks, puppeteer-core brings 81 packages, and
 * selenium-webdriver needs geckodriver, which Debian lacks.
 */
export async function launchFirefox(path: string): Promise<EngineDriver> {
  const profile = await createProfile()
  const args = ['--headless', '--no-remote', '--profile', profile.path, '--remote-debugging-port=0', 'about:blank']
  const program = new StartedProgram(path, args)
  const quit = () => program.end().finally(profile.remove)
  try {
    const socket = new WebSocket(`${await program.printed(/BiDi listening on (ws:\S+)/)}/session`)
    await once(socket, 'open')
    const send = commandsOver(socket)
    const { capabilities } = await send('session.new', { capabilities: { alwaysMatch: { acceptInsecureCerts: true } } })
    return new FirefoxDriver(capabilities.browserVersion, send, quit)
  } catch (error) {
    await quit()
    throw error
  }
}

type Send = (method: string, params: Fields) => Promise<Answer>

/** A function that sends a command and returns its answer. */
function commandsOver(socket: WebSocket): Send {
  const pending = new Map<number, (answer: { error?: string; message?: string; result: Answer }) => void>()
  let last = 0
  socket.on('message', data => {
    const answer = JSON.parse(String(data))
    pending.get(answer.id)?.(answer)
    pending.delete(answer.id)
  })
  return async (method, params) => {
    const id = ++last
    const answered = new Promise<{ error?: string; message?: string; result: Answer }>(resolve => {
      pending.set(id, resolve)
    })
    socket.send(JSON.stringify({ id, method, params }))
    const { error, message, result } = await answered
    if (error !== undefined) throw new Error(`${method}: ${error}, ${message}`)
    return result
  }
}

class FirefoxDriver implements EngineDriver {
  readonly version: string
  readonly quit: () => Promise<void>
  readonly #send: Send

  constructor(version: string, send: Send, quit: () => Promise<void>) {
    this.version = version
    this.#send = send
    this.quit = quit
  }

  async open(): Promise<string> {
    return (await this.#send('browsingContext.create', { type: 'window' })).context
  }

  async handles(): Promise<string[]> {
    return (await this.#send('browsingContext.getTree', { maxDepth: 0 })).contexts.map(({ context }) => context)
  }

  async navigate(context: string, url: string): Promise<void> {
    await this.#send('browsingContext.navigate', { context, url, wait: 'complete' })
  }

  async reload(context: string): Promise<void> {
    await this.#send('browsingContext.reload', { context, wait: 'complete' })
  }

  async evaluate(context: string, expression: string): Promise<string> {
    return (await this.#evaluate(context, expression)).value
  }

  async click(context: string, element: string): Promise<void> {
    const { sharedId } = await this.#evaluate(context, element)
    await this.#perform(context, clickOn({ type: 'element', element: { sharedId } }))
  }

  async type(context: string, _element: string, text: string): Promise<void> {
    await this.#perform(context, keysOf(text))
  }

  async screenshot(context: string): Promise<Buffer> {
    return Buffer.from((await this.#send('browsingContext.captureScreenshot', { context })).data, 'base64')
  }

  async closePage(context: string): Promise<void> {
    await this.#send('browsingContext.close', { context })
  }

  async #evaluate(context: string, expression: string): Promise<Answer['result']> {
    const answer = await this.#send('script.evaluate', { expression, target: { context }, awaitPromise: true })
    if (answer.type === 'exception') throw new Error(answer.exceptionDetails.text)
    return answer.result
  }

  async #perform(context: string, actions: Fields): Promise<void> {
    await this.#send('input.performActions', { context, actions: [actions] })
  }
}
