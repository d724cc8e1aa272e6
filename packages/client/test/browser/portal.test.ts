import { CONNECTOR_PATH } from '@aiagent/emulator'
import type { Page } from 'playwright-core'
import { expect, it } from 'vitest'
import type { AiAgentConfig } from '../../src/config.ts'
import { describeInPages, makeHost, openHost } from './client-page.ts'

const KEY = 'v2_acmeselectedProfile-1001'

describeInPages('a contact-center agent in a page', at => {
  const requests = () => at.stage.service.emulator.control.requests().filter(({ method }) => method !== 'OPTIONS')
  const configOf = (more: Partial<AiAgentConfig> = {}): Partial<AiAgentConfig> => ({
    id: 'desk',
    auth: { type: 'pre-auth', accessToken: at.stage.service.emulator.control.issueToken({ subject: 'desk-agent' }) },
    context: { vendor_portal_id: '1001' },
    ...more,
  })
  const chosenIn = (page: Page) =>
    page.evaluate(() => Object.fromEntries(Object.entries(sessionStorage).filter(([key]) => key.startsWith('v2_'))))

  it('[FLOW-13] stores the selected profile under its key and in its form, and selects it again after a reload', async () => {
    const page = await openHost(at.context, at.stage, configOf())
    await page.evaluate(() => host.initialize())
    const entry = (id: number, name: string) =>
      `{"name":"${name}","id":${id},"isLastUsedInPortal":false,"portalId":1001}`
    expect(await chosenIn(page)).toEqual({ [KEY]: entry(11, 'Premium member') })
    await page.reload()
    expect(await chosenIn(page)).toEqual({ [KEY]: entry(11, 'Premium member') })
    // A selection of another page of the host counts too.
    await page.evaluate(([key, value]) => sessionStorage.setItem(key, value), [KEY, entry(10, 'Member')] as const)
    await page.reload()
    await makeHost(page, at.stage, configOf())
    await page.evaluate(() => host.initialize())
    expect(await page.evaluate(() => host.of('initialized'))).toMatchObject([
      { portal: { id: 1001 }, profile: { id: 10 } },
    ])
    expect(await chosenIn(page)).toEqual({ [KEY]: entry(10, 'Member') })
    // Another tab has its own selection.
    const other = await openHost(at.context, at.stage, configOf())
    expect(await chosenIn(other)).toEqual({})
  })

  it('[INIT-10] [WS-03] loads the demonstration connector by a script tag, and the chat carries the id of its call', async () => {
    const config = configOf({
      initParams: { platform: 'standalone', env: 'dev', callId: 'call-7', defaultPortal: '1002' },
      connector: { baseUrls: { dev: at.stage.service.url } },
    })
    const page = await openHost(at.context, at.stage, config)
    await page.evaluate(() => host.open())
    const tag = page.locator(`head > script[src="${at.stage.service.url}${CONNECTOR_PATH}"]`)
    expect(await tag.evaluate((script: HTMLScriptElement) => [script.async, script.crossOrigin])).toEqual([
      true,
      'anonymous',
    ])
    expect(requests().filter(({ path }) => path === CONNECTOR_PATH)).toHaveLength(1)
    const upgrade = requests().find(({ status }) => status === 101)
    expect(upgrade?.query).toEqual({ sessionId: expect.any(String), externalCallId: 'call-7' })
    // The connector's default portal overrides the one of the context.
    expect(await page.evaluate(() => host.of('initialized'))).toMatchObject([{ portal: { id: 1002 } }])
    expect(await page.evaluate(() => host.getContext())).toMatchObject({ user_filter_tags: { portal: ['1002'] } })
  })
})
