import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CALLBACK_PAGE, type PKCEAuthConfig } from '@aiagent/client/pkce'
import type { EmulatorSettings } from '@aiagent/emulator'
import { type EmulatorServer, loadDevelopmentCertificate, serveEmulator } from '@aiagent/emulator/node'
import {
  bundleForPage,
  type LaunchChromiumOptions,
  type LaunchedChromium,
  launchChromium,
} from '@aiagent/test-support/chromium'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import { SETTLED_LOOKS } from '../../src/auth/login/popup-navigator.ts'
import type { LoginCall, LoginSetup, Outcome } from './page/login-host.ts'

const HOST_PAGE = `<!doctype html>
<html lang="en">
<title>Host</title>
<button id="login">Sign in</button>
<button id="token">Token</button>
<button id="refresh">Renew</button>
<button id="logout">Sign out</button>
<script src="/host.js"></script>
`

/** A Chromium that takes development certificates and blocks popups as a person's browser does. */
export const launchForLogins = (options: LaunchChromiumOptions = {}): Promise<LaunchedChromium> =>
  launchChromium({ blocksPopups: true, context: { ignoreHTTPSErrors: true }, ...options })

/** The script of the host page, bundled with the client and its login. */
export const bundleLoginHost = (): Promise<string> =>
  bundleForPage(`import { startLoginPage } from './page/login-host.ts'\nstartLoginPage()`, import.meta.url)

/** Files of a host with its own identity library, and the redirect page of that library. */
export async function msalFiles(): Promise<Readonly<Record<string, string>>> {
  const [host, callback] = await Promise.all([
    bundleForPage(`import { startMsalPage } from './page/msal-host.ts'\nstartMsalPage()`, import.meta.url),
    bundleForPage(`import { passOn } from './page/msal-callback.ts'\npassOn()`, import.meta.url),
  ])
  return {
    '/host.js': host,
    '/callback.js': callback,
    '/callback.html': '<!doctype html><title>Signing in</title><script src="/callback.js"></script>',
  }
}

let certificate: ReturnType<typeof createCertificate> | undefined

/** The certificate of all stages: creating one takes longer than starting the servers. */
export const stageCertificate = () => (certificate ??= createCertificate())

async function createCertificate() {
  const folder = await mkdtemp(join(tmpdir(), 'login-stage-'))
  return loadDevelopmentCertificate('127.0.0.1', folder).finally(() => rm(folder, { recursive: true }))
}

/** A host's page and an identity provider, on different origins over TLS. */
export class LoginStage {
  readonly service: EmulatorServer
  /** Origin of the host page. */
  readonly origin: string
  readonly #undo: () => Promise<void>

  constructor(service: EmulatorServer, origin: string, undo: () => Promise<void>) {
    this.service = service
    this.origin = origin
    this.#undo = undo
  }

  static async open(
    host: string | Readonly<Record<string, string>>,
    settings: Partial<EmulatorSettings> = {},
  ): Promise<LoginStage> {
    const { cert, key } = await stageCertificate()
    const service = await serveEmulator({
      reply: ({ text }) => ({ content: `You said: ${text}` }),
      tls: { cert, key },
      settings,
    })
    const files: Readonly<Record<string, string>> = {
      '/': HOST_PAGE,
      '/callback.html': CALLBACK_PAGE,
      ...(typeof host === 'string' ? { '/host.js': host } : host),
    }
    const pages = createServer({ cert, key }, (request, response) => {
      const { pathname } = new URL(request.url ?? '/', 'https://page')
      const type = pathname.endsWith('.js') ? 'text/javascript' : 'text/html'
      response.writeHead(files[pathname] === undefined ? 404 : 200, { 'content-type': `${type}; charset=utf-8` })
      response.end(files[pathname])
    })
    await new Promise<void>(resolve => pages.listen(0, '127.0.0.1', resolve))
    const origin = `https://127.0.0.1:${(pages.address() as AddressInfo).port}`
    return new LoginStage(service, origin, async () => {
      pages.closeAllConnections()
      await Promise.all([service.close(), new Promise(resolve => pages.close(resolve))])
    })
  }

  get settings(): EmulatorSettings {
    return this.service.emulator.settings
  }

  get authority(): string {
    return `${this.service.url}/acme/customer-sign-in`
  }

  /** The host's own login at the provider, returning to the page that the client ships. */
  config(more: Partial<PKCEAuthConfig> = {}): PKCEAuthConfig {
    return {
      clientId: 'app-ext',
      redirectUri: `${this.origin}/callback.html`,
      knownAuthorities: [new URL(this.authority).host],
      authorizationUrl: this.authority,
      scopes: ['openid', 'profile', 'offline_access', 'api://acme/core.aiservices.read'],
      authScheme: 'popup',
      ...more,
    }
  }

  /** Address of the host page. */
  address(more: Partial<PKCEAuthConfig> = {}, atOnce?: LoginCall): string {
    const setup: LoginSetup = { endpoint: this.service.url, config: this.config(more), ...(atOnce && { atOnce }) }
    return `${this.origin}/?${new URLSearchParams({ setup: JSON.stringify(setup) })}`
  }

