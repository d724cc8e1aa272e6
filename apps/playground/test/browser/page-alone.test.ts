import { hasChromium } from '@aiagent/test-support/chromium'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { pageHeaders } from '../../../../packages/cli/src/playground/page-headers.ts'
import { type Stage, serveStatically, startStage, Visitor } from './stage.ts'

describe.skipIf(!hasChromium())('the playground on a static host', () => {
  let stage: Stage
  let host: Awaited<ReturnType<typeof serveStatically>>
  beforeAll(async () => {
    // The policy of the served page, without any address to connect to.
    const { 'Content-Security-Policy': policy = '' } = pageHeaders({ endpoint: 'http://unused.test', isEmulator: true })
    const headers = { 'content-security-policy': policy.replace(/connect-src [^;]+/, "connect-src 'none'") }
    ;[host, stage] = await Promise.all([serveStatically(headers), startStage()])
  })
  beforeEach(() => {
    stage.complaints.length = 0
  })
  afterAll(() => Promise.all([stage?.close(), host?.close()]))

  it('[PLAY-03] holds the conversation of each scenario without a request beyond its origin', async () => {
    const page = await stage.open(host.page)
    const visitor = new Visitor(page)
    await visitor.sees('connected')
    await page.getByRole('button', { name: 'How do I reset my router?' }).first().click()
    await visitor.reads('press the hidden reset button')

    await visitor.opens('Self-service')
    await page.locator('ai-agent-chat').getByRole('button', { name: 'Returns' }).click()
    await visitor.sees('connected')
    await visitor.says('hello')
    await visitor.reads('What can I help you with?')

    await visitor.opens('Masking')
    await visitor.sees('connected')
    await visitor.says('My card is 4111 1111 1111 1111')
    await visitor.reads('I found no article')
    const frames = await visitor.inspects('Frames')
    expect(await frames.textContent()).toContain('***************1111')
    expect(await frames.textContent()).not.toContain('4111 1111')

    await visitor.signsIn('Desk agent', () => visitor.opens('Desk agent'))
    await page.locator('ai-agent-chat').getByRole('button', { name: 'Invoices' }).click()
    await page.locator('ai-agent-chat').getByRole('button', { name: 'Private' }).click()
    await visitor.sees('connected')
    await visitor.says('hello')
    await visitor.reads('What can I help you with?')

    await visitor.opens('Agent selection')
    for (const choice of ['Support', 'Order Assistant'])
      await page.locator('ai-agent-chat').getByRole('button', { name: choice }).click()
    await visitor.sees('connected')
    await visitor.says('hello')
    await visitor.reads('What can I help you with?')

    expect(stage.requested.filter(address => !address.startsWith(host.url))).toEqual([])
    expect(stage.complaints).toEqual([])
  })

  it('[PLAY-03] runs in a frame of another page', async () => {
    const page = await stage.open(host.framed)
    const frame = page.frameLocator('iframe')
    await frame.locator('.status-facts').getByText('connected', { exact: true }).waitFor()
    await frame.getByRole('button', { name: 'How do I reset my router?' }).first().click()
    await frame.locator('ai-agent-chat').getByText('press the hidden reset button').first().waitFor()
    expect(stage.complaints).toEqual([])
  })

  it('[PLAY-03] holds a conversation where the browser refuses to store anything', async () => {
    const page = await stage.open(host.page, () => {
      for (const name of ['localStorage', 'sessionStorage'])
        Object.defineProperty(window, name, {
          get: () => {
            throw new DOMException('Access is denied for this document.', 'SecurityError')
          },
        })
    })
    const visitor = new Visitor(page)
    await visitor.sees('connected')
    await visitor.says('hello')
    await visitor.reads('What can I help you with?')
    await page.getByRole('button', { name: 'Theme: as the system' }).click()
    await page.getByRole('button', { name: 'Theme: light' }).waitFor()
    await visitor.opens('Self-service')
    await page.locator('ai-agent-chat').getByRole('button', { name: 'Returns' }).click()
    await visitor.sees('connected')
    expect(stage.complaints).toEqual([])
  })

  it('[PLAY-02] shows frames, calls and the transcript without a token', async () => {
    const page = await stage.open(`${host.page}#scenario=help`)
    const visitor = new Visitor(page)
    await visitor.sees('connected')
    await visitor.signsIn('Desk agent', () => visitor.opens('Desk agent'))
    await page.locator('ai-agent-chat').getByRole('button', { name: 'Installation' }).click()
    await visitor.sees('connected')
    await visitor.says('hello')
    await visitor.reads('What can I help you with?')

    // The next message meets the expiry: the client renews the token, and sends it to the chat.
    await visitor.breaks('Expire the token')
    await visitor.says('thanks')
    await visitor.reads('You are welcome')
    const frames = await visitor.inspects('Frames')
    const token = frames.locator('[data-direction="out"] .disclose', { hasText: 'metadata · token' })
    await token.nth(1).click()
    expect(await frames.locator('.json').textContent()).toContain('"token": "[redacted]"')
    const calls = await visitor.inspects('REST')
    await calls.getByText('/oauth2/v2.0/token').last().waitFor()
    for (const tab of ['Frames', 'REST', 'Events', 'Transcript', 'Delivery'])
      expect(await (await visitor.inspects(tab)).textContent()).not.toMatch(/eyJ|sessionId=\w/)
    expect(stage.complaints).toEqual([])
  })

  it('[PLAY-04] shows and changes the context, and every state of a delivery', async () => {
    const page = await stage.open(host.page)
    const visitor = new Visitor(page)
    await visitor.sees('connected')
    const context = await visitor.inspects('Context')
    await context.getByLabel('Name').fill('plan')
    await context.getByLabel('Value').fill('gold')
    await context.getByRole('button', { name: 'Set' }).click()
    await context.getByRole('row', { name: 'plan "gold"' }).waitFor()
    const frames = await visitor.inspects('Frames')
    await frames.getByText('system · context').waitFor()

    await visitor.breaks('Cut for 10 s')
    await visitor.sees('reconnecting')
    await visitor.says('typed during the outage')
    await page.locator('.queue', { hasText: '1 queued' }).waitFor()
    const deliveries = await visitor.inspects('Delivery')
    await deliveries.getByText('queued', { exact: true }).waitFor()
    await deliveries.getByRole('button', { name: 'Cancel' }).click()
    await deliveries.getByText('cancelled', { exact: true }).waitFor()
    await visitor.says('another one')
    await visitor.breaks('Mend all')
    await visitor.sees('connected')
    const last = deliveries.locator('.delivery').last()
    await last.getByText('sent', { exact: true }).waitFor()
    expect(await last.locator('.states li').allTextContents()).toEqual(expect.arrayContaining(['queued', 'sent']))
    expect(stage.complaints).toEqual([])
  })

  it('[PLAY-04] clears what was observed, but not the present states', async () => {
    const page = await stage.open(host.page)
    const visitor = new Visitor(page)
    await visitor.sees('connected')
    await visitor.says('hello')
    await visitor.reads('What can I help you with?')
    await page.getByRole('button', { name: 'Clear' }).click()
    const counts = () => page.locator('.count').allTextContents()
    await expect.poll(counts).toEqual(['0', '0', '0', '0'])
    const lanes = page.locator('.lane .mark')
    await expect.poll(() => lanes.allTextContents()).toEqual(['ready', 'CONNECTED'])
    await visitor.says('thanks')
    await visitor.reads('You are welcome')
    const frames = await visitor.inspects('Frames')
    expect(await frames.locator('.frame').count()).toBe(3)
    expect(stage.complaints).toEqual([])
  })
})
