import { propertyRuns } from '@aiagent/test-support'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { lastSession, setUp } from '../../test/agent-harness.ts'

// Loaded before the clock is moved: loading a module takes real time.
await Promise.all([import('../masking/load-masker.ts'), import('../masking/data-masker.ts')])

/** Any string, also with halves of surrogate pairs. */
const anyText = fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map(code => String.fromCharCode(code)) })
const text = fc.oneof(anyText, fc.constantFrom('', 'My card is 4111 1111 1111 1111'))
/** Values that change when they are written as JSON, and data that decides itself what is written. */
const odd = fc.constantFrom<unknown>(undefined, Number.NaN, -0, 1e21, new Date(0), () => {}, Symbol('s'), [undefined])
const value = fc.oneof(fc.jsonValue({ maxDepth: 3 }), odd)
const own = value.map(written => ({ toJSON: () => written }))
const data = fc.oneof(
  fc.dictionary(fc.oneof(anyText, fc.constantFrom('__proto__', '1', 'b')), fc.oneof(value, own)),
  own,
)
const message = fc.record(
  { content: text, messageData: data, persona: fc.constantFrom('customer', 'x'), role: fc.constantFrom('human', 'x') },
  { requiredKeys: [] },
)

describe('a message that was accepted', () => {
  it('[FLOW-20] makes the text of its frame again, byte for byte', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(text, message), { minLength: 1, maxLength: 8 }), async given => {
        const { clock, emulator, make } = setUp({ settings: { heartbeatBeforeReply: false }, reply: () => [] })
        const { agent } = make({ id: 'billing' })
        const ids: string[] = []
        const send = async () => {
          for (const each of given)
            await agent.send(each as never).then(
              id => ids.push(id),
              () => {},
            )
        }
        await send()
        await agent.initialize()
        await send()
        await agent.connect()
        await clock.advance(100)
        await send()
        await clock.advance(0)
        const written = emulator.control.frames(lastSession(emulator)).map(frame => frame.data)
        expect(ids.map(id => agent.delivery(id)?.message.toPayloadString())).toEqual(written)
        expect(agent.getTranscript({ direction: 'sent' }).map(entry => entry.message.toPayloadString())).toEqual(
          written,
        )
        await agent.destroy()
      }),
      { numRuns: propertyRuns(50) },
    )
  })

  it('[FLOW-20] is sent as it was accepted, whatever the host does with its data', async () => {
    const { clock, emulator, make } = setUp({ settings: { heartbeatBeforeReply: false }, reply: () => [] })
    const { agent } = make({ id: 'billing' })
    const messageData = { order: { lines: [{ sku: 'a' }] } }
    const change = (data: unknown) => {
      const { order } = data as typeof messageData
      try {
        order.lines.push({ sku: 'b' })
      } catch {}
    }
    const held = await agent.send({ messageData })
    await agent.initialize()
    const queued = await agent.send({ messageData })
    change(messageData)
    for (const id of [held, queued]) change(agent.delivery(id)?.message.messageData)
    for (const { message } of agent.getTranscript()) change(message.messageData)
    await agent.connect()
    await clock.advance(100)
    const frame = JSON.stringify({
      persona: 'customer',
      role: 'human',
      messageData: { order: { lines: [{ sku: 'a' }] } },
    })
    expect(emulator.control.frames(lastSession(emulator)).map(({ data }) => data)).toEqual([frame, frame])
    await agent.destroy()
  })
})
