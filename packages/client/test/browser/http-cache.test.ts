import { paths } from '@aiagent/protocol'
import { expect, it } from 'vitest'
import { describeInPages, makeHost, openHost } from './client-page.ts'

describeInPages('a browser whose cache may keep the answers of the service', at => {
  const service = () => at.stage.service.emulator
  const requestsTo = (path: string) =>
    service()
      .control.requests()
      .filter(request => request.path === path && request.method === 'GET')

  it('[REL-244] asks the service for each session, and for each transcript after an outage', async () => {
    Object.assign(service().settings, { postSession: false, sendHistory: false, heartbeatBeforeReply: false })
    service().faults.add({ kind: 'cache-answers', maxAgeSeconds: 600 })
    const config = { baseReconnectDelay: 50, maxReconnectDelay: 50 }
    const page = await openHost(at.context, at.stage, config)
    for (let run = 0; run < 2; run++) {
      await page.evaluate(() => host.open())
      await page.evaluate(() => host.send('one'))
      await page.waitForFunction(() => host.answers().length === 1)
      await page.evaluate(() => host.destroy())
      await page.reload()
      await makeHost(page, at.stage, config)
    }
    expect(service().world.sessions.size).toBe(2)
    expect(requestsTo(paths.session('help'))).toHaveLength(2)
    await page.evaluate(() => host.open())
    const session = [...service().world.sessions.keys()].at(-1) as string
    for (let outage = 1; outage <= 2; outage++) {
      service().control.dropSockets(1012)
      service().control.say(session, { content: `missed ${outage}` })
      await page.waitForFunction(text => host.talk().includes(text), `received: missed ${outage}`, {
        polling: 50,
        timeout: 10_000,
      })
    }
    expect(requestsTo(paths.previousTranscript('help', session)).length).toBeGreaterThanOrEqual(2)
  })

  it('[REL-244] gets the details of each user', async () => {
    service().faults.add({ kind: 'cache-answers', maxAgeSeconds: 600 })
    for (const subject of ['customer', 'new-customer']) {
      const accessToken = service().control.issueToken({ subject })
      const page = await openHost(at.context, at.stage, { id: 'account', auth: { type: 'pre-auth', accessToken } })
      const initialized = await page.evaluate(() => host.initialize().then(() => host.getUser()))
      expect(initialized).toMatchObject({ id: subject })
      await page.close()
    }
    expect(requestsTo(paths.customerDetails())).toHaveLength(2)
  })
})
