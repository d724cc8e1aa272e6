import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import clientMessages from '../../fixtures/client-messages.json' with { type: 'json' }
import extensionMessages from '../../fixtures/extension-messages.json' with { type: 'json' }
import malformedFrames from '../../fixtures/malformed-frames.json' with { type: 'json' }
import serverMessages from '../../fixtures/server-messages.json' with { type: 'json' }
import { ProtocolError } from '../protocol-error.ts'
import { ClientMessageSchema, ServerMessageSchema } from '../schemas.ts'
import { parseClientMessage, parseServerMessage } from './codec.ts'
import { encodeMessage } from './encode.ts'
import { EXTENSION_ROLE } from './extension.ts'
import { PERSONA } from './persona.ts'
import { ROLE } from './role.ts'

describe('the sample frames', () => {
  it.each([...serverMessages, ...extensionMessages.server])('[WS-04] read from the service: $name', ({ frame }) => {
    expect(parseServerMessage(JSON.stringify(frame))).toStrictEqual(frame)
    expect(v.parse(ServerMessageSchema, frame)).toEqual(frame)
  })

  it.each([...clientMessages, ...extensionMessages.client])('[WS-04] read from a client: $name', ({ frame }) => {
    expect(parseClientMessage(JSON.stringify(frame))).toStrictEqual(frame)
    expect(v.parse(ClientMessageSchema, frame)).toEqual(frame)
  })

  it.each(malformedFrames.filter(sample => 'readsAs' in sample))('[WS-04] are mended: $name', ({ text, readsAs }) => {
    expect(parseServerMessage(text)).toStrictEqual(readsAs)
  })

  it.each(malformedFrames.filter(sample => !('readsAs' in sample)))('[WS-04] are refused: $name', ({ text }) => {
    expect(() => parseServerMessage(text)).toThrow(ProtocolError)
    expect(() => parseClientMessage(text)).toThrow(ProtocolError)
  })

  it('name every known role and persona', () => {
    const frames = [...serverMessages, ...clientMessages, ...extensionMessages.server, ...extensionMessages.client].map(
      sample => sample.frame,
    )
    for (const role of [...Object.values(ROLE), ...Object.values(EXTENSION_ROLE)])
      expect(frames.map(frame => frame.role)).toContain(role)
    for (const persona of Object.values(PERSONA)) expect(frames.map(frame => frame.persona)).toContain(persona)
  })
})

describe('parseServerMessage', () => {
  it('keeps the text it could not read in the error', () => {
    const error = errorOf(() => parseServerMessage('{"persona":'))
    expect(error).toBeInstanceOf(ProtocolError)
    expect(error).toMatchObject({ name: 'ProtocolError', data: '{"persona":' })
  })

  it.each([
    ['bytes', new Uint8Array([123, 125])],
    ['a buffer', new ArrayBuffer(2)],
    ['an object that was parsed already', { persona: 'agent', role: 'x' }],
    ['a frame as bytes', Buffer.from('{"persona":"agent","role":"x"}')],
    ['nothing', undefined],
  ])('refuses %s and hands it back untouched', (_, data) => {
    const error = errorOf(() => parseServerMessage(data))
    expect(error).toBeInstanceOf(ProtocolError)
    expect((error as ProtocolError).data).toBe(data)
  })

  it('leaves the prototype of objects alone', () => {
    const frame = parseServerMessage(
      '{"persona":"agent","role":"x","__proto__":{"polluted":1},"messageData":{"__proto__":{"polluted":1}}}',
    )
    expect(Object.assign({}, frame, frame.messageData)).not.toHaveProperty('polluted')
  })

  it('leaves out a time that no Date can hold', () => {
    const timeOf = (timestamp: string) =>
      parseServerMessage(`{"persona":"agent","role":"x","timestamp":${timestamp}}`).timestamp
    for (const time of ['8640000000000000', '-8640000000000000']) expect(timeOf(time)).toBe(Number(time))
    for (const time of ['8640000000000001', '-1e18', '1e999']) expect(timeOf(time)).toBeUndefined()
  })

  it('reads nesting of any depth', () => {
    const deep = '['.repeat(5_000) + ']'.repeat(5_000)
    expect(
      parseServerMessage(`{"persona":"agent","role":"x","deep":${deep},"messageData":{"sources":${deep}}}`),
    ).toMatchObject({ role: 'x' })
  })
})

describe('a refusal', () => {
  it.each([
    ['binary', new Uint8Array([123, 125])],
    ['not JSON', '{"persona":'],
    ['not a JSON object', '["agent"]'],
    ['no persona', '{"role":"human"}'],
    ['no persona', '{"persona":"","role":"human"}'],
    ['no role', '{"persona":"customer"}'],
    ['no role', '{"persona":"customer","role":7}'],
  ])('says that there is "%s" in either direction: %j', (reason, data) => {
    for (const parse of [parseServerMessage, parseClientMessage])
      expect(errorOf(() => parse(data))).toMatchObject({
        name: 'ProtocolError',
        message: expect.stringContaining(reason),
      })
  })

  it.each([
    ['a content that is not text', '{"persona":"customer","role":"human","content":5}'],
    ['a messageData that is not an object', '{"persona":"customer","role":"human","messageData":[]}'],
  ])('of what a client sent says that the frame has %s', (reason, data) => {
    expect(errorOf(() => parseClientMessage(data))).toMatchObject({ message: expect.stringContaining(reason), data })
  })
})

describe('parseClientMessage', () => {
  it.each([
    ['a content that is not a string', '{"persona":"customer","role":"human","content":5}'],
    ['a content that is null', '{"persona":"customer","role":"human","content":null}'],
    ['a messageData that is a list', '{"persona":"customer","role":"human","messageData":[]}'],
    ['a messageData that is null', '{"persona":"customer","role":"human","messageData":null}'],
  ])('refuses %s, as the schema does', (_, text) => {
    expect(() => parseClientMessage(text)).toThrow(ProtocolError)
    expect(v.is(ClientMessageSchema, JSON.parse(text))).toBe(false)
  })
})

describe('encodeMessage', () => {
  it('leaves out what is undefined', () => {
    const message = { persona: 'customer', role: 'human', content: 'hi', note: undefined }
    expect(encodeMessage(message)).toBe('{"persona":"customer","role":"human","content":"hi"}')
  })

  it('refuses circular references, big integers and nesting without end with a ProtocolError', () => {
    const circle: Record<string, unknown> = {}
    circle.self = circle
    let deep: unknown = 0
    for (let depth = 0; depth < 200_000; depth++) deep = [deep]
    for (const messageData of [circle, { big: 1n }, { deep }]) {
      const message = { persona: 'customer', role: 'human', messageData }
      const error = errorOf(() => encodeMessage(message))
      expect(error).toBeInstanceOf(ProtocolError)
      expect(error).toMatchObject({ message: expect.stringContaining('cannot be written'), cause: expect.any(Error) })
      expect((error as ProtocolError).data).toBe(message)
    }
  })

  it('refuses a message whose toJSON says nothing', () => {
    const message = { persona: 'customer', role: 'human', toJSON: () => undefined }
    const error = errorOf(() => encodeMessage(message))
    expect(error).toBeInstanceOf(ProtocolError)
    expect(error).toMatchObject({ message: expect.stringContaining('cannot be written'), data: message })
  })
})

function errorOf(run: () => unknown): unknown {
  try {
    run()
  } catch (error) {
    return error
  }
  return expect.fail('nothing was thrown')
}
