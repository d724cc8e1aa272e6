import { spawn } from 'node:child_process'
import { cpSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type PageFiles, servePages } from '@aiagent/test-support/chromium'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { stagePackage } from '../../../scripts/stage.ts'
import { ROOT, runOrThrow } from '../../../scripts/tools.ts'
import { holdConversation } from './conversation.ts'
import { expectReadable, pixelsOf, regionOf, takePicture } from './look.ts'
import { launchChromium, openAddress, received, startService, unexpected } from './pages.ts'
import { smallChat } from './small-chat.ts'

const FOLDER = fileURLToPath(new URL('../', import.meta.url))
/** Copies of the templates are here, below the packed packages and the libraries that the lock file of this folder lists. */
const CACHE = join(FOLDER, '.cache')
const PACKAGES = ['protocol', 'client', 'view', 'adapters', 'react']

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
}

const chromium = await launchChromium()
afterAll(() => chromium.close())

beforeAll(() => {
  const missing = PACKAGES.filter(name => !existsSync(join(ROOT, 'packages', name, 'dist')))
  if (missing.length > 0) throw new Error(`Not built: ${missing.join(', ')}. Run \`npm run build\` first.`)
  for (const name of PACKAGES) stagePackage(name, join(CACHE, 'node_modules', '@aiagent'))
}, 60_000)

/** Copies a template, as a user does, and builds it by its own script. Returns the copy. */
async function buildTemplate(name: string, env: Readonly<Record<string, string>>): Promise<string> {
  const folder = join(CACHE, 'templates', name)
  rmSync(folder, { recursive: true, force: true })
  cpSync(join(FOLDER, 'templates', name), folder, { recursive: true })
  await runOrThrow('npm', ['run', 'build'], {
    cwd: folder,
    env: { NODE_ENV: 'production', ...env },
    timeoutMs: 120_000,
  })
  return folder
}

/** The files of a folder that Vite has built. */
function builtFiles(folder: string): PageFiles {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(name => /\.\w+$/.test(name))
  return Object.fromEntries(
    files.map(name => [name === 'index.html' ? '/' : `/${name}`, readFileSync(join(folder, name), 'utf8')]),
  )
}

/** Runs `next start` on a free port, with the address of the service. */
async function startNext(folder: string, endpoint: string): Promise<{ url: string; close: () => Promise<void> }> {
  const server = spawn(process.execPath, [join(FOLDER, 'node_modules/next/dist/bin/next'), 'start', '--port', '0'], {
    cwd: folder,
    env: { ...process.env, NODE_ENV: 'production', NEXT_TELEMETRY_DISABLED: '1', AGENT_ENDPOINT: endpoint },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = new Promise<void>(resolve => server.once('close', () => resolve()))
  let output = ''
  for await (const chunk of server.stdout.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
    output += chunk
    const [url] = /http:\/\/localhost:\d+/.exec(output) ?? []
    if (!url || !output.includes('Ready')) continue
    server.stdout.resume()
    return {
      url,
      close: () => {
        server.kill()
        return ended
      },
    }
  }
  throw new Error(`Next did not start:\n${output}`)
}

it.each(['vite', 'vue'])('the template %s, built with the packed packages, holds the conversation', async name => {
  const service = await startService()
  const folder = await buildTemplate(name, { VITE_ENDPOINT: service.url })
  const site = await servePages(builtFiles(join(folder, 'dist')))
  const stage = await openAddress(chromium, service, site.url)
  await holdConversation(stage, smallChat(stage).chat)
  expect(unexpected(stage)).toEqual([])
  await stage.close()
  await Promise.all([service.close(), site.close()])
})

it('the template next is complete without its scripts, hydrates without a warning, and holds the conversation', async () => {
  const service = await startService()
  const folder = await buildTemplate('next', { NEXT_TELEMETRY_DISABLED: '1' })
  const site = await startNext(folder, service.url)

  const html = await (await fetch(site.url)).text()
  expect(html).toContain('<p role="status">')
  expect(html).toContain('<button type="submit">Send</button>')
  expect(received(service)).toMatchObject({ sessionCalls: 0, sockets: 0 })

  let hydrate = () => {}
  const isReady = new Promise<void>(resolve => (hydrate = resolve))
  const window = await chromium.newWindow()
  await window.context.route('**/*.js', route => isReady.then(() => route.continue()))
  const stage = await openAddress(window, service, site.url, 'commit')
  const { page } = stage
  await page.setViewportSize({ width: 480, height: 640 })
  const form = page.locator('form')
  await form.waitFor()
  await expect.poll(() => page.getByRole('status').textContent()).toContain('Chat is idle')
  const rendered = await takePicture(page, 'next-before')
  await expectReadable(page, { status: page.getByRole('status'), send: page.getByRole('button', { name: 'Send' }) })

  hydrate()
  await expect.poll(() => page.getByRole('status').count()).toBe(0)
  const hydrated = await takePicture(page, 'next-after')
  expect(await pixelsOf(page, hydrated, await regionOf(form), rendered)).toMatchObject({ difference: 0 })
  const { chat } = smallChat(stage)
  await holdConversation(stage, chat)
  const texts = await chat.texts()
  await page.reload()
  await expect.poll(chat.texts).toEqual(texts)
  expect(unexpected(stage)).toEqual([])
  await window.close()
  await Promise.all([service.close(), site.close()])
}, 180_000)

it('the templates name the versions that they are tried with, and have one style sheet', () => {
  const read = (path: string) => readFileSync(join(FOLDER, path), 'utf8')
  const versionOf = (name: string) => {
    const installed = ['node_modules', '../../node_modules'].map(folder => `${folder}/${name}/package.json`)
    const path = name.startsWith('@aiagent/')
      ? '../../packages/client/package.json'
      : installed.find(each => existsSync(join(FOLDER, each)))
    return (JSON.parse(read(path ?? '')) as { version: string }).version
  }
  for (const name of readdirSync(join(FOLDER, 'templates'))) {
    const { dependencies, devDependencies } = JSON.parse(read(`templates/${name}/package.json`)) as Manifest
    const named = { ...dependencies, ...devDependencies }
    expect(named, name).toEqual(
      Object.fromEntries(Object.keys(named).map(library => [library, `^${versionOf(library)}`])),
    )
    const styles = read(`templates/${name}/${name === 'next' ? 'app' : 'src'}/chat.css`)
    expect(styles, name).toBe(read('templates/vite/src/chat.css'))
  }
})
