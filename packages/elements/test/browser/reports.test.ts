import { bundleModulesForPage, hasChromium } from '@aiagent/test-support/chromium'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { type ChatStage, openChatStage } from './chat-page.ts'
import { chatStages } from './chat-stages.ts'

/** Records the errors that elements report to the page, by the name of the element. */
const RECORD = `<script>
globalThis.reported = []
addEventListener('aiagent-error', ({ target, detail: { error } }) => reported.push([target.localName, error.code ?? error.name]))
</script>`

const reported = (page: Page) => page.evaluate(() => Object(globalThis).reported as [string, string][])
const launcher = (page: Page) => page.locator('ai-agent-launcher .launch')
/** Two tasks of the page, in which an element says what it lacks. */
const turns = (page: Page) =>
  page.evaluate(() => new Promise(resolve => setTimeout(() => setTimeout(resolve)))).then(() => {})

describe.skipIf(!hasChromium())('what the elements report to the page and its developer', () => {
  const stages = chatStages()
  let stage: ChatStage

  it.each(['ai-agent-chat', 'ai-agent-launcher'])(
    '[EL-46] [REL-285] is the error of a start that the user cannot repeat: %s',
    async name => {
      stage = await stages.open()
      const { page, complaints } = await stage.open(`${RECORD}<${name} endpoint="ENDPOINT" agent-id="helpp"></${name}>`)
      if (name === 'ai-agent-launcher') await launcher(page).click()
      await page.getByText('The chat is not available').waitFor()
      await expect.poll(() => reported(page)).toEqual([[name, 'API_ERROR']])
      expect(complaints.filter(text => text.includes('initialize() failed'))).toEqual([
        expect.stringMatching(/helpp.*Check the id of the agent\./),
      ])
    },
  )

  it('[EL-46] is nothing where the chat offers what helps, or was removed', async () => {
    stage = await stages.open()
    stage.service.emulator.faults.add({ kind: 'delay-requests', ms: 100 })
    stage.service.emulator.faults.add({ kind: 'answer', route: 'POST */help/session', status: 503 })
    const { page } = await stage.open(
      `${RECORD}<ai-agent-chat endpoint="ENDPOINT" agent-id="account"></ai-agent-chat>
<ai-agent-chat id="retried" endpoint="ENDPOINT" agent-id="help"></ai-agent-chat>
<ai-agent-chat id="removed" endpoint="ENDPOINT" agent-id="helpp"></ai-agent-chat>
<script>document.querySelector('#retried').config = { retryInitialize: false }</script>`,
    )
    await page.waitForFunction(() => document.querySelector('#removed')?.hasAttribute('ready'))
    await page.evaluate(() => document.querySelector('#removed')?.remove())
    await page.getByRole('button', { name: 'Sign in' }).waitFor()
    await page.getByRole('button', { name: 'Try again' }).waitFor()
    await turns(page)
    expect(await reported(page)).toEqual([])
  })

  it.each<[string, string, string[]]>([
    [
      'no attribute',
      '<ai-agent-chat></ai-agent-chat>',
      ['<ai-agent-chat> opens no chat without endpoint and agent-id'],
    ],
    [
      'a mistyped one',
      '<ai-agent-chat endpoint="ENDPOINT" agentid="help"></ai-agent-chat>',
      ['<ai-agent-chat> opens no chat without agent-id'],
    ],
    [
      'an empty one, of a launcher',
      '<ai-agent-launcher endpoint="" agent-id="help"></ai-agent-launcher>',
      ['<ai-agent-launcher> opens no chat without endpoint'],
    ],
  ])('[EL-47] is which attribute is missing, once: %s', async (_case, body, expected) => {
    stage = await stages.open()
    const { page, complaints } = await stage.open(`<main>${body}</main>`)
    await expect.poll(() => complaints.filter(text => text.includes('opens no chat'))).toHaveLength(1)
    expect(complaints).toEqual(expected.map(text => expect.stringContaining(text)))
    await page.evaluate(() =>
      document.querySelector('main')?.replaceWith(document.querySelector('main > *') as Element),
    )
    if (body.includes('launcher')) await launcher(page).click()
    await turns(page)
    expect(complaints).toHaveLength(1)
  })

  it('[EL-47] misses no attribute where a property has the value', async () => {
    stage = await stages.open()
    const { page, complaints } = await stage.open(
      `<ai-agent-chat id="one" agent-id="help"></ai-agent-chat><ai-agent-launcher id="two"></ai-agent-launcher>
<script>
one.config = { endpoint: 'ENDPOINT' }
two.config = { endpoint: 'ENDPOINT', id: 'help' }
</script>`,
      { search: '?sdk' },
    )
    await page.getByText('Online').waitFor()
    await page.evaluate(endpoint => {
      const chat = document.createElement('ai-agent-chat')
      document.body.append(chat)
      chat.agent = new (Object(globalThis).sdk.AiAgent)({ endpoint, id: 'help' })
    }, stage.service.url)
    await expect.poll(() => page.getByText('Online').count()).toBe(2)
    expect(complaints).toEqual([])
  })

  it('[EL-47] [CFG-07] is written by the logger of the host, and not with enableLogging: false or a higher level', async () => {
    stage = await stages.open()
    const { page, complaints } = await stage.open(
      `<ai-agent-chat id="one"></ai-agent-chat><ai-agent-chat id="two"></ai-agent-chat>
<ai-agent-launcher id="three"></ai-agent-launcher>
<script>
globalThis.logged = []
one.config = { logger: { warn: text => logged.push(text) } }
two.config = { enableLogging: false }
three.config = { logLevel: 4 }
</script>`,
    )
    await expect
      .poll(() => page.evaluate(() => Object(globalThis).logged))
      .toEqual([expect.stringContaining('endpoint and agent-id')])
    await turns(page)
    expect(complaints).toEqual([])
  })

  it.each(['ai-agent-chat', 'ai-agent-launcher'])(
    '[EL-48] is one line where the script of a page cannot load its code: %s',
    async name => {
      const module = name === 'ai-agent-chat' ? 'index' : 'launcher'
      const files = await bundleModulesForPage(
        `import { loadElement } from '../../src/script-entry.ts'
loadElement('${name}', import('../../src/${module}.ts'))`,
        { importer: import.meta.url },
      )
      const own = await openChatStage(stages.context, files)
      try {
        const body = `${RECORD}<${name} endpoint="ENDPOINT" agent-id="help"></${name}>`
        const isCode = /\/(?!entry)[\w-]+\.js/
        const { page, complaints } = await own.open(body, {
          prepare: target => target.route(isCode, route => route.abort()),
        })
        const line = page.locator(name).getByRole('alert')
        await line.getByText('The chat could not be loaded.').waitFor()
        expect(await reported(page)).toEqual([[name, 'TypeError']])
        expect(complaints.filter(text => text.includes('TypeError'))).toHaveLength(1)
        // An element that is added later says so, too; one that is moved says it once.
        await page.evaluate(
          each => document.body.append(document.createElement(each), document.querySelector(each) as Element),
          name,
        )
        expect(await line.count()).toBe(2)
        expect(await reported(page)).toHaveLength(2)
        await page.unroute(isCode)
        await page.reload()
        await page
          .locator(name)
          .getByRole(name === 'ai-agent-chat' ? 'textbox' : 'button')
          .first()
          .waitFor()
        expect(await line.count()).toBe(0)
      } finally {
        await own.close()
      }
    },
  )
})
