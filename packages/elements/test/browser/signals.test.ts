import { hasChromium } from '@aiagent/test-support/chromium'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { bubbles, type ChatStage, write } from './chat-page.ts'
import { chatStages } from './chat-stages.ts'

const FUNNEL = ['opened', 'first_message', 'answered']

/** Records the signals of a page. */
const recordSignals = (page: Page) =>
  page.addInitScript(() => {
    const signals: unknown[] = []
    Object.assign(globalThis, { signals })
    addEventListener('aiagent-signal', event => {
      signals.push((event as CustomEvent).detail)
      throw new Error('A listener fails.')
    })
  })

describe.skipIf(!hasChromium())('signals of the elements', () => {
  const stages = chatStages()
  let stage: ChatStage

  const open = async (body: string) => {
    stage = await stages.open()
    const { page, requests } = await stage.open(body, { prepare: recordSignals })
    const signals = () => page.evaluate(() => Object(globalThis).signals as { name: string; rating?: string }[])
    const names = () => signals().then(all => all.map(({ name }) => name))
    return { page, requests, signals, names }
  }

  it('[EL-40] are events of the chat, which a reload does not repeat, and which stop without the attribute', async () => {
    const { page, signals, names } = await open(
      '<ai-agent-chat endpoint="ENDPOINT" agent-id="help" signals></ai-agent-chat>',
    )
    await page.getByText('Online').waitFor()
    await write(page, 'hello')
    await expect.poll(names).toEqual(FUNNEL)
    await page.getByRole('button', { name: 'Helpful', exact: true }).click()
    await expect.poll(() => signals().then(all => all.at(-1))).toMatchObject({ name: 'rated', rating: 'up' })
    expect(JSON.stringify(await signals())).not.toContain('hello')
    await page.reload()
    await expect.poll(() => bubbles(page).then(all => all.length)).toBe(2)
    await page.getByText('Online').waitFor()
    await write(page, 'again')
    await expect.poll(names).toEqual(['answered'])
    await page.evaluate(() => document.querySelector('ai-agent-chat')?.removeAttribute('signals'))
    await write(page, 'unseen')
    await expect.poll(() => bubbles(page).then(all => all.length)).toBe(6)
    expect(await names()).toEqual(['answered'])
  })

  it('[EL-40] reach listeners of the launcher, and none is dispatched before the consent', async () => {
    const { page, names, requests } = await open(
      '<ai-agent-launcher endpoint="ENDPOINT" agent-id="help" consent="required" signals></ai-agent-launcher>',
    )
    await page.getByRole('button', { name: 'Chat' }).click()
    await page.getByRole('button', { name: 'Agree and start' }).waitFor()
    expect(await names()).toEqual([])
    expect(requests.filter(line => line.includes(stage.service.url))).toEqual([])
    await page.getByRole('button', { name: 'Agree and start' }).click()
    await page.getByText('Online').waitFor()
    await write(page, 'hello')
    await expect.poll(names).toEqual(FUNNEL)
    // Closed and opened again, it is the same conversation.
    await page.getByRole('dialog').getByRole('button', { name: 'Close', exact: true }).click()
    await page.getByRole('button', { name: 'Chat' }).click()
    await write(page, 'again')
    await expect.poll(names).toEqual([...FUNNEL, 'answered'])
  })
})
