import { expect, it } from 'vitest'
import { describeInPages, openHost } from './client-page.ts'

const CARD = '4111 1111 1111 1111'

describeInPages('a page whose agent masks', at => {
  it('[FLOW-19] has no unmasked user text in any frame, request, store, event or console line', async () => {
    const printed: string[] = []
    const page = await openHost(at.context, at.stage, { id: 'billing', logLevel: 0 })
    page.on('console', line => printed.push(line.text()))
    await page.evaluate(text => host.send(text), `held ${CARD}`)
    await page.evaluate(() => host.open())
    await page.evaluate(text => host.send(text), `sent ${CARD}`)
    const { control } = at.stage.service.emulator
    const said = () => [...at.stage.service.emulator.world.sessions.keys()].flatMap(id => control.frames(id))
    await expect.poll(() => said().length).toBeGreaterThanOrEqual(2)
    const kept = await page.evaluate(() =>
      JSON.stringify([{ ...sessionStorage }, { ...localStorage }, host.getTranscript(), host.of('transcriptUpdate')]),
    )
    expect(kept).toContain('***************1111')
    expect(JSON.stringify([kept, printed, said(), control.requests()])).not.toContain(CARD)
    expect(said().map(({ message }) => message?.content)).toEqual([
      'held ***************1111',
      'sent ***************1111',
    ])
  })
})
