import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type EmulatorServer, serveEmulator } from '@aiagent/emulator/node'
import { type LaunchedChromium, launchChromium, type PageFiles, servePages } from '@aiagent/test-support/chromium'
import type { Page } from 'playwright-core'
import { build, defaultClientConditions } from 'vite'
import { bindings, type ReactVersion } from '../bindings.ts'

/** Where `openSite()` puts the address of the service. */
const ENDPOINT = 'globalThis.ENDPOINT'

const folder = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url))

/** Files of a page as a host's bundler would make them, by their path. */
async function bundle(
  root: string,
  version: ReactVersion,
  input: string,
  isScript: boolean,
  alias: Readonly<Record<string, string>> = {},
): Promise<PageFiles> {
  const result = await build({
    root,
    configFile: !isScript && existsSync(join(root, 'vite.config.ts')) && join(root, 'vite.config.ts'),
    envFile: false,
    publicDir: false,
    logLevel: 'silent',
    mode: 'development',
    define: { 'process.env.NODE_ENV': '"development"', 'import.meta.env.VITE_ENDPOINT': ENDPOINT },
    // Of the page: what WebChat imports is in the folder above, and would take the React that is there.
    resolve: { conditions: ['@aiagent/source', ...defaultClientConditions], dedupe: ['react', 'react-dom'], alias },
    plugins: [bindings(version)],
    build: {
      write: false,
      minify: false,
      modulePreload: false,
      target: 'es2022',
      rollupOptions: { input, ...(isScript && { output: { format: 'iife', codeSplitting: false } }) },
    },
  })
  const outputs = (Array.isArray(result) ? result : [result]).flatMap(part => ('output' in part ? part.output : []))
  return Object.fromEntries(
    outputs.map(output => [
      `/${output.fileName}`,
      output.type === 'chunk' ? output.code : Buffer.from(output.source).toString(),
    ]),
  )
}

/**
 * Bundles a script of `pages/`.
 *
 * @param alias packages in place of those that the script names
 */
export function bundlePage(
  name: string,
  version: ReactVersion = '19',
  alias?: Readonly<Record<string, string>>,
): Promise<string> {
  return bundleScript(`pages/${name}`, version, alias)
}

/** Bundles a script, by its path in this folder. */
export async function bundleScript(
  path: string,
  version: ReactVersion = '19',
  alias?: Readonly<Record<string, string>>,
): Promise<string> {
  const files = await bundle(folder('.'), version, folder(path), true, alias)
  const script = Object.entries(files).find(([name]) => name.endsWith('.js'))?.[1]
  if (script === undefined) throw new Error('The bundler gave no script.')
  return script
}

/**
 * Builds a page from the sources of the packages, which finds its service at `import.meta.env.VITE_ENDPOINT`.
 *
 * @param path of its folder in this one, with an `index.html`
 * @param alias packages in place of those that it names
 */
export async function buildExample(
  path: string,
  version: ReactVersion = '19',
  alias?: Readonly<Record<string, string>>,
): Promise<PageFiles> {
  const root = folder(path)
  const { '/index.html': html = '', ...files } = await bundle(root, version, `${root}/index.html`, false, alias)
  return { ...files, '/': html }
}

/** A page in Chromium with a service behind it. */
export interface Stage {
  readonly service: EmulatorServer
  readonly page: Page
  /** What the page wrote to its console as warnings and errors. */
  readonly complaints: string[]
  close(): Promise<void>
}

/** Opens a bundled page. `html` is what a server has rendered into `#root`. */
export function openPage(chromium: LaunchedChromium, script: string, html = ''): Promise<Stage> {
  return openSite(chromium, {
    '/': `<!doctype html><meta charset="utf-8"><title>Page</title><div id="root">${html}</div><script src="/page.js"></script>`,
    '/page.js': script.replaceAll('</script', '<\\/script'),
  })
}

/** Opens a site with a separate service. */
export async function openSite(chromium: LaunchedChromium, files: PageFiles): Promise<Stage> {
  const service = await startService()
  const site = await servePages(files)
  const stage = await openAddress(chromium, service, site.url)
  return {
    ...stage,
    close: async () => {
      await stage.page.close()
      await Promise.all([service.close(), site.close()])
    },
  }
}

/** Opens an address in a new page, which knows the service. `close()` closes the page only. */
export async function openAddress(
  chromium: LaunchedChromium,
  service: EmulatorServer,
  url: string,
  waitUntil: 'load' | 'commit' = 'load',
): Promise<Stage> {
  const page = await chromium.newPage()
  const complaints: string[] = []
  page.on('console', line => {
    if (line.type() === 'error' || line.type() === 'warning') complaints.push(line.text())
  })
  page.on('pageerror', error => complaints.push(String(error)))
  await page.addInitScript(`${ENDPOINT} = ${JSON.stringify(service.url)}`)
  await page.goto(url, { waitUntil })
  return { service, page, complaints, close: () => page.close() }
}

/** What a page complained about, but for the browser and the agent on a connection that was refused: the outage. */
export const unexpected = ({ complaints }: Pick<Stage, 'complaints'>) =>
  complaints.filter(line => !/WebSocket connection|The chat could not be opened|connection (?:was )?lost/i.test(line))

/** An agent that repeats what it hears, and offers options on demand. */
export function startService(): Promise<EmulatorServer> {
  return serveEmulator({
    reply: ({ text }) =>
      text === 'options'
        ? [
            { content: 'One moment.' },
            { content: 'Which one?', role: 'follow up question agent', messageData: { options: ['Red', 'Blue'] } },
          ]
        : { content: `You said: ${text}` },
    settings: { heartbeatBeforeReply: true },
  })
}

/** What the service has received: session calls, chat connections, and texts of the user in each session. */
export function received({ emulator }: EmulatorServer) {
  const requests = emulator.control.requests()
  const sessions = [...emulator.world.sessions.values()]
  return {
    sessionCalls: requests.filter(({ method, path }) => method === 'POST' && path.endsWith('/session')).length,
    sockets: requests.filter(({ status }) => status === 101).length,
    texts: sessions.flatMap(({ id }) =>
      emulator.control.frames(id).flatMap(({ message }) => (message?.persona === 'customer' ? [message.content] : [])),
    ),
    history: sessions.flatMap(({ history }) => history.entries().map(({ content }) => content)),
    feedback: sessions.flatMap(({ feedback }) => feedback.map(({ rating }) => rating)),
  }
}

export { launchChromium }
