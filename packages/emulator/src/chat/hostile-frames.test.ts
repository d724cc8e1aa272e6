import { MAX_FRAME_BYTES } from '@aiagent/protocol'
import { ManualClock, turnEventLoop } from '@aiagent/test-support'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ServiceCaller } from '../../test/chat-client.ts'
import type { EmulatorOptions } from '../index.ts'

const echo: EmulatorOptions = { reply: ({ text }) => ({ content: `You said: ${text}` }) }

const start = (options: EmulatorOptions = {}) => {
  const clock = new ManualClock()
  return { clock, service: new ServiceCaller({ clock, ...echo, ...options }) }
}

describe('unusable frames', () => {
  it('reports the problem and continues', async () => {
    const { service } = start()
    const chat = await service.chat(await service.session())
    for (const text of ['nonsense', '[]', 'null', '{}', '{"persona":"customer"}']) await chat.send(text)
    expect(chat.codes).toEqual(Array(5).fill('400-001'))
    await chat.say('one')
    expect(chat.answers).toEqual(['You said: one'])
  })

  it('closes with 1008 on a flood of them, but not at a low rate', async () => {
    const { clock, service } = start({ settings: { unreadableFrameLimit: 3 } })
    const chat = await service.chat(await service.session())
    for (let round = 0; round < 6; round++) {
      await chat.send('nonsense')
      await clock.advance(4000)
    }
    expect(chat.closing).toBeUndefined()
    for (let round = 0; round < 4; round++) await chat.send('nonsense')
    expect(chat.closing?.code).toBe(1008)
  })

  it('rejects a frame above 128 KiB, counted in bytes, and closes with 1009 far above', async () => {
    const { service } = start()
    const chat = await service.chat(await service.session())
    await chat.say('x'.repeat(MAX_FRAME_BYTES))
    await chat.say('€'.repeat(MAX_FRAME_BYTES / 3 + 1))
    expect(chat.codes).toEqual(['413-001', '413-001'])
    await chat.say('€'.repeat(MAX_FRAME_BYTES / 3 - 100))
    expect(chat.answers).toHaveLength(1)
    await chat.say('x'.repeat(1024 * 1024))
    expect(chat.closing?.code).toBe(1009)
  })

  it('limits the rate of messages, if that is enabled', async () => {
    const { clock, service } = start({ settings: { rateLimit: true } })
    const chat = await service.chat(await service.session())
    for (let round = 0; round < 21; round++) await chat.say('again')
    expect(chat.codes).toEqual(['429-001'])
    await clock.advance(10_000)
    await chat.say('again')
    expect(chat.answers).toHaveLength(21)
  })

  it('[REL-43] answers messages with 429-001 while a fault is active', async () => {
    const { service } = start()
    const [first, second] = [await service.session(), await service.session()]
    const [chat, other] = [await service.chat(first), await service.chat(second)]
    service.emulator.faults.add({ kind: 'rate-limit', sessionId: first, only: 'messages', after: 1, times: 2 })
    for (const text of ['one', 'two', 'three', 'four']) await chat.say(text)
    await other.say('five')
    expect(chat.codes).toEqual(['429-001', '429-001'])
    expect(chat.answers).toEqual(['You said: one', 'You said: four'])
    expect([other.codes, other.answers]).toEqual([[], ['You said: five']])
    service.emulator.faults.add({ kind: 'rate-limit', only: 'requests' })
    await chat.say('six')
    expect(chat.answers).toHaveLength(3)
  })

  const json = fc.json({ maxDepth: 4 })
  const frameLike = fc
    .record({
      persona: fc.oneof(fc.constantFrom('customer', 'metadata', 'system', 'agent'), fc.jsonValue()),
      role: fc.oneof(fc.constantFrom('human', 'token', 'context', 'feedback', 'escalation'), fc.jsonValue()),
      content: fc.oneof(fc.string(), fc.jsonValue()),
      messageData: fc.oneof(
        fc.jsonValue(),
        fc.record({
          token: fc.jsonValue(),
          context: fc.dictionary(fc.string(), fc.jsonValue()),
          feedback: fc.jsonValue(),
        }),
        fc.record({ context: fc.dictionary(fc.string(), fc.record({ type: fc.jsonValue(), value: fc.jsonValue() })) }),
      ),
    })
    .map(frame => JSON.stringify(frame))
  const anything = fc.oneof(fc.string(), json, frameLike, fc.uint8Array())

  it.each(['help', 'account'])('survives any text and any bytes (%s)', async agent => {
    const { service } = start({ settings: { unreadableFrameLimit: Number.POSITIVE_INFINITY } })
    const token = service.emulator.control.issueToken()
    await fc.assert(
      fc.asyncProperty(fc.array(anything, { maxLength: 8 }), async frames => {
        const chat = await service.chat(await service.session(agent))
        for (const frame of frames) chat.socket.send(frame)
        await chat.present(token)
        await chat.say('still there?')
        expect(chat.answers.at(-1)).toBe('You said: still there?')
        chat.socket.close(1000)
        await turnEventLoop()
      }),
      { numRuns: 60 },
    )
  })

  it('survives a frame that is nested deeper than the stack', async () => {
    const { service } = start()
    const chat = await service.chat(await service.session())
    const deep = `${'['.repeat(30_000)}${']'.repeat(30_000)}`
    await chat.send(`{"persona":"system","role":"context","messageData":{"context":{"deep":${deep}}}}`)
    await chat.say('still there?')
    expect(chat.answers).toEqual(['You said: still there?'])
  })
})