  /** What the provider was asked, by the end of its path. */
  asked(end: string) {
    return this.service.emulator.control
      .requests()
      .filter(({ path, method }) => path.endsWith(end) && method !== 'OPTIONS')
      .map(({ query, body, path, status }) => ({
        path,
        query,
        form: Object.fromEntries(new URLSearchParams(body)),
        status,
      }))
  }

  /** The prompts that logins were asked with, in order. */
  prompts(): (string | undefined)[] {
    return this.asked('/oauth2/v2.0/authorize').map(({ query }) => query['prompt'])
  }

  /** The grants that tokens were asked with, in order. */
  grants(): (string | undefined)[] {
    return this.asked('/oauth2/v2.0/token').map(({ form }) => form['grant_type'])
  }

  close(): Promise<void> {
    return this.#undo()
  }
}

/** What a test of logins plays on. */
export interface OpenedStage {
  readonly chromium: LaunchedChromium
  readonly stage: LoginStage
}

type HostFiles = Parameters<typeof LoginStage.open>[0]

/** Opens a private window and a stage for each test of the group, in one browser, and closes both after it. */
export function onLoginStage(
  receive: (opened: OpenedStage) => void,
  loadFiles: () => Promise<HostFiles> = bundleLoginHost,
): void {
  let files: HostFiles = {}
  let browser: LaunchedChromium | undefined
  let chromium: LaunchedChromium | undefined
  let stage: LoginStage | undefined
  beforeAll(async () => {
    ;[files, browser] = await Promise.all([loadFiles(), launchForLogins()])
  })
  afterAll(() => browser?.close())
  beforeEach(async () => {
    chromium = await browser?.newWindow()
    if (!chromium) throw new Error('The browser did not start.')
    stage = await LoginStage.open(files)
    receive({ chromium, stage })
  })
  afterEach(async () => {
    await chromium?.close()
    await stage?.close()
  })
}

/** Waits for the outcome of a page's last call and takes it. */
export async function outcomeOf(page: Page, call: Outcome['call']): Promise<Outcome> {
  await page.waitForFunction(name => globalThis.loginHost?.outcomes.some(outcome => outcome.call === name), call)
  return page.evaluate(name => {
    const { outcomes } = globalThis.loginHost
    return outcomes.splice(
      outcomes.findIndex(outcome => outcome.call === name),
      1,
    )[0]
  }, call) as Promise<Outcome>
}

/** Opens a host's page and waits until it is ready. */
export async function openPage(chromium: LaunchedChromium, address: string): Promise<Page> {
  const page = await chromium.newPage()
  await page.goto(address)
  expectNoReason(await outcomeOf(page, 'start'))
  return page
}

/**
 * Opens a host's page that makes a call at once, and gives its outcome.
 *
 * Nothing is run in the page until the call has ended, since whatever a test runs there counts as a person's gesture.
 */
export async function openAtOnce(chromium: LaunchedChromium, address: string, call: LoginCall) {
  const page = await chromium.newPage()
  const ended = page.waitForEvent('console', message => message.text() === `ended: ${call}`)
  await page.goto(address)
  await ended
  return { page, outcome: await outcomeOf(page, call) }
}

/** Presses a button of the host page and returns the outcome of its call. */
export async function press(page: Page, call: 'token' | 'refresh'): Promise<Outcome> {
  await page.click(`#${call}`)
  return outcomeOf(page, call)
}

/** Presses a button of the host page and returns the window that opens. */
export async function pressForPopup(page: Page, call: LoginCall): Promise<Page> {
  const opening = page.context().waitForEvent('page')
  await page.click(`#${call}`)
  return opening
}

/** Runs {@link countLooksHere} in every page of the browser. */
export async function countLooks(chromium: LaunchedChromium): Promise<void> {
  await chromium.context.addInitScript(countLooksHere)
}

/**
 * Runs in a host's page: counts how often it looks whether a window it opened is still there, so that a test can close it after
 * it has been looked at, as a user does, who is slower than that.
 */
export function countLooksHere(): void {
  const open = window.open.bind(window)
  globalThis.looks = 0
  window.open = (...given) => {
    const opened = open(...given)
    if (!opened) return null
    const watched = {
      get closed() {
        globalThis.looks++
        return opened.closed
      },
      get location() {
        return opened.location
      },
      focus: () => opened.focus(),
      close: () => opened.close(),
    }
    return watched as Window
  }
}

/** Waits until a page has looked at its window so often that the provider's page in it counts as settled. */
export async function untilSettled(page: Page): Promise<void> {
  const before = await page.evaluate(() => looks)
  await page.waitForFunction(count => looks > count, before + SETTLED_LOOKS + 2)
}

/** Presses the button of a person on the login page. */
export async function choose(loginPage: Page, user: string): Promise<void> {
  await loginPage.click(`button[value="${user}"]`)
}

/** Signs a person in over a popup. */
export async function signInByPopup(page: Page, user = 'customer'): Promise<Outcome> {
  await choose(await pressForPopup(page, 'login'), user)
  return expectNoReason(await outcomeOf(page, 'login'))
}

export function expectNoReason(outcome: Outcome): Outcome {
  if (outcome.reason !== undefined) throw new Error(`${outcome.call} failed: ${outcome.reason}, ${outcome.message}`)
  return outcome
}

declare global {
  var looks: number
}
