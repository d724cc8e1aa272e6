import { serveEmulator } from '@aiagent/emulator/node'
import { hasChromium } from '@aiagent/test-support/chromium'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { run } from '../../../../packages/cli/src/run.ts'
import { createFakeIo, type FakeIo } from '../../../../packages/cli/test/fake-io.ts'
import { type Stage, startStage, Visitor } from './stage.ts'

const endpointOf = async (page: Page) =>
  (await page.locator('meta[name="playground-endpoint"]').getAttribute('content')) ?? ''

describe.skipIf(!hasChromium())('the served playground', () => {
  let stage: Stage
  const running: { fake: FakeIo; ended: Promise<number> }[] = []
  beforeAll(async () => {
    stage = await startStage()
  })
  beforeEach(() => {
    stage.complaints.length = 0
  })
  afterAll(() => stage?.close())
  afterEach(async () => {
    for (const { fake, ended } of running.splice(0)) {
      fake.interrupt()
      await ended
    }
  })

  /** Runs a command, and resolves with the address of the playground that it prints. */
  const start = async (...args: string[]) => {
    const fake = createFakeIo()
    running.push({ fake, ended: run(['emulate', '--port', '0', '--playground', ...args], fake.io) })
    await fake.outHas('Press Ctrl-C')
    const [, url = ''] = /^Playground: (\S+)/m.exec(fake.out()) ?? []
    return { url, out: fake.out }
  }

  it('[PLAY-06] breaks an emulator on a port, and signs in at its provider', async () => {
    const { url } = await start()
    const page = await stage.open(url)
    const visitor = new Visitor(page)
    await visitor.sees('connected')
    await visitor.says('How do I reset my router?')
    await visitor.reads('press the hidden reset button')
    await visitor.breaks('Cut')
    await visitor.sawEvent('closed', '1006')
    await visitor.sees('connected')
    await visitor.pushes('Unasked message')
    await visitor.reads('Your router was shipped')

    await visitor.signsIn('Desk agent', () => visitor.opens('Desk agent'))
    await page.locator('ai-agent-chat').getByRole('button', { name: 'Installation' }).click()
    await visitor.sees('connected')
    await visitor.breaks('desk-supervisor')
    await visitor.sawEvent('userChanged')

    await page.getByLabel('Service').selectOption('in this page')
    await visitor.opens('Anonymous help')
    await visitor.sees('connected')
    expect(stage.complaints).toEqual([])
  })

  it('[PLAY-06] shows the faults of the emulator and the time for an answer after a reload, and lifts the faults', async () => {
    const { url } = await start()
    const page = await stage.open(url)
    const visitor = new Visitor(page)
    await visitor.sees('connected')
    const time = page.locator('.answer-time output')
    const settings = async () => (await (await fetch(`${await endpointOf(page)}/_control/settings`)).json()) as object
    expect(await settings()).toMatchObject({ replyDelayMs: 0 })
    await expect.poll(() => time.textContent()).toBe('0.0 s')
    await page.getByLabel('Time for an answer').fill('300')
    await expect.poll(settings).toMatchObject({ replyDelayMs: 300 })
    await page.getByLabel('Fault as JSON').fill('{ "kind": "delay-frames", "ms": 5 }')
    await visitor.breaks('Push')
    await visitor.breaks('Refuse')
    const pressed = () => page.getByRole('button', { pressed: true }).allTextContents()
    await expect.poll(async () => (await pressed()).includes('Refuse')).toBe(true)

    await page.reload()
    await expect.poll(async () => (await pressed()).includes('Refuse')).toBe(true)
    await expect.poll(() => time.textContent()).toBe('0.3 s')
    await visitor.breaks('Mend all')
    const faults = async () => (await (await fetch(`${await endpointOf(page)}/_control/faults`)).json()) as object
    await expect.poll(faults).toEqual({ faults: [] })
    // The page follows the emulator.
    await expect.poll(async () => (await pressed()).includes('Refuse')).toBe(false)
    await page.evaluate(() => dispatchEvent(new Event('online')))
    await page.reload()
    await visitor.sees('connected')
    await visitor.says('How do I reset my router?')
    await visitor.reads('press the hidden reset button')
    // Its attempts to connect after the end of the emulator would be complaints in the next test.
    await page.close()
  })

  it.each([
    ['700', '0.7 s'],
    ['9000', '9.0 s'],
  ])('[PLAY-06] shows a time for an answer of %s ms on the slider as in its text', async (ms, text) => {
    const { url } = await start('--reply-delay', ms)
    const page = await stage.open(url)
    await expect.poll(() => page.locator('.answer-time output').textContent()).toBe(text)
    expect(await page.getByLabel('Time for an answer').inputValue()).toBe(ms)
    await page.close()
  })

  it('[PLAY-06] sends its own policy, and serves its own files only', async () => {
    const { url } = await start()
    const page = await fetch(url)
    expect(Object.fromEntries(page.headers)).toMatchObject({
      'content-security-policy': expect.stringMatching(
        /^default-src 'none'; script-src 'self'; .*connect-src 'self' http:\/\/127.0.0.1:\d+ ws:.*trusted-types 'none'$/,
      ),
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin-allow-popups',
    })
    expect(await page.text()).toContain('<meta name="playground-service" content="emulator">')
    for (const path of ['nothing.js', '../package.json', '%2e%2e/vite.config.ts', 'assets/'])
      expect((await fetch(new URL(path, url))).status).toBe(404)
    expect((await fetch(url, { method: 'POST' })).status).toBe(404)
  })

  it('[PLAY-06] talks to a deployment, which cannot be broken', async () => {
    await using deployment = await serveEmulator({ reply: ({ text }) => ({ content: `You said: ${text}` }) })
    const { url, out } = await start('--endpoint', deployment.url, '--agent', 'billing')
    expect(out()).not.toContain('The emulator runs at')
    const page = await stage.open(url)
    const visitor = new Visitor(page)
    await visitor.sees('connected')
    await visitor.says('hello')
    await visitor.reads('You said: hello')
    await page.getByLabel('Faults', { exact: true }).getByText('cannot be broken').waitFor()
    expect([...deployment.emulator.world.sessions.values()][0]?.agent.details.agentId).toBe('billing')
    expect(stage.complaints).toEqual([])
  })
})
