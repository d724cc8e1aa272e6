import { describeInEngines, type EnginePage } from '@aiagent/test-support/engines'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { serveStatically } from '../browser/stage.ts'

describeInEngines('the playground on a static host', at => {
  let host: Awaited<ReturnType<typeof serveStatically>>
  beforeAll(async () => {
    host = await serveStatically()
  })
  afterAll(() => host?.close())

  const open = async (scenario: string) => {
    const page = await at.engine.newPage()
    await page.goto(`${host.page}#scenario=${scenario}`)
    return page
  }
  const sees = (page: EnginePage, code: string) => expect.poll(() => page.texts('.status-facts code')).toContain(code)
  const reads = (page: EnginePage, text: string) =>
    expect.poll(async () => (await page.texts('.bubble')).join('\n')).toContain(text)
  const inspects = async (page: EnginePage, tab: string) => {
    await page.click(`#tab-${tab}`)
    return expect.poll(async () => (await page.texts('#panel')).join())
  }

  it('[PLAY-03] holds a conversation', async () => {
    const page = await open('help')
    await sees(page, 'connected')
    await page.click('button', 'How do I reset my router?')
    await reads(page, 'press the hidden reset button')
  })

  it('[PLAY-03] masks what is sent', async () => {
    const page = await open('masking')
    await sees(page, 'connected')
    await page.type('textarea', 'My card is 4111 1111 1111 1111\n')
    await reads(page, 'I found no article')
    const frames = await inspects(page, 'frames')
    await frames.toContain('***************1111')
    expect(String(await page.texts('#panel'))).not.toContain('4111 1111')
  })

  it('[PLAY-03] signs a user in on its login page', async () => {
    const page = await open('desk')
    const login = await at.engine.opened(() => page.click('.primary', 'Sign in'))
    await login.click('button')
    await page.click('.choice')
    await sees(page, 'connected')
    await page.type('textarea', 'hello\n')
    await reads(page, 'What can I help you with?')
  })

  it('[PLAY-05] cuts the connection, which comes back', async () => {
    const page = await open('help')
    await sees(page, 'connected')
    await page.click('button', 'Cut')
    await (await inspects(page, 'events')).toContain('1006')
    await sees(page, 'connected')
    await page.type('textarea', 'thanks\n')
    await reads(page, 'You are welcome')
  })
})
