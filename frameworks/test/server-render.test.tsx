import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { AiAgent } from '@aiagent/client'
import { collectGarbage } from '@aiagent/test-support/collect-garbage'
import { renderToString } from 'react-dom/server'
import { afterAll, expect, it } from 'vitest'
import { Chat } from '../examples/react/chat.tsx'
import { createPageServer } from '../examples/server-render/server.tsx'
import { expectReadable, pixelsOf, regionOf, takePicture } from './look.ts'
import { bundleScript, launchChromium, openAddress, received, startService } from './pages.ts'

const chromium = await launchChromium()
afterAll(() => chromium.close())

it('a page that a Node server renders is complete without its script, and hydrates without a warning', async () => {
  const service = await startService()
  const server = createPageServer(service.url, {
    '/client.js': await bundleScript('examples/server-render/client.tsx'),
    '/chat.css': readFileSync(new URL('../examples/chat.css', import.meta.url), 'utf8'),
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`

  const html = await (await fetch(url)).text()
  expect(html).toContain('<p role="status">')
  expect(html).toContain('<button type="submit">Send</button>')
  expect(received(service)).toMatchObject({ sessionCalls: 0, sockets: 0 })

  let hydrate = () => {}
  const isReady = new Promise<void>(resolve => (hydrate = resolve))
  await chromium.context.route('**/client.js', route => isReady.then(() => route.continue()))
  const { page, complaints } = await openAddress(chromium, service, url, 'commit')
  await page.setViewportSize({ width: 480, height: 640 })
  const form = page.locator('form')
  await form.waitFor()
  await expect.poll(() => page.getByRole('status').textContent()).toContain('Chat is idle')
  const rendered = await takePicture(page, 'server-render-before')
  await expectReadable(page, { status: page.getByRole('status'), send: page.getByRole('button', { name: 'Send' }) })

  hydrate()
  await expect.poll(() => page.getByRole('status').count()).toBe(0)
  const hydrated = await takePicture(page, 'server-render-after')
  expect(await pixelsOf(page, hydrated, await regionOf(form), rendered)).toMatchObject({ difference: 0 })
  await page.getByLabel('Message').fill('hello')
  await page.getByRole('button', { name: 'Send' }).click()
  await expect.poll(() => page.locator('.user p, .agent p').allTextContents()).toEqual(['hello', 'You said: hello'])
  expect(received(service)).toMatchObject({ sessionCalls: 1, sockets: 1, texts: ['hello'] })
  expect(complaints).toEqual([])
  await page.close()
  server.close()
  await service.close()
})

it('a rendering on a server keeps no agent in memory', async () => {
  const render = () => {
    const agent = new AiAgent({ id: 'help', endpoint: 'https://agents.example.test' })
    expect(renderToString(<Chat agent={agent} />)).toContain('Chat is idle')
    return new WeakRef(agent)
  }
  const agents = Array.from({ length: 20 }, render)
  await collectGarbage()
  expect(agents.filter(agent => agent.deref())).toEqual([])
})
