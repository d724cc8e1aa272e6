import { AiAgent } from '@aiagent/client'
import { collectGarbage } from '@aiagent/test-support/collect-garbage'
import { StrictMode } from 'react'
import { renderToString } from 'react-dom/server'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isConnected } from '../is-connected.ts'
import { Chat } from '../templates/next/app/chat'
import { bundlePage, launchChromium, openPage, received, type Stage } from './pages.ts'

const chromium = await launchChromium()
afterAll(() => chromium.close())

const items = ({ page }: Stage) => page.locator('li > p').allTextContents()
const write = async ({ page }: Stage, text: string) => {
  await page.getByLabel('Message').fill(text)
  await page.getByRole('button', { name: 'Send' }).click()
}

describe.each(['18', '19'] as const)('React %s in StrictMode', version => {
  let script = ''
  beforeAll(async () => {
    script = await bundlePage('react.tsx', version)
  })

  it('opens one session and one socket, sends one frame for each message, and closes when it is unmounted', async () => {
    const stage = await openPage(chromium, script)
    await expect.poll(() => received(stage.service).sockets).toBe(1)
    await write(stage, 'hello')
    await expect.poll(() => items(stage)).toEqual(['hello', 'You said: hello'])
    await write(stage, 'options')
    await expect.poll(() => items(stage).then(all => all.length)).toBe(5)
    await stage.page.getByRole('button', { name: 'Blue' }).click()
    await expect.poll(() => items(stage).then(all => all.at(-1))).toBe('You said: Blue')
    await stage.page.getByRole('button', { name: 'Helpful' }).last().click()
    await expect.poll(() => received(stage.service).feedback).toEqual(['up'])
    expect(await stage.page.getByRole('button', { name: 'Blue' }).getAttribute('aria-pressed')).toBe('true')
    expect(received(stage.service)).toMatchObject({ sessionCalls: 1, sockets: 1, texts: ['hello', 'options', 'Blue'] })
    expect(await stage.page.evaluate(() => signals)).toEqual([
      ...['opened', 'first_message', 'answered'],
      ...['answered', 'answered', 'rated'],
    ])
    await stage.page.evaluate(() => unmount())
    await expect.poll(() => isConnected(stage.service.emulator)).toBe(false)
    expect(stage.complaints).toEqual([])
    await stage.close()
  })

  it('uses a new agent after it has rendered, and ends the one before', async () => {
    const stage = await openPage(chromium, script)
    await write(stage, 'hello')
    await expect.poll(() => items(stage).then(all => all.length)).toBe(2)
    await stage.page.evaluate(() => showAgent())
    await expect.poll(() => received(stage.service).sockets).toBe(2)
    await write(stage, 'again')
    await expect.poll(() => items(stage).then(all => all.at(-1))).toBe('You said: again')
    expect(received(stage.service).texts.filter(text => text === 'again')).toHaveLength(1)
    expect(stage.complaints).toEqual([])
    await stage.close()
  })

  it('hydrates what a server has rendered without a window, without a warning', async () => {
    const agent = new AiAgent({ id: 'help', endpoint: 'https://agents.example.test' })
    const html = renderToString(
      <StrictMode>
        <Chat agent={agent} />
      </StrictMode>,
    )
    expect(html).toContain('Chat is ')
    expect(agent.status.phase).toEqual({ at: 'idle' })
    const stage = await openPage(chromium, script, html)
    await write(stage, 'hello')
    await expect.poll(() => items(stage)).toEqual(['hello', 'You said: hello'])
    expect(received(stage.service)).toMatchObject({ sessionCalls: 1, sockets: 1 })
    expect(stage.complaints).toEqual([])
    await stage.close()
  })
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
