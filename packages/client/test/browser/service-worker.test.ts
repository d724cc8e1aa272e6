import { serveEmulator } from '@aiagent/emulator/node'
import { hasChromium, launchChromium, servePages } from '@aiagent/test-support/chromium'
import { build } from 'esbuild'
import { describe, expect, it } from 'vitest'

const WORKER = `
import { AiAgent } from '@aiagent/client'
self.addEventListener('message', async ({ data: { config, text }, ports: [port] }) => {
  try {
    const agent = new AiAgent(config)
    await agent.initialize()
    await agent.connect()
    const { content } = await agent.ask(text)
    await agent.logout()
    port.postMessage(content)
  } catch (error) {
    port.postMessage(error.message)
  }
})`

/** What a module service worker of a page answers, with the client as a bundler with code splitting builds it. */
async function askWorker(conditions: string[]): Promise<unknown> {
  const { outputFiles } = await build({
    stdin: { contents: WORKER, resolveDir: import.meta.dirname, sourcefile: 'worker.ts' },
    bundle: true,
    splitting: true,
    write: false,
    format: 'esm',
    outdir: '/',
    conditions: ['@aiagent/source', ...conditions],
    entryNames: 'worker',
    logLevel: 'error',
  })
  const files = Object.fromEntries(outputFiles.map(({ path, text }) => [path.slice(path.lastIndexOf('/')), text]))
  const service = await serveEmulator({ reply: ({ text }) => ({ content: `You said: ${text}` }) })
  const pages = await servePages(files)
  const chromium = await launchChromium()
  try {
    const page = await chromium.newPage()
    await page.goto(pages.url)
    const accessToken = service.emulator.control.issueToken({ subject: 'customer' })
    const config = { id: 'help', endpoint: service.url, auth: { type: 'pre-auth', accessToken } }
    return await page.evaluate(async given => {
      await navigator.serviceWorker.register('/worker.js', { type: 'module' })
      const { active } = await navigator.serviceWorker.ready
      const { port1, port2 } = new MessageChannel()
      const answer = new Promise(resolve => {
        port1.onmessage = ({ data }) => resolve(data)
      })
      active?.postMessage({ config: given, text: 'hello' }, [port2])
      return answer
    }, config)
  } finally {
    await Promise.all([chromium.close(), pages.close(), service.close()])
  }
}

describe.skipIf(!hasChromium())('a module service worker', () => {
  it('[REL-257] converses with a token of the host, built with the condition `worker`', async () => {
    expect(await askWorker(['worker'])).toBe('You said: hello')
  })

  it('[REL-257] says what is missing where it was built without it', async () => {
    expect(await askWorker([])).toMatch(/must not load files later: build it with the export condition "worker"/)
  })
})
