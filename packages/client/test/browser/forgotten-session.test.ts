import { expect, it } from 'vitest'
import { describeInPages, openHost, said } from './client-page.ts'

/** Restarts the service as a new process does that was not given the old one's state. */
const restart = (origin: string) =>
  fetch(`${origin}/_control/restart`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ memory: false }),
  })

describeInPages('a page whose session the service has forgotten', at => {
  for (const resume of [false, true])
    it(`[REL-14] goes on in a new session, with waiting messages (resume: ${resume})`, async () => {
      const page = await openHost(at.context, at.stage, { resume, baseReconnectDelay: 50, maxReconnectDelay: 50 })
      await page.evaluate(() => host.open())
      await page.evaluate(() => host.send('before'))
      await page.waitForFunction(() => host.answers().length === 1)
      expect((await restart(at.stage.service.url)).ok).toBe(true)
      await page.waitForFunction(() => host.of('closed').length > 0)
      await page.evaluate(() => host.send('meanwhile'))
      await page.waitForFunction(() => host.answers().includes('You said: meanwhile'))
      expect(said(at.stage)).toEqual(['meanwhile'])
      expect(await page.evaluate(() => host.getState())).toBe('CONNECTED')
      expect(JSON.stringify(await page.evaluate(() => host.of('error')))).toContain('404')
    })
})
