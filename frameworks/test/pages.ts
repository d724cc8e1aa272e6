import { fileURLToPath } from 'node:url'
import { type EmulatorServer, serveEmulator } from '@aiagent/emulator/node'
import { type LaunchedChromium, launchChromium, type PageServer, servePages } from '@aiagent/test-support/chromium'
import type { Page } from 'playwright-core'
import { build, defaultClientConditions } from 'vite'
import { bindings, type ReactVersion } from '../bindings.ts'

/** Bundles a page of `pages/`, as a host would for a browser. */
export async function bundlePage(name: string, version: ReactVersion = '19'): Promise<string> {
  const result = await build({
    root: fileURLToPath(new URL('../', import.meta.url)),
    configFile: false,
    envFile: false,
    publicDir: false,
    logLevel: 'silent',
    mode: 'development',
    define: { 'process.env.NODE_ENV': '"development"' },
    resolve: { conditions: ['@aiagent/source', ...defaultClientConditions] },
    plugins: [bindings(version)],
    build: {
      write: false,
      minify: false,
      modulePreload: false,
      target: 'es2022',
      rollupOptions: {
        input: fileURLToPath(new URL(`../pages/${name}`, import.meta.url)),
        output: { format: 'iife', codeSplitting: false },
      },
    },
  })
  const [chunk] = (Array.isArray(result) ? result : [result]).flatMap(part => ('output' in part ? part.output : []))
  if (chunk?.type !== 'chunk') throw new Error('The bundler gave no script.')
  return chunk.code
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
export async function openPage(chromium: LaunchedChromium, script: string, html = ''): Promise<Stage> {
  const service = await serveEmulator({
    reply: ({ text }) =>
      text === 'options'
        ? [
            { content: 'One moment.' },
            { content: 'Which one?', role: 'follow up question agent', messageData: { options: ['Red', 'Blue'] } },
          ]
        : { content: `You said: ${text}` },
    settings: { heartbeatBeforeReply: true },
  })
  const pages: PageServer = await servePages({
    '/': `<!doctype html><meta charset="utf-8"><title>Page</title><div id="root">${html}</div><script src="/page.js"></script>`,
    '/page.js': `globalThis.ENDPOINT = ${JSON.stringify(service.url)};\n${script.replaceAll('</script', '<\\/script')}`,
  })
  const page = await chromium.newPage()
  const complaints: string[] = []
  page.on('console', line => {
    if (line.type() === 'error' || line.type() === 'warning') complaints.push(line.text())
  })
  page.on('pageerror', error => complaints.push(String(error)))
  await page.goto(pages.url)
  return {
    service,
    page,
    complaints,
    close: async () => {
      await page.close()
      await Promise.all([service.close(), pages.close()])
    },
  }
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
